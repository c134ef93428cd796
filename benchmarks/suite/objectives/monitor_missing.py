"""False alarms and detection where some sensors are missing, beside linear PCA on rows filled with means."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.monitors import pca_statistics, rate_and_detection
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import PROCESSES
from mercer import ProcessMonitor

SEEDS = range(6100, 6108)  # not used to choose any rule
TRAIN, CONTINUED, FAULT = 500, 2000, 200
ALPHA, SIZE = 0.05, 4.0  # of the fault, in standard deviations of one variable
SHARES = {"none missing": 0.0, "a tenth of the columns missing": 0.1, "a third of the columns missing": 1 / 3}

P_VALUES = Callable[[np.ndarray], np.ndarray]


def holed(name: str, share: float) -> list[np.ndarray]:
    """Return one table per seed: after training some columns are missing; at the end another one has an error."""
    found = []
    for seed in SEEDS:
        X = PROCESSES[name](TRAIN + CONTINUED + FAULT, seed)
        order = np.random.default_rng(seed).permutation(X.shape[1])
        X[-FAULT:, order[-1]] += SIZE * X[:TRAIN, order[-1]].std()
        X[TRAIN:, order[: int(np.ceil(share * X.shape[1]))]] = np.nan
        found.append(X)
    return found


def monitored(X: np.ndarray) -> P_VALUES:
    return ProcessMonitor(alpha=ALPHA).fit(X).p_values


def linear(X: np.ndarray) -> P_VALUES:
    """Return p-values by ranks of T2 and SPE among the training rows, of rows filled with means: twice the least."""
    statistics, mean = pca_statistics(X), X.mean(axis=0)
    ascending = np.sort(statistics(X), axis=0)

    def p_values(new: np.ndarray) -> np.ndarray:
        found = statistics(np.where(np.isnan(new), mean, new))
        ranks = [1.0 - np.searchsorted(ascending[:, j], found[:, j]) / (len(X) + 1.0) for j in range(2)]
        return np.minimum(1.0, 2.0 * np.min(ranks, axis=0))

    return p_values


def alarms(fit: Callable[[np.ndarray], P_VALUES], tables: list[np.ndarray]) -> Any:
    return lambda: np.array([fit(X[:TRAIN])(X[TRAIN:]) <= ALPHA for X in tables])


OBJECTIVE = Objective(
    name="monitor_missing",
    question="how often do normal rows raise an alarm where columns are missing, and is an error of another one found?",
    bar="rate / alpha from .2 to 2, whatever is missing",
    datasets={
        f"{name}, {text}": partial(holed, name, share)
        for name in ("VAR", "stirred tank", "plant")
        for text, share in SHARES.items()
    },
    solvers=[
        Solver("linear PCA, T2 and SPE, filled with means", partial(alarms, linear), peer=True),
        Solver("mercer ProcessMonitor", partial(alarms, monitored)),
    ],
    quality=partial(rate_and_detection, ALPHA, FAULT),
    rounds=0,
    default=False,
)
