"""Incremental models of eight parts, merged two by two, against one model of the whole."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import parabola
from mercer import IncrementalKernelPCA, KernelPCA
from mercer.metrics import subspace_distance

GAUSS: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5}
POLY: dict[str, Any] = {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2}
WIDE: dict[str, Any] = {"kernel": "rbf", "gamma": 1 / (2 * 2000.0**2)}


class Case(NamedTuple):
    draws: list[np.ndarray]
    kernel: dict[str, Any]
    shown: int
    rank: int


def plane(kernel: dict[str, Any]) -> Case:
    return Case([parabola(seed, 2000) for seed in range(10)], kernel, 3, 6)


def threes() -> Case:
    digits = load("mnist3", 2000).X.reshape(-1, 784).astype(np.float64)
    return Case([np.random.default_rng(seed).permutation(digits)[:2000] for seed in range(3)], WIDE, 6, 20)


def tree(parts: list[IncrementalKernelPCA]) -> IncrementalKernelPCA:
    """Merge models two by two, and the results again."""
    while len(parts) > 1:
        parts = [a.merge(b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def learned(case: Case, X: np.ndarray, method: str | None, parts: int) -> IncrementalKernelPCA:
    given: dict[str, Any] = {"rank": case.rank, "compression": method, **case.kernel}
    return tree([IncrementalKernelPCA(case.shown, **given).fit(part) for part in np.split(X, parts)])


def by(method: str | None, parts: int) -> Any:
    return lambda case: lambda: [learned(case, X, method, parts) for X in case.draws]


def batch(case: Case) -> Any:
    return lambda: [Peer(case.shown, **case.kernel).fit(X) for X in case.draws]


def distance(case: Case, models: list[Any]) -> float:
    """Return the mean distance (36) to batch kernel PCA."""
    if isinstance(models[0], Peer):
        return float("nan")  # it is batch kernel PCA itself
    whole = [KernelPCA(case.shown, **case.kernel).fit(X) for X in case.draws]
    return float(np.mean([subspace_distance(model, exact) for model, exact in zip(models, whole, strict=True)]))


OBJECTIVE = Objective(
    name="incremental_merge",
    question="how far are eight merged incremental models from batch kernel PCA, and one of all rows?",
    bar="the distance of merged models at most 1.2 times that of a single one",
    datasets={
        "2-D, Gaussian": partial(plane, GAUSS),
        "2-D, polynomial": partial(plane, POLY),
        "MNIST 3, Gaussian": threes,
    },
    solvers=[
        Solver("scikit-learn KernelPCA", batch, peer=True),
        *(
            Solver(f"mercer, {label}, {'one model' if parts == 1 else '8 merged'}", by(method, parts))
            for label, method in (("no compression", None), ("subset", "subset"), ("preimage", "preimage"))
            for parts in (1, 8)
        ),
    ],
    quality=distance,
    quality_name="distance (36)",
    rounds=0,
    default=False,
)
