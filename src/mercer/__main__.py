"""`python -m mercer` is the command `mercer`."""

from mercer.cli.app import main

if __name__ == "__main__":
    main()
