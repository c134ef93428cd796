"""False alarms under slow drift, and whether an abrupt fault is still found: with and without adaption."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.monitors import pca_t2_spe, rate_and_detection
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import PROCESSES
from mercer import ProcessMonitor

SEEDS = range(6000, 6004)  # not used to choose any rule
TRAIN, CONTINUED, FAULT = 500, 4000, 200
ALPHA, SIZE = 0.01, 6.0  # of the fault, in standard deviations of one variable
SPEEDS = {"no drift": 0.0, "one deviation per 2000 rows": 1 / 2000, "one deviation per 1000 rows": 1 / 1000}

Alarms = Callable[[np.ndarray], np.ndarray]


def drifting(name: str, speed: float) -> list[np.ndarray]:
    """Return one table per seed: all variables drift, each at its own pace; at the end one variable jumps."""
    found = []
    for seed in SEEDS:
        X = PROCESSES[name](TRAIN + CONTINUED + FAULT, seed)
        spread = X[:TRAIN].std(axis=0)
        way = np.random.default_rng(seed).standard_normal(X.shape[1]) * spread
        X = X + speed * np.maximum(np.arange(len(X)) - TRAIN, 0)[:, None] * way
        variable = seed % X.shape[1]
        X[-FAULT:, variable] += SIZE * spread[variable]
        found.append(X)
    return found


def monitored(parameters: dict[str, Any], X: np.ndarray) -> Alarms:
    return lambda new: ProcessMonitor(alpha=ALPHA, **parameters).fit(X).judge(new).alarm


def linear(X: np.ndarray) -> Alarms:
    return lambda new: pca_t2_spe(X)(new) <= ALPHA


def alarms(fit: Callable[[np.ndarray], Alarms], tables: list[np.ndarray]) -> Any:
    return lambda: np.array([fit(X[:TRAIN])(X[TRAIN:]) for X in tables])


OBJECTIVE = Objective(
    name="monitor_drift",
    question="how often do normal rows raise an alarm while the process drifts, and is a jump at the end found?",
    bar="rate / alpha from .2 to 2 with adaption, and the fault found as often as without drift",
    datasets={
        f"{name}, {text}": partial(drifting, name, speed)
        for name in ("VAR", "stirred tank", "plant")
        for text, speed in SPEEDS.items()
    },
    solvers=[
        Solver("linear PCA, T2 and SPE", partial(alarms, linear), peer=True),
        Solver("mercer ProcessMonitor", partial(alarms, partial(monitored, {}))),
        Solver("mercer ProcessMonitor, adapt=True", partial(alarms, partial(monitored, {"adapt": True}))),
    ],
    quality=partial(rate_and_detection, ALPHA, FAULT),
    rounds=0,
    default=False,
)
