"""The very first use of every estimator, where nothing is compiled yet, beside the same in a second process."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.suite import first_use
from benchmarks.suite.measure import ROOT
from benchmarks.suite.plan import Objective, SelfTimed, Solver

_TURNS = 2  # the least time of each process counts: others may use the machine


class Seconds(NamedTuple):
    """Of the clock, and of the processor."""

    clock: float
    processor: float


def process(name: str, cache: str) -> Seconds:
    """Use an estimator in a process that keeps compiled functions in a folder."""
    command = [sys.executable, "-m", "benchmarks.suite.first_use", name]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return Seconds(*map(float, done.stdout.split()[-2:]))


def first_and_second(name: str) -> tuple[Seconds, Seconds, int]:
    """Use an estimator with an empty folder, then again; also return the number of functions that are in it."""
    with tempfile.TemporaryDirectory() as cache:
        return process(name, cache), process(name, cache), len(list(Path(cache).rglob("*.nbc")))


def both(name: str) -> Callable[[Any], Callable[[], SelfTimed]]:
    def call() -> SelfTimed:
        found = [first_and_second(name) for _ in range(_TURNS)]
        first, second = min(one[0] for one in found), min(one[1] for one in found)
        return SelfTimed(first.clock, (first, second, found[0][2]))

    return lambda data: call


def costs(data: Any, found: tuple[Seconds, Seconds, int]) -> dict[str, float]:
    first, second, kept = found
    return {
        "second process": second.clock,
        "extra": first.clock - second.clock,
        "extra of the processor": first.processor - second.processor,
        "compiled functions": kept,
    }


OBJECTIVE = Objective(
    name="first_use",
    question="how many seconds does the first use of an estimator take longer than in a second process?",
    bar="at most 2 s extra for KernelPCA and KernelOutlierDetector",
    datasets={"digits 1797 x 64": lambda: None},
    solvers=[Solver(name, both(name), peer=name == first_use.PEER) for name in first_use.NAMES],
    quality=costs,
    rounds=0,
    default=False,
)
