"""Memory of streams: a million rows, one chunk at a time, each model in a process of its own."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import IncrementalPCA

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import angled
from mercer import LandmarkKernelPCA, OnlineRobustKernelPCA

ROWS, CHUNK, R = 1_000_000, 10_000, 5
LANDMARKS: dict[str, Any] = {"gamma": "median", "landmarks": 300, "selection": "uniform", "random_state": 0}


def pool(dtype: str) -> list[np.ndarray]:
    return [angled(CHUNK, seed, np.dtype(dtype)) for seed in range(10)]


def feed(make: Any) -> Any:
    def prepare(chunks: list[np.ndarray]) -> Any:
        model = make()
        model.partial_fit(chunks[0]).transform(chunks[0])  # compiles

        def call() -> Any:
            for i in range(ROWS // CHUNK):
                model.partial_fit(chunks[i % len(chunks)] * (1.0 + 1e-3 * i))
            return model.transform(chunks[0])

        return call

    return prepare


OBJECTIVE = Objective(
    name="stream_memory",
    question="by how much does memory grow while a million rows of 50 features are learned (seconds: for one row)?",
    datasets={dtype: partial(pool, dtype) for dtype in ("float64", "float32")},
    solvers=[
        Solver("scikit-learn IncrementalPCA (linear)", feed(lambda: IncrementalPCA(R)), peer=True, steps=ROWS),
        Solver("mercer LandmarkKernelPCA", feed(lambda: LandmarkKernelPCA(R, **LANDMARKS)), steps=ROWS),
        Solver("mercer OnlineRobustKernelPCA", feed(lambda: OnlineRobustKernelPCA(R, **LANDMARKS)), steps=ROWS),
    ],
    rounds=0,
    isolated=True,
    default=False,
)
