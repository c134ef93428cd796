"""Denoising a walk, frame by frame [guenter2006, sec. 5.4, figure 4]."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA

import mercer
from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from mercer import HebbianKernelPCA, KernelPCA

RBF: dict[str, Any] = {"kernel": "rbf", "preimage": "auto"}
Walk = tuple[np.ndarray, np.ndarray]


def walk() -> Walk:
    """Return the walk relative to its root, and the same with noise of 0.5 units."""
    data = load("mocap")
    joints = data.X.astype(np.float64).reshape(len(data.X), -1, 3)
    clean = (joints - joints[:, :1]).reshape(len(data.X), -1)
    return clean, clean + 0.5 * np.random.default_rng(0).standard_normal(clean.shape)


def hebbian(gain: str) -> HebbianKernelPCA:
    return HebbianKernelPCA(25, gain=gain, max_iter=50, tol=0, monitor="excess", random_state=0, **RBF)


def by(estimator: Any) -> Any:
    def call(noisy: np.ndarray) -> tuple[Any, np.ndarray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return estimator, mercer.denoise(noisy, estimator)

    return lambda given: lambda: call(given[1])


def reduction(given: Walk, found: tuple[Any, np.ndarray]) -> dict[str, float]:
    """Return by how much the mean squared error falls, and the excess error of the last Hebbian pass."""
    (clean, noisy), (estimator, frames) = given, found
    fallen = 1 - ((frames - clean) ** 2).mean() / ((noisy - clean) ** 2).mean()
    if not isinstance(estimator, HebbianKernelPCA):
        return {"error reduced by, %": 100 * fallen}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        excess = clone(estimator).fit(noisy).history_["excess"][-1]
    return {"error reduced by, %": 100 * fallen, "excess error": excess}


OBJECTIVE = Objective(
    name="motion_denoising",
    question="by how much does the error of a walk with noise of 0.5 units fall?",
    datasets={"CMU walk 358 x 93": walk},
    solvers=[
        Solver("linear PCA, 25 components", by(PCA(25)), peer=True),
        Solver("linear PCA, 5 components", by(PCA(5)), peer=True),
        *(Solver(f"mercer KernelPCA, {r} components", by(KernelPCA(r, **RBF))) for r in (25, 20, 15, 10)),
        Solver("mercer KernelPCA, median width", by(KernelPCA(25, gamma="median", **RBF))),
        Solver("mercer KernelPCA, sigma = sqrt(1.5)", by(KernelPCA(25, gamma=1 / 3, **RBF))),
        *(Solver(f"mercer KHA, gain {gain}, 50 passes", by(hebbian(gain))) for gain in ("t", "et", "smd")),
    ],
    quality=reduction,
    rounds=0,
)
