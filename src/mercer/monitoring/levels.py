"""Levels of columns: is one far from where it was, for so few independent values as there are?

Columns that vary around a level are followed by exponentially weighted means, with the weight w = .05 of a new row:
small lasting shifts of one variable, which T2 and SPE of single rows do not show, move such a mean. With the variance
s^2 and autocorrelations rho_k of n values, its variance is

    s^2 w / (2 - w) (1 + 2 sum_k (1 - w)^k rho_k),        rho_k at a distance of k rows, also where some are left out,

and that of the distance from the mean of the values has another s^2 / m for m independent values. The distance in units
of its spread is taken as Student distributed. Its degrees of freedom are those of a summed autocorrelation time,
n / (2 W + 1) for lags up to W [sokal1997]. A row counts at most four standard deviations, so that one wild row does not
move the mean for long. Where the slow mean of a training row is beyond its limit nevertheless, all limits are raised to
it: such columns are further from normal than Student's distribution allows for.

The level of a column that drifts is known from few independent values. Its rows themselves are judged: a future value
of a stationary normal column is Student distributed, with m - 1 degrees of freedom, around the mean and with the spread
s (1 + 1 / m)^(1/2). With m near 1 hardly any value is unusual; with m = 10 one beyond five standard deviations is.
Short records show too short autocorrelation times of slow columns, so half as many values are counted as independent.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from mercer.arrays import Array, IntArray
from mercer.engine.scaling import Scaling
from mercer.monitoring.dependence import time_of_smoothed
from mercer.outliers.dependence import autocorrelation, cut_of, summed_time

SHARE = 0.1  # of the rate of false alarms that is left to levels of columns
_WEIGHT = 0.05  # of a new row
_LEAST = 1.5  # independent values
_TOO_SHORT = 2.0
WILD = 4.0  # standard deviations that a row counts at most
_HELD = 2.0  # times its limit: a mean rises no higher, so that an alarm ends soon after its cause
_RARE, _USUAL = 0.1, 1.64  # a rate, and deviations that are never so rare
_COVERED = 0.01  # rate of false alarms for whose limits no training row may raise an alarm
_NEVER = 1e-30  # rate at which slow means are not held back


@dataclass(frozen=True, eq=False)
class Levels:
    """Means and spreads of columns, and how well they are known."""

    mean: Array  # (d,)
    unit: Array  # (d,), spread of the followed value; infinity for columns that are not judged
    freedom: Array  # (d,)
    weight: Array  # (d,), of a new row in the followed value
    reach: Array  # (d,), units that a row counts at most
    share: float = SHARE  # of the rate of false alarms

    @classmethod
    def of(
        cls, X: Array, drifting: npt.NDArray[np.bool_], followed: bool = True, place: IntArray | None = None
    ) -> "Levels":
        """Return the levels of training rows, (n, d); columns that do not drift are judged only if followed.

        place, (n,), has the numbers of the rows where some between them are left out.
        """
        size = np.abs(X).max(axis=0, initial=0.0)
        size[size == 0] = 1.0
        mean = (X / size).mean(axis=0)  # scaled first, so that huge values do not overflow
        spread = ((X / size) - mean).std(axis=0)
        known = [known_of(column, drifts, _WEIGHT, place) for column, drifts in zip(X.T, drifting, strict=True)]
        relative, freedom = np.array(known).reshape(-1, 2).T
        judged = (spread > 0) & (drifting | followed)
        unit = np.where(judged, size * spread * relative, np.inf)
        weight, reach = np.where(drifting, 1.0, _WEIGHT), np.where(drifting, np.inf, WILD / relative)
        return cls(mean * size, unit, freedom, weight, reach).covering(X)

    def covering(self, X: Array) -> "Levels":
        """Return levels with units so large that slow means of normal rows, (n, d), stay within their limits.

        One factor serves all columns: where one slow mean goes further than Student's distribution lets expect, the
        others may do so in rows to come.
        """
        followed = np.isfinite(self.unit) & (self.weight < 1.0)
        deviations, _ = self.followed(X, np.zeros(X.shape[1]), _NEVER)
        sizes = np.abs(deviations[:, followed]) / self.limits(_COVERED)[followed]
        factor = np.where(followed, max(1.0, float(sizes.max(initial=0.0))), 1.0)
        return replace(self, unit=self.unit * factor, reach=self.reach / factor)

    @property
    def count(self) -> int:
        """The number of columns that are judged."""
        return int(np.isfinite(self.unit).sum())

    def limits(self, alpha: float) -> Array:
        """Return the deviations, in units, that a rate of false alarms for all levels together allows, (d,)."""
        return np.asarray(-stdtrit(self.freedom, self.share * alpha / (2.0 * max(self.count, 1))))

    def followed(self, X: Array, start: Array, alpha: float) -> tuple[Array, Array]:
        """Return the deviations of the followed values in units, (n, d), and where they end, (d,).

        Missing values are not unusual, and leave the followed value as it is.
        """
        scaled = Scaling(self.mean, self.unit).bounded(X)
        steps = self.weight * np.minimum(np.maximum(scaled, -self.reach), self.reach)
        most = _HELD * self.limits(alpha)
        missing = np.asarray(np.isnan(X))
        holes, found = set(np.flatnonzero(missing.any(axis=1)).tolist()), np.empty_like(steps)
        keep, now = 1.0 - self.weight, start
        for i, step in enumerate(steps):
            after = keep * now + step
            if i in holes:
                after = np.where(missing[i], now, after)
            found[i] = after
            now = np.minimum(np.maximum(after, -most), most)
        return np.where(missing, 0.0, found), np.asarray(now)

    def p_values(self, deviations: Array) -> Array:
        """Return the smallest rate of false alarms at which a level of each row is unusual, (n,).

        The number of columns counts, and the share of the rate that levels have. Rates of more than a tenth, for all
        levels together, are given as 1.
        """
        sizes, each = np.abs(deviations), np.ones(deviations.shape)
        row, column = np.nonzero(sizes >= _USUAL)
        each[row, column] = 2.0 * self.count * stdtr(self.freedom[column], -sizes[row, column])
        least = each.min(axis=1, initial=1.0)
        return np.asarray(np.where(least > _RARE, 1.0, np.minimum(least / self.share, 1.0)))


def known_of(column: Array, drifts: bool, weight: float, place: IntArray | None = None) -> tuple[float, float]:
    """Return the spread of the followed value relative to that of the column, and the degrees of freedom."""
    n, rho = len(column), autocorrelation(column)
    rho = rho[1 : cut_of(rho)]
    independent = max(n / (_TOO_SHORT * summed_time(rho, n)), _LEAST)
    if drifts:
        return float(np.sqrt(1.0 + 1.0 / independent)), independent - 1.0
    smoothed = min(weight / (2.0 - weight) * time_of_smoothed(column, weight, place), 1.0)
    variance = smoothed / (1.0 - 1.0 / independent) + 1.0 / independent
    return float(np.sqrt(variance)), max(n / (2 * len(rho) + 1), 1.0)
