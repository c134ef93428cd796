"""Projection of many new rows."""

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA

SETTINGS: dict[str, Any] = {
    "n_components": 16,
    "kernel": "rbf",
    "gamma": 0.01,
    "eigen_solver": "arpack",
    "random_state": 0,
}


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((4000, 50)), rng.standard_normal((40_000, 50))


def fitted(cls: Any, data: tuple[np.ndarray, np.ndarray]) -> Any:
    model = cls(**SETTINGS).fit(data[0])
    model.transform(data[1][:10])
    return lambda: model.transform(data[1])


OBJECTIVE = Objective(
    name="transform",
    question="what does the projection of 40,000 rows on 4,000 training points cost?",
    bar="memory below 400 MB above input and output",
    datasets={"40000 x 4000": rows},
    solvers=[
        Solver("scikit-learn KernelPCA", lambda data: fitted(Peer, data), peer=True),
        Solver("mercer KernelPCA", lambda data: fitted(KernelPCA, data)),
    ],
    isolated=True,
)
