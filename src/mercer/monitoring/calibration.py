"""What a monitor learns from normal rows: the model, the chart and its limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.scaling import Scaling
from mercer.monitoring.candidates import Candidate
from mercer.monitoring.charts import STATISTICS, Chart, weight_for
from mercer.monitoring.choice import Choice
from mercer.monitoring.dependence import time_of_smoothed, time_of_squares
from mercer.monitoring.limits import Limits
from mercer.monitoring.persistence import kth_largest
from mercer.monitoring.split import SplitModel
from mercer.outliers.dependence import correlation_time
from mercer.outliers.panel import Judge
from mercer.outliers.scores import ScoreModel

_INDEPENDENT = 2.0  # autocorrelation times after which values count as independent

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
    floor: float  # autocorrelation time of T2 and SPE, at least
    size: Array  # (2,), what T2 and SPE are compared with to tell whether they are zero
    spacing: int  # rows after which values hardly depend on each other


def fitter_of(choice: Choice, random_state: Any) -> Fitter:
    """Return the function that fits the chosen model."""

    def fit(X: Array) -> ScoreModel:
        candidate: Candidate = choice.candidate
        return SplitModel.of(candidate.fitted(X, choice.n_components, random_state), choice.n_components)

    return fit


def judge_from(X: Array, fit: Fitter, standardize: str | bool) -> Judge:
    """Return a scaling and a model of these rows."""
    scaling = Scaling.of(X, standardize)
    return Judge(scaling, fit(scaling(X)))


def calibrated(scores: Array, X: Array, place: IntArray, model: ScoreModel, plan: Plan) -> Calibration:
    """Return chart and limits from held-out scores; X are the scaled rows without lags, in the order of time.

    place, (n,), has the numbers of the rows among all rows, also those that are left out.
    """
    split, main = isinstance(model, SplitModel), getattr(model, "main", model.expansion.n_components)
    used = (0, 1) if plan.statistic == "both" else (STATISTICS.index(plan.statistic),)
    size = np.array([1.0, 1.0 if split else max(float((X**2).sum(axis=1).mean()), np.finfo(float).tiny)])
    floor = time_of_squares(X, main, split)
    chart = Chart.of(scores, size, used)
    z = chart.standardised(scores)
    time = max(floor, *(correlation_time(z[:, i]) for i in used))
    weight = weight_for(len(z), time) if isinstance(plan.smoothing, str) else float(plan.smoothing)
    chart, lasting = smoothed_values(chart, z, weight, place, plan)
    step = (int(place[-1] - place[0]) + 1) / len(place)
    spacing = int(np.ceil(_INDEPENDENT * step * correlation_time(lasting)))
    return Calibration(chart, Limits.of(lasting, plan.confidence, floor), len(z) / time, floor, size, spacing)


def smoothed_values(chart: Chart, z: Array, weight: float, place: IntArray, plan: Plan) -> tuple[Chart, Array]:
    """Return the chart with smoothing, and the values of rows that limits are set for."""
    chart = chart.smoothed(z, weight)
    values = chart.decisive(chart.run(z, weight, np.zeros(2)))[min(int(1.0 / weight), len(z) // 2) :]
    k, m = plan.persist
    return _without_gaps(chart, z, place), kth_largest(values, k, m, np.empty(0))[min(m, len(values)) - 1 :]


def _without_gaps(chart: Chart, z: Array, place: IntArray) -> Chart:
    """Return the chart for rows of which none is left out: they resemble each other more, so means of them vary more.

    Limits in units stay as they are, and the units become those of such means.
    """
    times = [(time_of_smoothed(one, chart.weight, place), time_of_smoothed(one, chart.weight)) for one in z.T]
    factors = np.sqrt([spaced / close for spaced, close in times])
    return replace(chart, unit=chart.unit * factors)
