"""Alarms on a real water circuit (SKAB): first 400 rows of each run for training, the rest judged."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.data import load
from benchmarks.suite.monitors import OURS, PEERS, Fit, monitor
from benchmarks.suite.plan import Objective, Solver

TRAIN = 400
ALPHA = 0.01


def runs() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    data = load("skab")
    numbers = [data.series == number for number in np.unique(data.series)]
    return [(data.X[own][:TRAIN], data.X[own][TRAIN:], data.y[own][TRAIN:] == 1) for own in numbers]


def alarms(fit: Fit, alpha: float, given: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Any:
    return lambda: np.concatenate([fit(train)(new) <= alpha for train, new, _ in given])


def measures(given: list[tuple[np.ndarray, np.ndarray, np.ndarray]], found: np.ndarray) -> dict[str, float]:
    truth = np.concatenate([labels for *_, labels in given])
    hits, false, missed = (found & truth).sum(), (found & ~truth).sum(), (~found & truth).sum()
    return {
        "F1": float(2 * hits / (2 * hits + false + missed)),
        "false alarms, %": 100.0 * float(false / (~truth).sum()),
        "missed, %": 100.0 * float(missed / truth.sum()),
    }


OBJECTIVE = Objective(
    name="monitor_skab",
    question="how many rows with and without an anomaly raise an alarm at 1 % in 16 runs of a water circuit?",
    bar="F1 >= .78 with at most 26 % false alarms (T2 and Q by PCA on the leaderboard: .76, 26.6 %, missed 24.9 %)",
    datasets={"valve1": runs},
    solvers=[
        *(Solver(name, partial(alarms, fit, ALPHA), peer=True) for name, fit in PEERS.items()),
        *(Solver(name, partial(alarms, fit, ALPHA)) for name, fit in OURS.items()),
        Solver("mercer ProcessMonitor, alpha = .05", partial(alarms, monitor(alpha=0.05), 0.05)),
        Solver("mercer ProcessMonitor, drifting='keep'", partial(alarms, monitor(drifting="keep"), ALPHA)),
    ],
    quality=measures,
    rounds=0,
)
