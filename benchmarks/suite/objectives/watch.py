"""How many rows `mercer watch` judges with pages open, and how long a row takes to the page."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.plan import Objective, SelfTimed, Solver, as_found
from benchmarks.suite.watching import LEARN, latency, on_one_core, plant_rows, through
from mercer import ProcessMonitor

ROWS, BATCH, RATE, SECONDS = 20_000, 1000, 100.0, 40


def alone(X: np.ndarray) -> Any:
    on_one_core()
    model = ProcessMonitor(alpha=0.01).fit(plant_rows(LEARN, seed=0))
    model.judge(X[:BATCH])

    def call() -> dict[str, float]:
        for first in range(0, len(X), BATCH):
            model.judge(X[first : first + BATCH])
        return {}

    return call


def with_pages(count: int, X: np.ndarray) -> Any:
    on_one_core()
    through(X[:2000], count)  # compiles and reads what is needed

    def call() -> SelfTimed:
        return SelfTimed(*through(X, count))

    return call


def to_the_page(X: np.ndarray) -> Any:
    on_one_core()

    def call() -> SelfTimed:
        found = latency(X[: int(RATE * SECONDS)], RATE)
        return SelfTimed(found["median ms"] / 1000.0, found)

    return call


OBJECTIVE = Objective(
    name="watch",
    question="how long does mercer watch take for a row of 50 variables on one core, and how late is it on the page?",
    bar="2,000 rows per second with the page open; at 100 rows per second median 200 ms and p99 1 s; 50 pages",
    datasets={"50 variables": partial(plant_rows, ROWS, 1)},
    solvers=[
        Solver("judging alone", alone, peer=True, steps=ROWS),
        Solver("mercer watch, file, state on disk, 1 page", partial(with_pages, 1), steps=ROWS),
        Solver("mercer watch, file, state on disk, 50 pages", partial(with_pages, 50), steps=ROWS),
        Solver("mercer watch, 100 rows per second: from the file to the page", to_the_page),
    ],
    quality=as_found,
    rounds=1,
    isolated=True,
)
