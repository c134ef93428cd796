"""Average run lengths: rows from the start of a lasting shift to its alarm, at the same run length without one."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.monitors import linear_pca_chart, mewma, shewhart, surprise
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import PROCESSES
from mercer import ProcessMonitor

SEEDS = range(7000, 7008)  # not used to choose any rule
TRAIN, NORMAL, EACH, STARTS = 500, 20_000, 300, 12
ARL0 = 200.0
SIZES = (0.5, 1.0, 2.0, 3.0)  # standard deviations of one variable
Scorer = Callable[[np.ndarray], np.ndarray]


def cases(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = [PROCESSES[name](TRAIN + NORMAL, seed) for seed in SEEDS]
    return [(one[:TRAIN], one[TRAIN:]) for one in rows]


def run_length(above: np.ndarray) -> float:
    """Return the mean number of rows from a row without an alarm to the next beginning of one."""
    beginnings = np.flatnonzero(above[1:] & ~above[:-1]) + 1
    return len(above) / max(len(beginnings), 1)


def limit_for(scores: np.ndarray) -> float:
    """Return the limit at which alarms begin every `ARL0` rows, in the mean."""
    levels = np.quantile(scores, 1.0 - np.logspace(-4, -1, 60))
    lengths = np.array([run_length(scores > level) for level in levels])
    return float(levels[np.flatnonzero(lengths >= ARL0)[-1]])


def delays(fit: Callable[[np.ndarray], Scorer], given: list[tuple[np.ndarray, np.ndarray]]) -> Any:
    def of_one(train: np.ndarray, normal: np.ndarray) -> np.ndarray:
        score = fit(train)
        limit = limit_for(score(normal))
        found = np.empty((len(SIZES), STARTS))
        for j, start in enumerate(np.linspace(0, NORMAL - EACH - 100, STARTS).astype(int)):
            for i, size in enumerate(SIZES):
                rows = normal[start : start + EACH + 100].copy()
                rows[100:, j % rows.shape[1]] += size * train.std(axis=0)[j % rows.shape[1]]
                above = np.flatnonzero(score(rows)[100:] > limit)
                found[i, j] = above[0] + 1 if len(above) else EACH
        return found.mean(axis=1)

    return lambda: np.mean([of_one(*one) for one in given], axis=0)


def by_size(_: Any, found: np.ndarray) -> dict[str, float]:
    return {f"shift of {size:g}": float(value) for size, value in zip(SIZES, found, strict=True)}


def ours(train: np.ndarray) -> Scorer:
    model = ProcessMonitor().fit(train)
    return lambda rows: surprise(model.p_values(rows))


OBJECTIVE = Objective(
    name="monitor_arl",
    question="after how many rows is a shift of one variable found, if false alarms begin every 200 rows?",
    bar="fewer rows than the peers for small shifts",
    datasets={name: partial(cases, name) for name in ("VAR", "stirred tank", "plant")},
    solvers=[
        Solver("Shewhart", partial(delays, shewhart), peer=True),
        Solver("MEWMA (.1)", partial(delays, mewma), peer=True),
        Solver("linear PCA, T2 and SPE", partial(delays, linear_pca_chart), peer=True),
        Solver("mercer ProcessMonitor", partial(delays, ours)),
    ],
    quality=by_size,
    rounds=0,
    default=False,
)
