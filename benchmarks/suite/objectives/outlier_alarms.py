"""Whether the rate of alarms is the one asked for: shares among held-out clean rows, and among outliers."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import IsolationForest

from benchmarks.suite.outlier_sets import ODDS, outlier_set, with_width
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelOutlierDetector

SPLITS = 20
LEVELS = (0.01, 0.05)


class Split(NamedTuple):
    train: np.ndarray
    clean: np.ndarray
    outliers: np.ndarray


def splits(name: str, n: int | None = None) -> list[Split]:
    """Return clean rows to learn from (half of them, 1000 at most, or n), other clean rows, and all outliers."""
    X, y = outlier_set(name, 10**6)
    count = min(1000, int((y == 0).sum()) // 2) if n is None else n
    found = []
    for i in range(SPLITS):
        clean = np.random.default_rng([count, i]).permutation(np.flatnonzero(y == 0))
        found.append(Split(X[clean[:count]], X[clean[count : count + 600]], X[y == 1]))
    return found


def by(width: float | None = None, **more: Any) -> Any:
    """Fit the detector with its defaults, or with kernel PCA of a width relative to the median distance."""

    def shares(one: Split) -> list[float]:
        estimator = None if width is None else with_width(one.train, width)
        detector = KernelOutlierDetector(estimator, random_state=0, **more).fit(one.train)
        p_clean, p_bad = detector.p_values(one.clean), detector.p_values(one.outliers)
        return [float((p <= level).mean()) for p in (p_clean, p_bad) for level in LEVELS]

    return lambda given: lambda: [shares(one) for one in given]


def forest(given: list[Split]) -> Any:
    """Put the limit where the share of the training rows below it is the level."""

    def shares(one: Split) -> list[float]:
        model = IsolationForest(random_state=0).fit(one.train)
        limits = np.quantile(model.score_samples(one.train), LEVELS)
        scores = [model.score_samples(rows) for rows in (one.clean, one.outliers)]
        return [float((values <= limit).mean()) for values in scores for limit in limits]

    return lambda: [shares(one) for one in given]


def per_cent(_: Any, found: list[list[float]]) -> dict[str, float]:
    names = ("clean at 1 %", "clean at 5 %", "outliers at 1 %", "outliers at 5 %")
    return dict(zip(names, 100 * np.mean(found, axis=0), strict=True))


OBJECTIVE = Objective(
    name="outlier_alarms",
    question="how many clean new rows and how many outliers raise an alarm at levels of 1 and 5 %?",
    bar="clean rows: 1 and 5 %",
    datasets={
        **{name: partial(splits, name) for name in ODDS},
        **{
            f"{name}, {n} rows": partial(splits, name, n)
            for name in ("cardio", "musk", "odds_mnist")
            for n in (100, 300)
        },
    },
    solvers=[
        Solver("scikit-learn IsolationForest, quantiles of its rows", forest, peer=True),
        Solver("mercer, defaults", by()),
        Solver("mercer, a quarter of the median's gamma", by(0.25)),
        Solver("mercer, four times the median's gamma", by(4.0)),
    ],
    quality=per_cent,
    rounds=0,
    default=False,
)
