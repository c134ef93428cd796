"""The `mercer` command."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it without a message, also while modules are imported."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> None:
    """Run the command line, or say what to install where its dependencies are missing."""
    try:
        from mercer.cli.root import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write(f"The command line needs {error.name}. Install it with: pip install 'mercer[cli]'\n")
        sys.exit(2)
    app(prog_name="mercer")
