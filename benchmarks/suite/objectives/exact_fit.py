"""Exact kernel PCA: time to a given accuracy."""

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import eigsh
from sklearn.decomposition import KernelPCA as Peer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import KernelCenterer

from benchmarks.suite.data import load
from benchmarks.suite.peers import kernlab, need
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA

SETTINGS: dict[str, Any] = {"n_components": 16, "kernel": "rbf", "gamma": 1 / 128}


def usps(n: int | None = None) -> np.ndarray:
    return np.asarray(load("usps", n).X[:n], np.float64)


def eigenvalue_error(X: np.ndarray, found: Any) -> float:
    """Return the largest relative error of the leading eigenvalues; mlpack and kernlab give them divided by n."""
    values = found if isinstance(found, np.ndarray) else found.eigenvalues_
    K = KernelCenterer().fit_transform(rbf_kernel(X, gamma=SETTINGS["gamma"]))
    exact = np.sort(eigsh(K, 16, tol=0, return_eigenvectors=False))[::-1]
    values = values * (exact[0] / values[0] if isinstance(found, np.ndarray) else 1.0)
    return float(np.max(np.abs(values[:16] / exact - 1)))


def fit(cls: Any, X: np.ndarray, **more: Any) -> Any:
    return lambda: cls(**SETTINGS, **more).fit(X)


def mlpack(X: np.ndarray) -> Any:
    """It has no eigenvalues; the variances of its scores are in proportion to them."""
    kernel_pca = need("mlpack", "mlpack").kernel_pca
    width = np.sqrt(0.5 / SETTINGS["gamma"])

    def call() -> np.ndarray:
        scores = kernel_pca(input_=X, kernel="gaussian", bandwidth=width, new_dimensionality=16, center=False)["output"]
        return np.asarray(scores, np.float64).var(axis=0)

    return call


def kpca_of_r(X: np.ndarray) -> Any:
    return kernlab("eig(kpca(X, kernel='rbfdot', kpar=list(sigma=1/128), features=16))", X)


OBJECTIVE = Objective(
    name="exact_fit",
    question="how long does exact kernel PCA with 16 components take?",
    bar="usps 7291: float64 at least 4, mixed at least 7",
    datasets={"usps 2000": partial(usps, 2000), "usps 7291": usps},
    solvers=[
        Solver("scikit-learn dense", lambda X: fit(Peer, X, eigen_solver="dense"), peer=True, rounds=1),
        Solver("scikit-learn arpack", lambda X: fit(Peer, X, eigen_solver="arpack", random_state=0), peer=True),
        Solver("scikit-learn randomized", lambda X: fit(Peer, X, eigen_solver="randomized", random_state=0), peer=True),
        Solver("mlpack kernel_pca", mlpack, peer=True, rounds=1),
        Solver("kernlab kpca", kpca_of_r, peer=True, rounds=1),
        Solver("mercer float64", lambda X: fit(KernelPCA, X, precision="float64")),
        Solver("mercer mixed", lambda X: fit(KernelPCA, X, precision="mixed")),
    ],
    quality=eigenvalue_error,
    quality_name="eigenvalue error",
    skip={
        ("usps 7291", name): "left out: all eigenvectors of a 7291 x 7291 matrix; see usps 2000"
        for name in ("scikit-learn dense", "mlpack kernel_pca", "kernlab kpca")
    },
)
