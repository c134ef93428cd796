"""Incremental kernel PCA: cost for growing streams, and distance from batch kernel PCA."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from mercer import IncrementalKernelPCA, KernelPCA
from mercer.metrics import subspace_distance

R, GAMMA = 20, 1 / (2 * 2000.0**2)


def threes(n: int) -> np.ndarray:
    return np.asarray(load("mnist3", n).X[:n].reshape(-1, 784), np.float64)


def incremental(X: np.ndarray, compression: str) -> Any:
    options: dict[str, Any] = {"rank": R, "points_per_component": 10, "batch_size": 30}
    return lambda: IncrementalKernelPCA(6, kernel="rbf", gamma=GAMMA, compression=compression, **options).fit(X)


def distance(X: np.ndarray, model: Any) -> float:
    if isinstance(model, Peer):
        return float("nan")  # it is batch kernel PCA itself
    return float(subspace_distance(model, KernelPCA(6, kernel="rbf", gamma=GAMMA).fit(X)))


OBJECTIVE = Objective(
    name="incremental",
    question="what does incremental kernel PCA cost as n grows (MNIST 3, sigma=2000, r=20, p=10, i=30)?",
    bar="1000 images in 2 s (preimage), 0.5 s (subset), distance at most 0.5 (subset); growth: see incremental_rows",
    datasets={str(n): partial(threes, n) for n in (500, 1000, 2000, 4000, 6131)},
    solvers=[
        Solver("scikit-learn KernelPCA", lambda X: lambda: Peer(20, kernel="rbf", gamma=GAMMA).fit(X), peer=True),
        Solver("mercer KernelPCA", lambda X: lambda: KernelPCA(20, kernel="rbf", gamma=GAMMA).fit(X)),
        Solver("mercer incremental, subset", lambda X: incremental(X, "subset")),
        Solver("mercer incremental, preimage", lambda X: incremental(X, "preimage"), rounds=1),
    ],
    quality=distance,
    quality_name="distance (36) of 6",
    growth=True,
    rounds=2,
)
