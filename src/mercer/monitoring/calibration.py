"""What a monitor learns from normal rows: the model, the chart and its limits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.monitoring.candidates import Candidate, judge_of
from mercer.monitoring.charts import STATISTICS, Chart, weight_for
from mercer.monitoring.choice import Choice
from mercer.monitoring.dependence import correlation_time, time_of_squares
from mercer.monitoring.folds import contiguous_folds
from mercer.monitoring.limits import Limits
from mercer.monitoring.persistence import kth_largest
from mercer.outliers.panel import Judge
from mercer.outliers.scores import ScoreModel
from mercer.tables.scaling import Scaling

Fitter = Callable[[Array], ScoreModel]  # from scaled rows to a model of T2 and SPE


@dataclass(frozen=True)
class Plan:
    """How limits are to be found."""

    statistic: str
    confidence: float
    smoothing: float | str
    persist: tuple[int, int]
    n_folds: int
    gap: int
    standardize: str | bool


@dataclass(frozen=True, eq=False)
class Calibration:
    """The chart and its limits, and how much the rows tell."""

    chart: Chart
    limits: Limits
    n_effective: float  # number of independent rows that tell as much as the training rows


def fitter_of(choice: Choice, random_state: Any) -> Fitter:
    """Return the function that fits the chosen model."""

    def fit(X: Array) -> ScoreModel:
        candidate: Candidate = choice.candidate
        return judge_of(candidate.fitted(X, choice.n_components, random_state), choice.n_components)

    return fit


def judge_from(X: Array, fit: Fitter, standardize: str | bool) -> Judge:
    """Return a scaling and a model of these rows."""
    scaling = Scaling.of(X, standardize)
    return Judge(scaling, fit(scaling(X)))


def held_out_scores(X: Array, fit: Fitter, plan: Plan, told: Callable[[int, int], None]) -> Array:
    """Return T2 and SPE of every row by a model of rows that are not near it in time, (n, 2)."""
    scores = np.empty((len(X), 2))
    n_folds = min(plan.n_folds, len(X))
    for number, (held, learned) in enumerate(contiguous_folds(len(X), n_folds, plan.gap), 1):
        scores[held] = judge_from(X[learned], fit, plan.standardize)(X[held])
        told(number, n_folds)
    return scores


def calibrated(scores: Array, X: Array, n_components: int, plan: Plan) -> Calibration:
    """Return chart and limits from held-out scores; X are the scaled rows without lags, in the order of time."""
    used = (0, 1) if plan.statistic == "both" else (STATISTICS.index(plan.statistic),)
    size = np.array([1.0, max(float((X**2).sum(axis=1).mean()), np.finfo(float).tiny)])
    chart = Chart.of(scores, size, used)
    z = chart.standardised(scores)
    floor = time_of_squares(X, n_components)
    time = max(floor, *(correlation_time(z[:, i]) for i in used))
    chart = chart.smoothed(z, weight_for(len(z), time) if isinstance(plan.smoothing, str) else float(plan.smoothing))
    values = chart.decisive(chart.run(z, chart.weight, np.zeros(2)))[min(int(1.0 / chart.weight), len(z) // 2) :]
    k, m = plan.persist
    lasting = kth_largest(values, k, m, np.empty(0))[min(m, len(values)) - 1 :]
    return Calibration(chart, Limits.of(lasting, plan.confidence, floor), len(z) / time)
