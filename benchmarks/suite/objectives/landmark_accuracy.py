"""Streams on few landmarks: how near to batch kernel PCA, by choice of the landmarks [chin2007, V-A1]."""

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import parabola
from mercer import KernelPCA, LandmarkKernelPCA
from mercer.metrics import subspace_distance

GAUSS: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5}


def stream(m: int, selection: str) -> Any:
    def learned(X: np.ndarray, seed: int) -> LandmarkKernelPCA:
        model = LandmarkKernelPCA(3, gamma=0.5, landmarks=m, selection=selection, random_state=seed)
        for first in range(0, len(X), 30):
            model.partial_fit(X[first : first + 30])
        return model

    return lambda draws: lambda: [learned(X, seed) for seed, X in enumerate(draws)]


def distances(draws: list[np.ndarray], models: list[Any]) -> dict[str, float]:
    if isinstance(models[0], Peer):
        return {}  # it is batch kernel PCA itself
    found = [subspace_distance(model, KernelPCA(3, **GAUSS).fit(X)) for model, X in zip(models, draws, strict=True)]
    return {"mean distance (36)": float(np.mean(found)), "largest": float(np.max(found))}


OBJECTIVE = Objective(
    name="landmark_accuracy",
    question="how near to batch kernel PCA does a stream on few landmarks come, by choice of the landmarks?",
    datasets={"10 parabolas": lambda: [parabola(seed) for seed in range(10)]},
    solvers=[
        Solver("scikit-learn KernelPCA", lambda draws: lambda: [Peer(3, **GAUSS).fit(X) for X in draws], peer=True),
        *(
            Solver(f"mercer, {m} landmarks, {selection}", stream(m, selection))
            for m in (20, 70)
            for selection in ("auto", "uniform", "rpcholesky", "ald")
        ),
    ],
    quality=distances,
    rounds=0,
)
