"""`mercer reproduce`: the experiments of the papers, which live in a checkout beside the package."""

import os
import subprocess
import sys
from pathlib import Path

import typer

_CHECKOUT = Path(__file__).resolve().parents[3]
_INTERRUPTED = 130  # as shells have it


def reproduce(context: typer.Context) -> None:
    """Run the papers' experiments again, from a checkout: the same as `python -m papers` there.

    All arguments are handed on; `mercer reproduce --help` shows them where there is a checkout.
    """
    if not (_CHECKOUT / "papers" / "__main__.py").is_file():
        raise FileNotFoundError(
            "The papers' experiments are not part of the installed package; they need a checkout of Mercer. "
            "In a checkout, install it by `pip install -e '.[dev]'` and run `python -m papers --quick`."
        )
    known = [str(_CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(known)}
    try:
        done = subprocess.run([sys.executable, "-m", "papers", *context.args], env=environment, check=False)
    except KeyboardInterrupt as error:  # the experiments have been interrupted too, and have said how to go on
        raise typer.Exit(_INTERRUPTED) from error
    raise typer.Exit(done.returncode)
