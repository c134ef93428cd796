"""From scores to p-values: how often does a row like those of the training set have such a high score?

Rows are scored by models that were not fitted to them. CV+: each fold's model scores the fold that it was fitted
without. A new row is scored by every fold's model, counted against that fold's scores, and the counts are summed:

    p = (1 + sum_k #{i in fold k: s_k(x_i) >= s_k(x)}) / (n + 1)                  [Barber et al. 2021, CV+]

Split conformal is the case of one fold. There p <= alpha has at most the probability alpha, if the rule that makes one
number of several statistics does not depend on the rows of the fold: its units then come from other rows, `others`.
Limits from out-of-fold scores are not valid for a model of all rows, whose scores can be of another size. CV+ raises
too few alarms rather than too many if the folds' models differ much, as for T2 of narrow kernels.

Two rows that both lie beyond all others have the same count. Between counts p is therefore interpolated, and beyond
the last count it falls exponentially: `surprise` is -log10 of that, `p_values` are the counts.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.engine.upper_units import UpperUnits, combined_index, least_spread, usual_size

STATISTICS = ("t2", "spe", "mahalanobis")  # in the order of their columns; the last one is not always used
_OPEN = 1.0 - 1e-9  # a row just below the next count does not reach it
_TAIL = 0.1  # share of the largest scores, from which the slope of the tail is estimated
_MOST = 300.0  # largest surprise: 10 to the power of minus this is not yet zero
_DISTANCE_AT = 2  # its column, where it is used; T2 and SPE are before it
_DISTANCE_WEIGHT = 0.7
_EQUAL = 1e-9  # relative to their size, values that differ by rounding, which depends on the rows scored together
_ABOVE = 1.0 + 1e-12  # so that rounding of alpha = 1 / n makes no difference
_MANY = 1e18  # more rows than anybody has
_LN10 = float(np.log(10.0))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Statistics of rows by models that were not fitted to them, and p-values of new rows from these.

    The statistics are T2 and SPE, and a third column has the squared Mahalanobis distance where it is used.
    """

    folds: tuple[Array, ...]  # each (n_k, 2 or 3): statistics of the rows of one fold, by the model of the other folds
    statistic: str  # "t2", "spe", "both" or "all"
    others: Array | None = None  # (m, 2 or 3): statistics of rows in no fold, for the units; None: those of the folds

    @property
    def n(self) -> int:
        """Return the number of rows that new ones are compared with."""
        return sum(len(scores) for scores in self.folds)

    @cached_property
    def _pooled(self) -> Array:
        return np.sort(np.vstack(self.folds), axis=0)

    @property
    def large(self) -> Array:
        """A large value of each statistic: one normal row in ten has a larger one, (2,) or (3,)."""
        return np.asarray(np.quantile(self._pooled, 0.9, axis=0))

    def combined(self, scores: Array) -> Array:
        """Return the statistic that decides, (...), of all statistics, (..., 2 or 3).

        "both" is `combined_index`. "all" is max(z(both), 0.7 z(distance)), where z is the distance from the median in
        units of the upper spread. The weight was chosen on 34 tables, and on rows in which relations between columns
        are broken. With 1, outliers among the training rows were ranked worse on tables of classes; with 0.5, broken
        relations were found less often.
        """
        if self.statistic not in ("both", "all"):
            return np.asarray(scores[..., int(self.statistic == "spe")])
        both = self._both(scores)
        if scores.shape[-1] == _DISTANCE_AT:
            return both
        index, distance = self._more_units
        return np.asarray(np.maximum(index(both), _DISTANCE_WEIGHT * distance(np.sqrt(scores[..., _DISTANCE_AT]))))

    def by_distance(self, scores: Array) -> npt.NDArray[np.bool_]:
        """Tell where the distance decides, and not T2 and SPE, (...)."""
        if self.statistic != "all" or scores.shape[-1] == _DISTANCE_AT:
            return np.zeros(scores.shape[:-1], bool)
        return np.asarray(self.combined(scores) > self._more_units[0](self._both(scores)))

    def _both(self, scores: Array) -> Array:
        """Return the index of T2 and SPE, (...)."""
        z = self._units(scores[..., :_DISTANCE_AT])
        return combined_index(z[..., 0], z[..., 1])

    @cached_property
    def _compared(self) -> Array:
        """Return the statistics of the rows that say how large is large."""
        return np.vstack(self.folds) if self.others is None else self.others

    @cached_property
    def _units(self) -> UpperUnits:
        return UpperUnits.of(self._compared[:, :_DISTANCE_AT])

    @cached_property
    def _more_units(self) -> tuple[UpperUnits, UpperUnits]:
        """Return the units of the index of T2 and SPE, and those of the distance."""
        rows = self._compared
        return UpperUnits.of(self._both(rows)), UpperUnits.of(np.sqrt(rows[:, _DISTANCE_AT]))

    @cached_property
    def _references(self) -> list[Array]:
        return [np.sort(self.combined(scores)) for scores in self.folds]

    @cached_property
    def _size(self) -> float:
        return float(usual_size(np.concatenate(self._references)))

    @cached_property
    def _scale(self) -> float:
        """Return how far the largest values lie, on average, above the smallest of them: the slope of the tail."""
        values = np.sort(np.concatenate(self._references))
        top = values[-max(2, int(np.ceil(_TAIL * self.n))) :]
        return max(float((top - top[0]).mean()), float(least_spread(values)))

    def limits(self, alpha: float) -> Array:
        """Return the limit of each statistic, from which p <= alpha by it alone; inf if rows are too few."""
        allowed = allowed_count(alpha, self.n)
        if allowed < 1:
            return np.full(self._pooled.shape[1], np.inf)
        return np.asarray(np.nextafter(self._pooled[self.n - allowed], np.inf))

    def p_values(self, scores: Array) -> Array:
        """Return p of each row; scores is (folds, rows, 2 or 3), by each fold's model."""
        return np.asarray((1.0 + self._counts_above(self.combined(scores)).sum(axis=0)) / (self.n + 1))

    def surprise(self, scores: Array) -> Array:
        """Return -log10 p of each row, interpolated: above `alarm_level(alpha, n)` where p <= alpha, and only there."""
        values = self.combined(scores)
        above = self._counts_above(values)
        counts, parts = above.sum(axis=0), self._way_to_next(values, above).mean(axis=0)
        largest = np.array([reference[-1] for reference in self._references])[:, None]
        excess = np.where(above == 0, values - largest, 0.0).mean(axis=0) / self._scale
        inside = -np.log10((1.0 + counts - parts) / (self.n + 1))
        outside = np.minimum(np.log10(self.n + 1) + excess / _LN10, _MOST)
        return np.asarray(np.where(counts > 0, inside, outside))

    def _counts_above(self, values: Array) -> IntArray:
        """Return how many rows of each fold are at least as unusual as each value, both (folds, rows).

        Values that differ by rounding are equal: a row of the fold must find its own score there, even if it is scored
        together with other rows. The largest of the fold does not decide what rounding is: if it is enormous, all
        other values would be equal.
        """
        low = values - _EQUAL * np.maximum(np.abs(values), self._size)
        return np.array([len(r) - np.searchsorted(r, own) for r, own in zip(self._references, low, strict=True)])

    def _way_to_next(self, values: Array, above: IntArray) -> Array:
        """Return the place of a value between that of its fold below it (0) and the one above (less than 1)."""
        sizes = np.array([len(reference) for reference in self._references])[:, None]
        first = np.cumsum(sizes, axis=0) - sizes
        everything = np.concatenate(self._references)
        upper = everything[first + np.minimum(sizes - above, sizes - 1)]
        lower = everything[first + np.maximum(sizes - above - 1, 0)]
        step = upper - lower
        share = np.divide(values - lower, step, out=np.zeros_like(step), where=step > 0)
        return np.asarray(np.where(above > 0, np.clip(share, 0.0, _OPEN), 0.0))


def allowed_count(alpha: float, n: int) -> int:
    """Return the largest m with m / (n + 1) <= alpha."""
    return int(np.floor(alpha * (n + 1) * _ABOVE))


def rows_needed(alpha: float, count: int = 1) -> int:
    """Return the smallest n with count / (n + 1) <= alpha, which is at least 1."""
    return max(1, math.ceil(min(count / (alpha * _ABOVE), _MANY)) - 1)


def alarm_level(alpha: float, n: int) -> float:
    """Return the surprise above which p <= alpha; a number that no row reaches if n rows are too few."""
    allowed = allowed_count(alpha, n)
    return float(-np.log10((allowed + 0.5 * (1.0 - _OPEN)) / (n + 1))) if allowed else _MOST + 1.0
