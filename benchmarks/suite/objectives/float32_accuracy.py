"""Eigenvalues from float32 rows, and from float32 tiles of float64 rows, beside those of float64."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA, LandmarkKernelPCA

_COMPONENTS = 5


@dataclass(frozen=True)
class Rows:
    """float32 rows and the width of a Gaussian kernel."""

    X: np.ndarray
    gamma: float


def clusters(distance: float, gamma: float) -> Rows:
    X = np.random.default_rng(0).standard_normal((400, 5))
    X[200:] += distance
    return Rows(X.astype(np.float32), gamma)


def large_column(deviation: float, gamma: float) -> Rows:
    X = np.random.default_rng(0).standard_normal((400, 5))
    X[:, 0] *= deviation
    return Rows(X.astype(np.float32), gamma)


def fitted(cls: Any, dtype: Any, data: Rows, **params: Any) -> Any:
    given = {"n_components": _COMPONENTS, "kernel": "rbf", "gamma": data.gamma, "random_state": 0, **params}
    return cls(**given).fit(data.X.astype(dtype))


def prepared(cls: Any, dtype: Any, **params: Any) -> Any:
    return lambda data: partial(fitted, cls, dtype, data, **params)


def error(data: Rows, model: Any) -> float:
    """Compare with the same model in float64: exact kernel PCA by LAPACK, or the same landmarks."""
    if isinstance(model, LandmarkKernelPCA):
        expected = fitted(LandmarkKernelPCA, np.float64, data, landmarks=model.landmarks)
    else:
        expected = fitted(Peer, np.float64, data, eigen_solver="dense")
    found = np.asarray(model.eigenvalues_, dtype=float)
    return float(np.abs(found - expected.eigenvalues_).max() / expected.eigenvalues_[0])


OBJECTIVE = Objective(
    name="float32_accuracy",
    question="how far are the eigenvalues of float32 and mixed precision from those of float64, of the largest one?",
    bar="at most 1e-6 on all data",
    datasets={
        "clusters at 0 and 1000, gamma 1": lambda: clusters(1000.0, 1.0),
        "clusters at 0 and 100, gamma 1": lambda: clusters(100.0, 1.0),
        "one column with deviation 1e4, gamma 1": lambda: large_column(1e4, 1.0),
        "a wide Gaussian, gamma 1e-5": lambda: clusters(0.0, 1e-5),
    },
    solvers=[
        Solver("scikit-learn KernelPCA, float32", prepared(Peer, np.float32), peer=True),
        Solver("mercer KernelPCA, float32", prepared(KernelPCA, np.float32)),
        Solver("mercer KernelPCA, mixed", prepared(KernelPCA, np.float64, precision="mixed")),
        Solver(
            "mercer LandmarkKernelPCA, 100 landmarks, float32", prepared(LandmarkKernelPCA, np.float32, landmarks=100)
        ),
    ],
    quality=error,
    quality_name="error of eigenvalues",
    rounds=0,
)
