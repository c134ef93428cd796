"""Algorithm 1 against the other L1-norm methods: all components."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.suite.plan import Objective, Solver
from mercer import L1KernelPCA, R1KernelPCA, datasets


def rows(name: str) -> np.ndarray:
    return np.asarray(StandardScaler().fit_transform(datasets.load(name).X.astype(np.float64)))


def fit(cls: Any, X: np.ndarray, **more: Any) -> Any:
    d = X.shape[1]
    return lambda: cls(n_components=d, kernel="rbf", gamma=1 / (2 * d * d), **more).fit(X)


OBJECTIVE = Objective(
    name="l1_rivals",
    question="how much longer do the other robust methods take for all components, Gaussian, sigma = d?",
    bar="the rivals take 5 to 1000 times as long",
    datasets={name: partial(rows, name) for name in ("ionosphere", "cardio")},
    solvers=[
        Solver("projection trick (KPCA-L1)", lambda X: fit(L1KernelPCA, X, algorithm="projection_trick"), peer=True),
        Solver("linear system (L1-KPCA)", lambda X: fit(L1KernelPCA, X, algorithm="linear_system"), peer=True),
        Solver("R1-KPCA", lambda X: fit(R1KernelPCA, X), peer=True),
        Solver("mercer L1, Algorithm 1", lambda X: fit(L1KernelPCA, X)),
    ],
)
