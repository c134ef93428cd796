"""How fast streams are learned, one chunk at a time."""

from typing import Any

import numpy as np
from sklearn.decomposition import IncrementalPCA

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import angled
from mercer import HebbianKernelPCA, HebbianPCA, IncrementalKernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA

R, CHUNK = 5, 5000
LANDMARKS: dict[str, Any] = {"gamma": 0.005, "landmarks": 300, "selection": "uniform", "random_state": 0}


def feed(make: Any, rows: int = 100_000) -> Any:
    def prepare(X: np.ndarray) -> Any:
        def call() -> Any:
            model = make()
            for first in range(0, rows, CHUNK):
                model.partial_fit(X[first : first + CHUNK])
            return model

        return call

    return prepare


def robust(update: str) -> Any:
    return feed(lambda: OnlineRobustKernelPCA(R, update=update, **LANDMARKS))


OBJECTIVE = Objective(
    name="stream_rate",
    question="how long does partial_fit take for one row (d=50, m=300 landmarks, chunks of 5000)?",
    bar="LandmarkKernelPCA 1e-5 s (100,000 rows per second), OnlineRobustKernelPCA 5e-5 s on one core; peer: linear",
    datasets={"100000 x 50": lambda: angled(100_000, 3)},
    solvers=[
        Solver("scikit-learn IncrementalPCA (linear)", feed(lambda: IncrementalPCA(R)), peer=True, steps=100_000),
        Solver("mercer HebbianPCA (linear)", feed(lambda: HebbianPCA(R)), steps=100_000),
        Solver("mercer LandmarkKernelPCA", feed(lambda: LandmarkKernelPCA(R, **LANDMARKS)), steps=100_000),
        Solver("mercer HebbianKernelPCA", feed(lambda: HebbianKernelPCA(R, **LANDMARKS)), steps=100_000),
        Solver("mercer OnlineRobustKernelPCA", feed(lambda: OnlineRobustKernelPCA(R, **LANDMARKS)), steps=100_000),
        Solver("mercer OnlineRobustKernelPCA, ccipca", robust("ccipca"), steps=100_000),
        Solver("mercer OnlineRobustKernelPCA, hebbian", robust("hebbian"), steps=100_000),
        Solver(
            "mercer IncrementalKernelPCA subset",
            feed(lambda: IncrementalKernelPCA(R, gamma=0.005, compression="subset"), 10_000),
            steps=10_000,
        ),
    ],
)
