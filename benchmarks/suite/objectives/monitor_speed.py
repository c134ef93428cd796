"""Rows per second of `ProcessMonitor.judge`, beside linear PCA by scikit-learn, on one core."""

from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.suite.monitors import pca_statistics
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.processes import plant
from mercer import LandmarkKernelPCA, ProcessMonitor

TRAIN, ROWS = 500, 20_000


def rows() -> np.ndarray:
    return plant(TRAIN + ROWS, 0)


def judged(parameters: dict[str, Any], X: np.ndarray) -> Any:
    monitor = ProcessMonitor(**parameters).fit(X[:TRAIN])
    monitor.judge(X[:100])

    def call() -> Any:
        with threadpool_limits(1):
            return monitor.judge(X[TRAIN:])

    return call


def linear(X: np.ndarray) -> Any:
    statistics = pca_statistics(X[:TRAIN])

    def call() -> Any:
        with threadpool_limits(1):
            return statistics(X[TRAIN:])

    return call


GAUSSIAN = LandmarkKernelPCA(40, gamma=1e-4, landmarks=400, random_state=0)
OBJECTIVE = Objective(
    name="monitor_speed",
    question="how long does one row of 50 variables take to judge, on one core?",
    bar="0.1 ms without lags, 0.5 ms with two",
    datasets={"plant": rows},
    solvers=[
        Solver("scikit-learn PCA, T2 and SPE only", linear, peer=True, steps=ROWS),
        Solver("mercer ProcessMonitor", partial(judged, {}), steps=ROWS),
        Solver("mercer ProcessMonitor, two lags", partial(judged, {"lags": 2}), steps=ROWS),
        Solver("mercer ProcessMonitor, Gaussian kernel", partial(judged, {"estimator": GAUSSIAN}), steps=ROWS),
        Solver(
            "mercer ProcessMonitor, Gaussian kernel, two lags",
            partial(judged, {"estimator": GAUSSIAN, "lags": 2}),
            steps=ROWS,
        ),
    ],
)
