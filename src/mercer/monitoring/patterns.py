"""Rows with missing columns, judged on the scale of complete rows.

For every set of missing columns, the reference rows are judged as if these columns were missing: each is filled and
scored by the model that did not learn from it. Means, spreads and limits of these scores serve the rows of the stream
in which the same columns are missing. A value that reaches the limit of a rate there is given the value that reaches
the limit of the same rate for complete rows.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.monitoring.calibration import Calibration, Plan, smoothed_values
from mercer.monitoring.charts import Chart
from mercer.monitoring.imputation import Imputer, Normal
from mercer.monitoring.limits import Limits
from mercer.monitoring.reference import Reference
from mercer.outliers.panel import Judge

_MOST = 64  # patterns that are kept


@dataclass(frozen=True, eq=False)
class Pattern:
    """How rows with one set of missing columns are judged."""

    imputer: Imputer
    iterates: bool  # whether conditional means are only the start
    chart: Chart
    limits: Limits

    def filled(self, X: Array) -> Array:
        """Return rows whose missing columns hold what is expected."""
        start = self.imputer.start(X)
        return self.imputer.refined(start) if self.iterates else start

    def scores(self, X: Array) -> Array:
        """Return T2 and SPE of the filled rows, (n, 2)."""
        return self.imputer.judge(self.filled(X))


@dataclass(frozen=True, eq=False)
class Book:
    """The patterns that have been met lately, for one model with its limits."""

    reference: Reference
    judge: Judge
    calibration: Calibration
    plan: Plan
    found: "OrderedDict[bytes, Pattern]" = field(default_factory=OrderedDict)

    def __call__(self, missing: npt.NDArray[np.bool_]) -> Pattern:
        """Return the pattern of missing columns, (D,)."""
        key = missing.tobytes()
        if key not in self.found:
            self.found[key] = self._made(missing)
        self.found.move_to_end(key)
        if len(self.found) > _MOST:
            self.found.popitem(last=False)
        return self.found[key]

    def _made(self, missing: npt.NDArray[np.bool_]) -> Pattern:
        iterates, scores = scores_without(self.reference, missing)
        of_all = self.calibration
        chart = Chart.of(scores, of_all.size, of_all.chart.used)
        z, place = chart.standardised(scores), self.reference.rows.place
        chart, values = smoothed_values(chart, z, of_all.chart.weight, place, self.plan)
        imputer = Imputer.of(self.judge, self._normal, missing, self.reference.noise)
        return Pattern(imputer, iterates, chart, Limits.of(values, self.plan.confidence, of_all.floor))

    @cached_property
    def _normal(self) -> Normal:
        rows = self.reference.rows
        return Normal.of(rows.lagged[rows.learned])


def scores_without(reference: Reference, missing: npt.NDArray[np.bool_]) -> tuple[bool, Array]:
    """Return whether the model's density is climbed, and T2 and SPE of the reference rows without some columns, (n, 2).

    It is climbed if this brings the filled values nearer to the true ones, which are known here.
    """
    n = len(reference.rows)
    scores, errors, iterates = np.empty((2, n, 2)), np.zeros((2, n)), True
    for own, imputer in reference.imputed(missing):
        rows = reference.rows.lagged[own]
        iterates = iterates and imputer.iterates
        start = imputer.start(rows)
        for i, filled in enumerate((start, imputer.refined(start)) if iterates else (start,)):
            scores[i, own] = imputer.judge(filled)
            errors[i, own] = (np.abs(filled - rows) / imputer.normal.unit)[:, missing].mean(axis=1)
    iterates = iterates and bool(errors[1].mean() < errors[0].mean())
    return iterates, scores[int(iterates)]
