"""Exact kernel PCA: time and memory for growing numbers of rows, each solver in a process of its own."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import surface
from mercer import KernelPCA


def settings(X: np.ndarray) -> dict[str, Any]:
    return {
        "n_components": 16 if len(X) < 10_000 else 10,
        "kernel": "rbf",
        "gamma": 0.5 / X.shape[1] if len(X) < 10_000 else 0.02,
    }


def prepared(cls: Any, X: np.ndarray, **more: Any) -> Any:
    cls(**settings(X), **more).fit(X[:1000])  # compiles; its memory is not counted
    return lambda: cls(**settings(X), **more).fit(X)


OBJECTIVE = Objective(
    name="exact_memory",
    question="how much memory does exact kernel PCA take, and does it finish within 12 GB?",
    bar="growth at most 0.65 and 0.45 (mixed) of scikit-learn's on usps; 20000 rows at least 8 and 14 times faster",
    datasets={
        "usps 7291": lambda: load("usps").X,
        "20000 x 50": partial(surface, 20_000),
        "50000 x 50": partial(surface, 50_000),
    },
    solvers=[
        Solver("scikit-learn arpack", lambda X: prepared(Peer, X, eigen_solver="arpack", random_state=0), peer=True),
        Solver("mercer float64", lambda X: prepared(KernelPCA, X, precision="float64")),
        Solver("mercer mixed", lambda X: prepared(KernelPCA, X, precision="mixed")),
    ],
    rounds=3,
    isolated=True,
)
