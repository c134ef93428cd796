"""Outlier detection with default parameters, compared with peers; fitted to all rows, including outliers."""

from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.suite.outlier_sets import Case, groups
from benchmarks.suite.peers import need
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelOutlierDetector


def ours(X: np.ndarray) -> np.ndarray:
    return -KernelOutlierDetector(random_state=0).fit(X).score_samples(X)


def neighbours(X: np.ndarray) -> np.ndarray:
    return np.asarray(-LocalOutlierFactor().fit(X).negative_outlier_factor_)


def forest(X: np.ndarray) -> np.ndarray:
    return np.asarray(-IsolationForest(random_state=0).fit(X).score_samples(X))


def of_pyod(cases: list[Case]) -> Any:
    KPCA = need("pyod.models.kpca", "pyod").KPCA
    return lambda: [np.nan_to_num(np.asarray(KPCA(random_state=0).fit(X).decision_scores_)) for X, _ in cases]


def by(scores: Any) -> Any:
    return lambda cases: lambda: [scores(X) for X, _ in cases]


def precision(cases: list[Case], found: list[np.ndarray]) -> float:
    return float(np.mean([average_precision_score(y, scores) for (_, y), scores in zip(cases, found, strict=True)]))


OBJECTIVE = Objective(
    name="outlier_defaults",
    question="how well are outliers ranked with all defaults, on sets of the choice and on fresh ones?",
    bar="the mean over all sets at least 0.95 of the best peer's",
    datasets=groups(),
    solvers=[
        Solver("scikit-learn LocalOutlierFactor", by(neighbours), peer=True),
        Solver("scikit-learn IsolationForest", by(forest), peer=True),
        Solver("PyOD KPCA", of_pyod, peer=True),
        Solver("mercer KernelOutlierDetector", by(ours)),
    ],
    quality=precision,
    quality_name="average precision",
    rounds=0,
    default=False,
)
