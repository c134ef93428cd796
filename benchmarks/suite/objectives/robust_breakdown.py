"""Batch robust kernel PCA with a growing share of rows that are contaminated in the same way, the hardest case.

Phoneme: curves shifted by a cosine and noise, linear kernel, cosines of three components with those of clean curves.
Digits: images of a 3, some with inverted contrast, Gaussian kernel, the variation of the clean images that three
components explain, relative to the best three. Parabola: Example 1 of [huang2011] in other units.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelPCA, RobustKernelPCA

SEEDS = 20
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4)
POLY = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.0}
Draw = tuple[np.ndarray, np.ndarray]  # clean and contaminated rows


class Case(NamedTuple):
    draws: list[Draw]
    r: int
    kernel: dict[str, Any]
    measure: Callable[[Any, Any, np.ndarray], np.ndarray]


def example1(seed: int, scale: float = 1.0, n: int = 150) -> Draw:
    """Return clean and contaminated rows."""
    rng = np.random.default_rng(seed)
    x1 = (2.0 * np.arange(n) + 1.0) / n - 1.0
    X = np.column_stack([x1, -0.3 * x1**2 + 0.1 * rng.standard_normal(n)])
    bad = np.arange(10) * 15 + 7
    C = X.copy()
    C[bad, 1] = np.tile([0.5, -0.5], 5) + 1.5 * rng.standard_normal(10)
    return scale * X, scale * C


def phoneme(seed: int, share: float = 0.05) -> Draw:
    """Return the 400 "sh" curves, and contaminated ones."""
    data = load("phoneme")
    X = data.X[data.y == 1]
    rng = np.random.default_rng(seed)
    bad = rng.choice(len(X), round(share * len(X)), replace=False)
    t = (np.arange(150) + 0.5) / 150
    C = X.copy()
    C[bad] += 5.0 * np.cos(2.0 * np.pi * t) + 3.0 * rng.random((len(bad), 150))
    return X, C


def digits(seed: int, share: float) -> Draw:
    """Return 300 images of a "3", the same with the contrast of some inverted."""
    data = load("usps")
    X = data.X[data.y == 3]
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(len(X))[:300]]
    bad = rng.choice(len(X), round(share * len(X)), replace=False)
    C = X.copy()
    C[bad] = -C[bad]
    return X, C


def correlations(model: Any, truth: Any, X: np.ndarray) -> np.ndarray:
    ours, theirs = model.transform(X), truth.transform(X)
    return np.array([abs(np.corrcoef(a, b)[0, 1]) for a, b in zip(ours.T, theirs.T, strict=True)])


def cosines(model: Any, truth: Any, X: np.ndarray) -> np.ndarray:
    return np.abs(np.diag(model.expansion_.inner(truth.expansion_)))


def explained(model: Any, truth: Any, X: np.ndarray) -> np.ndarray:
    ours, theirs = (m.transform(X) - m.transform(X).mean(axis=0) for m in (model, truth))
    return np.array([(ours**2).sum() / (theirs**2).sum()])


def case(draw: Callable[[int], Draw], r: int, kernel: dict[str, Any], measure: Any) -> Case:
    return Case([draw(seed) for seed in range(SEEDS)], r, kernel, measure)


def by(cls: Any, **more: Any) -> Any:
    def call(given: Case) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [cls(given.r, **given.kernel, **more).fit(dirty) for _, dirty in given.draws]

    return lambda given: lambda: call(given)


def nearness(given: Case, models: list[Any]) -> dict[str, float]:
    """Return the least of the components: its median over the draws, and in the worst draw."""
    found = [
        given.measure(model, KernelPCA(given.r, **given.kernel).fit(X), X).min()
        for model, (X, _) in zip(models, given.draws, strict=True)
    ]
    return {"nearness, median": float(np.median(found)), "worst of 20": float(np.min(found))}


OBJECTIVE = Objective(
    name="robust_breakdown",
    question="how much contamination does robust kernel PCA stand (1: as without)?",
    datasets={
        **{
            f"phoneme, {share:.0%}": partial(case, partial(phoneme, share=share), 3, {"kernel": "linear"}, cosines)
            for share in SHARES
        },
        **{
            f"digit 3, {share:.0%}": partial(case, partial(digits, share=share), 3, {"kernel": "rbf"}, explained)
            for share in SHARES
        },
        **{
            f"parabola times {scale:g}": partial(case, partial(example1, scale=scale), 1, POLY, correlations)
            for scale in (0.01, 0.3, 1.0, 3.0, 100.0)
        },
    },
    solvers=[
        Solver("KernelPCA, not robust", by(KernelPCA), peer=True),
        Solver("mercer RobustKernelPCA", by(RobustKernelPCA)),
        *(Solver(f"mercer RobustKernelPCA, {psi}", by(RobustKernelPCA, psi=psi)) for psi in ("exp", "tukey", "huber")),
    ],
    quality=nearness,
    rounds=0,
    default=False,
)
