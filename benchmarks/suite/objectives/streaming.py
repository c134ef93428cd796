"""Kernel PCA of a table too long for exact kernel PCA: fit and transform at equal reconstruction."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline, make_pipeline

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import angled
from mercer import LandmarkKernelPCA
from mercer.kernels.resolve import resolve_gamma

M, R = 300, 5


def gamma(X: np.ndarray) -> float:
    return float(resolve_gamma("median", X[:5000].astype(np.float64)))


def job(make: Any, X: np.ndarray) -> Any:
    def call() -> Any:
        model = make().fit(X)
        model.transform(X)
        return model

    return call


def nystroem(X: np.ndarray) -> Any:
    g = gamma(X)
    return job(lambda: make_pipeline(Nystroem(gamma=g, n_components=M, random_state=0), PCA(R)), X)


def landmarks(X: np.ndarray, selection: str) -> Any:
    g = gamma(X)
    return job(lambda: LandmarkKernelPCA(R, gamma=g, landmarks=M, selection=selection, random_state=0), X)


def peer_error(pipeline: Pipeline, X: np.ndarray) -> float:
    """Return the mean squared distance, in feature space, of rows from the pipeline's subspace."""
    features = pipeline[0].transform(X).astype(np.float64)
    centred = features - pipeline[1].mean_
    scores = centred @ pipeline[1].components_.T
    inside = np.einsum("ij,ij->i", features, features)
    return float(
        np.mean(1.0 - inside + np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", scores, scores))
    )


def reconstruction(_: np.ndarray, model: Any) -> float:
    test = angled(5000, 2)
    if isinstance(model, LandmarkKernelPCA):
        return float(model.reconstruction_error(test).mean())
    return peer_error(model, test)


OBJECTIVE = Objective(
    name="streaming",
    question="how long do fit and transform of 100,000 x 50 rows on 300 landmarks take?",
    bar="uniform landmarks: at least 1.5 (float64) and 2.3 times (float32), with equal or better reconstruction",
    datasets={name: partial(angled, 100_000, 1, np.dtype(name)) for name in ("float64", "float32")},
    solvers=[
        Solver("scikit-learn Nystroem + PCA", nystroem, peer=True),
        Solver("mercer LandmarkKernelPCA uniform", lambda X: landmarks(X, "uniform")),
        Solver("mercer LandmarkKernelPCA kmeans", lambda X: landmarks(X, "kmeans")),
    ],
    quality=reconstruction,
    quality_name="reconstruction error",
    rounds=5,
)
