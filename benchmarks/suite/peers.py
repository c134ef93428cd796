"""Peers: other software, imported if it is installed; otherwise the reason why not."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite.plan import CannotRunError, SelfTimed


def need(module: str, package: str) -> Any:
    """Return a module, or fail and say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise CannotRunError(f"{package} cannot be imported ({error}); `pip install {package}` adds it") from None


def kernlab(expression: str, X: np.ndarray) -> Callable[[], SelfTimed]:
    """Return a call that evaluates an R expression of the rows `X`, with kernlab loaded, as a vector of numbers."""
    if shutil.which("Rscript") is None:
        raise CannotRunError("R is not installed; Debian: apt install r-base-core r-cran-kernlab")
    script = (
        'suppressMessages(library(kernlab)); X <- unname(as.matrix(read.csv("X.csv", header = FALSE))); '
        f"spent <- system.time(value <- {expression})[['elapsed']]; cat(spent, format(value, digits = 17))"
    )

    def call() -> SelfTimed:
        with tempfile.TemporaryDirectory() as folder:
            np.savetxt(Path(folder) / "X.csv", X, delimiter=",")
            command = ["Rscript", "-e", script]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotRunError(f"R: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        numbers = [float(word) for word in done.stdout.split()]
        return SelfTimed(numbers[0], np.array(numbers[1:]))

    return call
