"""Which statistic ranks outliers best: T2, SPE, both or all together, over widths of the kernel."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from benchmarks.suite.outlier_sets import WIDTHS, Case, groups, with_width
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelOutlierDetector

Split = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows to learn, rows to score, 1 for outliers among these


def split(case: Case, half: bool) -> Split:
    """Return all rows twice, or half of the inliers to learn from and the others to score."""
    X, y = case
    if not half:
        return X, X, y
    inliers = np.random.default_rng(0).permutation(np.flatnonzero(y == 0))
    train = inliers[: len(inliers) // 2]
    test = np.setdiff1d(np.arange(len(X)), train)
    return X[train], X[test], y[test]


def splits(make: Any, half: bool) -> list[Split]:
    return [split(case, half) for case in make()]


def judged(statistic: str, width: float, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    detector = KernelOutlierDetector(with_width(train, width), statistic=statistic, random_state=0).fit(train)
    return -detector.score_samples(test)


def by(statistic: str) -> Any:
    return lambda given: lambda: [[judged(statistic, width, *one[:2]) for width in WIDTHS] for one in given]


def linear(train: np.ndarray, test: np.ndarray) -> np.ndarray:
    model = PCA(min(20, *train.shape)).fit(train)
    return np.asarray(((test - model.inverse_transform(model.transform(test))) ** 2).sum(axis=1))


def area(given: list[Split], found: list[list[np.ndarray]]) -> float:
    return float(np.mean([roc_auc_score(one[2], s) for one, many in zip(given, found, strict=True) for s in many]))


OBJECTIVE = Objective(
    name="outlier_scores",
    question="which statistic ranks outliers best, in the mean over four widths of the kernel?",
    datasets={
        f"{name}; {'half of the inliers' if half else 'all rows'} learned": partial(splits, make, half)
        for half in (False, True)
        for name, make in groups().items()
    },
    solvers=[
        Solver("residual of linear PCA", lambda given: lambda: [[linear(*one[:2])] for one in given], peer=True),
        *(Solver(f"mercer, statistic={statistic!r}", by(statistic)) for statistic in ("t2", "spe", "both", "all")),
    ],
    quality=area,
    quality_name="ROC AUC",
    rounds=0,
    default=False,
)
