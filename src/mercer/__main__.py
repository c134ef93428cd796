"""`python -m mercer` is the command `mercer`."""

from mercer.cli.app import main

main()
