"""`mercer reproduce`: the experiments of the papers, which are in a checkout beside the package."""

import os
import subprocess
import sys
from pathlib import Path

import typer

_CHECKOUT = Path(__file__).resolve().parents[3]
_INTERRUPTED = 130  # exit code of an interrupted program in shells


def reproduce(context: typer.Context) -> None:
    """Run the papers' experiments again, from a checkout: the same as `python -m papers` there.

    All arguments are passed on; in a checkout, `mercer reproduce --help` shows them.
    """
    if not (_CHECKOUT / "papers" / "__main__.py").is_file():
        raise FileNotFoundError(
            "The papers' experiments are not part of the installed package; they need a checkout of Mercer. "
            "In a checkout, install it with `pip install -e '.[dev]'` and run `python -m papers --quick`."
        )
    known = [str(_CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(known)}
    try:
        done = subprocess.run([sys.executable, "-m", "papers", *context.args], env=environment, check=False)
    except KeyboardInterrupt as error:  # the experiments were interrupted too, and have said how to continue
        raise typer.Exit(_INTERRUPTED) from error
    raise typer.Exit(done.returncode)
