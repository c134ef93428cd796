"""L1-norm kernel PCA against L2: all components."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer
from sklearn.preprocessing import StandardScaler

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from mercer import L1KernelPCA


def rows(name: str, dtype: Any) -> np.ndarray:
    return np.asarray(StandardScaler().fit_transform(load(name).X.astype(np.float64)), dtype)


def fit(cls: Any, X: np.ndarray, **more: Any) -> Any:
    d = X.shape[1]
    return lambda: cls(n_components=d, kernel="rbf", gamma=1 / (2 * d * d), **more).fit(X)


OBJECTIVE = Objective(
    name="l1",
    question="how long does L1-norm kernel PCA take for all components, Gaussian, sigma = d?",
    bar="at most 0.8 (float64) and 0.6 (float32) of the peer's time: 1.25 and 1.67 times or more",
    datasets={
        f"{name} {dtype}": partial(rows, name, dtype)
        for name in ("odds_mnist", "musk")
        for dtype in ("float64", "float32")
    },
    solvers=[
        Solver(
            "scikit-learn L2 arpack", lambda X: fit(Peer, X, eigen_solver="arpack", random_state=0), peer=True, rounds=1
        ),
        Solver(
            "scikit-learn L2 randomized", lambda X: fit(Peer, X, eigen_solver="randomized", random_state=0), peer=True
        ),
        Solver("mercer L1, Algorithm 1", lambda X: fit(L1KernelPCA, X)),
    ],
)
