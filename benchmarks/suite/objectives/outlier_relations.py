"""Rows in which one of ten sensors does not follow the others any more, although its value is no unusual one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor

from benchmarks.suite.plan import Objective, Solver
from mercer import KernelOutlierDetector, KernelPCA

NOISE = (0.1, 0.2, 0.3)  # of each sensor, beside a signal of variance 1
_SEEDS, _LEARNED, _JUDGED, _BROKEN, _SENSORS = 5, 400, 440, 40, 10
Scores = Callable[["Sensors"], np.ndarray]


@dataclass(frozen=True, eq=False)
class Sensors:
    """Rows to learn from, and rows to judge, of which the last forty have a sensor that is off by 1."""

    learned: np.ndarray
    judged: np.ndarray


def sensors(noise: float, seed: int) -> Sensors:
    """Return ten sensors that follow two hidden quantities."""
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((2, _SENSORS))
    rows = rng.standard_normal((_LEARNED + _JUDGED, 2)) @ (loadings / np.linalg.norm(loadings, axis=0))
    rows += noise * rng.standard_normal(rows.shape)
    rows[np.arange(len(rows) - _BROKEN, len(rows)), rng.integers(_SENSORS, size=_BROKEN)] += rng.choice(
        [-1, 1], _BROKEN
    )
    return Sensors(rows[:_LEARNED], rows[_LEARNED:])


def by_detector(detector: Any) -> Scores:
    return lambda case: -detector.fit(case.learned).score_samples(case.judged)


def by_distance(case: Sensors) -> np.ndarray:
    return np.asarray(LedoitWolf().fit(case.learned).mahalanobis(case.judged))


def precision(cases: list[Sensors], found: list[np.ndarray]) -> float:
    labels = np.arange(_JUDGED) >= _JUDGED - _BROKEN
    return float(np.mean([average_precision_score(labels, scores) for scores in found]))


def solver(name: str, scores: Scores, peer: bool = False) -> Solver:
    return Solver(name, lambda cases: lambda: [scores(case) for case in cases], peer=peer)


OBJECTIVE = Objective(
    name="outlier_relations",
    question="are broken linear relations between columns found?",
    bar="the default at least .8 at noise .1, where it was .15 without the Mahalanobis distance",
    datasets={
        f"noise {noise}": partial(lambda noise: [sensors(noise, k) for k in range(_SEEDS)], noise) for noise in NOISE
    },
    solvers=[
        solver("scikit-learn LedoitWolf().mahalanobis", by_distance, peer=True),
        solver("scikit-learn LocalOutlierFactor", by_detector(LocalOutlierFactor(novelty=True)), peer=True),
        solver("scikit-learn IsolationForest", by_detector(IsolationForest(random_state=0)), peer=True),
        solver("mercer KernelOutlierDetector", by_detector(KernelOutlierDetector(random_state=0))),
        solver("mercer, statistic='both'", by_detector(KernelOutlierDetector(statistic="both", random_state=0))),
        solver("mercer, estimator='select'", by_detector(KernelOutlierDetector("select", random_state=0))),
        solver("mercer, KernelPCA(4), linear", by_detector(KernelOutlierDetector(KernelPCA(4), random_state=0))),
    ],
    quality=precision,
    quality_name="average precision",
    rounds=0,
    default=False,
)
