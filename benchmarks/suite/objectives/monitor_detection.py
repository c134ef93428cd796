"""How many rows of a fault are found at the same observed rate of false alarms: the monitor beside linear PCA."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.monitors import linear_pca_chart, surprise
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import FAULTS, PROCESSES
from mercer import ProcessMonitor

SEEDS = range(6000, 6010)  # not used to choose any rule
TRAIN, NORMAL, FAULTY = 500, 3000, 400
RATE = 0.01
Scorer = Callable[[np.ndarray], np.ndarray]


def cases(name: str) -> list[tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]]:
    found = []
    for seed in SEEDS:
        rows = PROCESSES[name](TRAIN + NORMAL, seed)
        start = TRAIN + NORMAL // 2
        faults = {fault: PROCESSES[name](start + FAULTY, seed, fault, start)[start - 200 :] for fault in FAULTS[name]}
        found.append((rows[:TRAIN], rows[TRAIN:], faults))
    return found


def detection(fit: Callable[[np.ndarray], Scorer], given: list[Any]) -> Any:
    def shares(train: np.ndarray, normal: np.ndarray, faults: dict[str, np.ndarray]) -> list[float]:
        score = fit(train)
        limit = np.quantile(score(normal)[100:], 1.0 - RATE)
        return [float((score(rows)[200:] > limit).mean()) for rows in faults.values()]

    return lambda: 100.0 * np.array([shares(*one) for one in given])


def by_fault(given: list[Any], found: np.ndarray) -> dict[str, float]:
    """Return the mean over the seeds for each fault, and its standard error."""
    values = {}
    for name, shares in zip(given[0][2], found.T, strict=True):
        values[f"{name}, %"] = float(shares.mean())
        values[f"{name}, error"] = float(shares.std(ddof=1) / np.sqrt(len(shares)))
    return values


def ours(**parameters: Any) -> Callable[[np.ndarray], Scorer]:
    def fit(train: np.ndarray) -> Scorer:
        model = ProcessMonitor(**parameters).fit(train)
        return lambda rows: surprise(model.p_values(rows))

    return fit


OBJECTIVE = Objective(
    name="monitor_detection",
    question="how many rows of each fault are found where 1 % of normal rows raise an alarm (500 training rows)?",
    bar="at least as many as linear PCA with the same smoothing, in every fault",
    datasets={name: partial(cases, name) for name in PROCESSES},
    solvers=[
        Solver("linear PCA, T2 and SPE", partial(detection, linear_pca_chart), peer=True),
        Solver(
            "linear PCA, T2 and SPE, smoothed (.2)",
            partial(detection, partial(linear_pca_chart, weight=0.2)),
            peer=True,
        ),
        Solver("mercer ProcessMonitor, smoothing=1", partial(detection, ours(smoothing=1.0))),
        Solver("mercer ProcessMonitor, smoothing=.2", partial(detection, ours(smoothing=0.2))),
        Solver("mercer ProcessMonitor", partial(detection, ours())),
    ],
    quality=by_fault,
    rounds=0,
    default=False,
)
