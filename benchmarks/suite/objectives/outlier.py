"""Outlier detection: how well, and how long."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from benchmarks.suite.data import load
from benchmarks.suite.peers import need
from benchmarks.suite.plan import Objective, Solver
from mercer import KernelOutlierDetector

SETS = ("wbc", "ionosphere", "breastw", "cardio", "musk", "odds_mnist")
Case = tuple[np.ndarray, np.ndarray]


def case(name: str) -> Case:
    found = load(name)
    return StandardScaler().fit_transform(found.X.astype(np.float64)), np.asarray(found.y) != 0


def ours(given: Case) -> Any:
    return lambda: -KernelOutlierDetector(random_state=0).fit(given[0]).score_samples(given[0])


def of_pyod(given: Case) -> Any:
    KPCA = need("pyod.models.kpca", "pyod").KPCA
    return lambda: KPCA(random_state=0).fit(given[0]).decision_scores_


def forest(given: Case) -> Any:
    return lambda: -IsolationForest(random_state=0).fit(given[0]).score_samples(given[0])


def neighbours(given: Case) -> Any:
    return lambda: -LocalOutlierFactor(10).fit(given[0]).negative_outlier_factor_


def of_river(given: Case) -> Any:
    """A streaming detector: it sees each row once, scores it first, then learns it."""
    anomaly = need("river.anomaly", "river")
    X = given[0]
    low, span = X.min(axis=0), np.ptp(X, axis=0) + 1e-12

    def call() -> np.ndarray:
        trees, scores = anomaly.HalfSpaceTrees(seed=0), []
        for row in (X - low) / span:
            named = dict(enumerate(row))
            scores.append(trees.score_one(named))
            trees.learn_one(named)
        return np.array(scores)

    return call


OBJECTIVE = Objective(
    name="outlier",
    question="how well are outliers ranked (area under the ROC curve), and in what time?",
    bar="none on time: six models are fitted, five of them for limits of alarms, which no peer has; read the area",
    datasets={name: partial(case, name) for name in SETS},
    solvers=[
        Solver("PyOD KPCA", of_pyod, peer=True, rounds=1),
        Solver("scikit-learn LocalOutlierFactor", neighbours, peer=True),
        Solver("scikit-learn IsolationForest", forest, peer=True),
        Solver("river HalfSpaceTrees, streaming", of_river, peer=True, rounds=1),
        Solver("mercer KernelOutlierDetector", ours),
    ],
    quality=lambda given, scores: float(roc_auc_score(given[1], scores)),
    quality_name="ROC AUC",
    rounds=2,
    skip={("odds_mnist", "PyOD KPCA"): "left out: it takes all eigenvectors of a 7603 x 7603 matrix, many minutes"},
)
