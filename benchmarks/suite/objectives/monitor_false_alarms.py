"""Whether the rate of false alarms of a process is the one asked for: normal continuations of simulated processes."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.monitors import OURS, PEERS, Fit
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import PROCESSES

SEEDS = range(5000, 5020)  # not used to choose any rule
CONTINUED = 20_000  # a rate of 1 % of rows that depend on each other is not known from a few thousand
LEVELS = (0.01, 0.05)


def runs(name: str, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = [PROCESSES[name](n + CONTINUED, seed) for seed in SEEDS]
    return [(one[:n], one[n:]) for one in rows]


def rates(fit: Fit, given: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    def call() -> np.ndarray:
        p = [fit(train)(new) for train, new in given]
        return np.array([[(one <= level).mean() / level for level in LEVELS] for one in p])

    return call


def against_alpha(_: Any, found: np.ndarray) -> dict[str, float]:
    """Return the mean rate over seeds and the share of seeds above twice alpha, at both levels."""
    values = {}
    for i, level in enumerate(LEVELS):
        values[f"rate / alpha at {level:.0%}"] = float(found[:, i].mean())
        values[f"% of seeds above 2 alpha at {level:.0%}"] = 100.0 * float((found[:, i] > 2.0).mean())
        values[f"% of seeds at most alpha at {level:.0%}"] = 100.0 * float((found[:, i] <= 1.0).mean())
    return values


OBJECTIVE = Objective(
    name="monitor_false_alarms",
    question="how often do normal rows that follow the training rows raise an alarm, in units of alpha (20 seeds)?",
    bar="rate / alpha from .2 to 2, at most 15 % of seeds above 2 alpha, about 90 % at most alpha (first 3 processes)",
    datasets={f"{name}, {n} rows": partial(runs, name, n) for name in PROCESSES for n in (300, 500, 2000)},
    solvers=[
        *(Solver(name, partial(rates, fit), peer=True) for name, fit in PEERS.items() if name.startswith("linear")),
        *(Solver(name, partial(rates, fit)) for name, fit in OURS.items()),
    ],
    skip={
        (f"{name}, {n} rows", "mercer KernelOutlierDetector"): "minutes per data set; 500 rows show its rate"
        for name in PROCESSES
        for n in (300, 2000)
    },
    quality=against_alpha,
    rounds=0,
    default=False,
)
