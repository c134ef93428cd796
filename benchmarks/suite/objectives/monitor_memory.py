"""Memory of `ProcessMonitor` over a million rows, one chunk at a time, each monitor in a process of its own."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.suite.monitors import pca_statistics
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import vector_autoregression
from mercer import KernelPCA, ProcessMonitor

ROWS, CHUNK, TRAIN, WINDOW = 1_000_000, 10_000, 1000, 10_000
COMPONENTS = 6


def rows() -> np.ndarray:
    return vector_autoregression(TRAIN + CHUNK, 4)


def holed(chunk: np.ndarray) -> np.ndarray:
    """Return the rows, of which a few in a row have a missing value."""
    found = chunk.copy()
    found[500:520, 3] = np.nan
    return found


def judged(parameters: dict[str, Any], X: np.ndarray) -> Any:
    monitor = ProcessMonitor(KernelPCA(COMPONENTS), **parameters).fit(X[:TRAIN])
    chunk = holed(X[TRAIN:])
    monitor.judge(chunk)  # one chunk before: caches are full then
    monitor.judge(chunk)

    def call() -> float:
        alarms = sum(int((monitor.judge(chunk).p <= monitor.alpha_).sum()) for _ in range(ROWS // CHUNK))
        return alarms / ROWS

    return call


def linear(X: np.ndarray) -> Any:
    statistics = pca_statistics(X[:TRAIN])
    statistics(X[TRAIN:])

    def call() -> float:
        return float(np.mean([statistics(X[TRAIN:])[:, 0].mean() for _ in range(ROWS // CHUNK)]))

    return call


OBJECTIVE = Objective(
    name="monitor_memory",
    question="by how much does memory grow while a million rows of 10 variables are judged (seconds: for one row)?",
    bar="flat: at most 20 MB, what a chunk of rows and one refresh of the model take for a while",
    datasets={"VAR, some values missing": rows},
    solvers=[
        Solver("scikit-learn PCA, T2 and SPE only, no value missing", linear, peer=True, steps=ROWS),
        Solver("mercer ProcessMonitor", partial(judged, {}), steps=ROWS),
        Solver("mercer ProcessMonitor, adapt=10,000 rows", partial(judged, {"adapt": WINDOW}), steps=ROWS),
    ],
    rounds=0,
    isolated=True,
    default=False,
)
