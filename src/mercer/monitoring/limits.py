"""Limits of a statistic from a dependent series of its values, with a confidence that they are high enough.

The rate of false alarms of a limit is known with the precision of as many values as are independent. Two estimates of
the limit for a rate alpha are mixed:

- the tail: a generalised Pareto distribution of what exceeds the largest tenth [pickands1975], its shape from
  probability-weighted moments [hosking1987], drawn towards -0.1, that of a normal distribution at these levels;
- the median and the spread of the upper half, which use all values: that of a normal distribution up to its 5 % point,
  and beyond it an exponential tail, since smoothed quadratic forms have heavier tails than a normal distribution.

With k independent values in the tail, the tail has the weight k / (k + 10). To the mixture, a multiple of its
standard error is added: the Student quantile of `confidence`. Its degrees of freedom are those of the standard error,
which is estimated too: an autocorrelation time that is summed up to lag W has the relative variance 2 (2 W + 1) / n
[sokal1997], as a variance with n / (2 W + 1) degrees of freedom.

Large values come together for longer than those of a normal process with the same autocorrelations: the slowest of the
components that make up T2 and SPE is far from its centre then. The time of squares of the upper half is therefore taken
to be that of the values, and the time of the tail the mean of that of a normal process and that of the values.

The distance from the median is that of a future value. With m independent values it is (1 + 1 / m)^(1/2) times the true
spread, and the spread of the values themselves is (1 - 1 / m)^(1/2) times the true one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri, stdtrit

from mercer.arrays import Array
from mercer.monitoring.dependence import exceedance_correlation
from mercer.outliers.dependence import autocorrelation, cut_of, summed_time

_TAIL, _WIDEST = 0.1, 0.5  # share of the values that the tail is fitted to
_SHAPE, _SHAPE_SPREAD, _SHAPE_RANGE = -0.1, 0.15, (-0.4, 0.6)  # what is known of the shape before
_SHAPE_VARIANCE = 1.5  # of the estimated shape, times the number of independent values in the tail
_HALF = 10.0  # independent values in the tail that count as much as the normal distribution
_MEDIAN = 0.5 * np.pi  # variance of a median, times n, for a normal distribution of variance 1
# below this rate the reference distribution has an exponential tail, which meets the normal 10 % and 5 % points
_STRAIGHT = 0.1
_AT = float(-ndtri(0.1))
_SLOPE = float(ndtri(0.1) - ndtri(0.05)) / float(np.log(2.0))
_LEVELS = np.concatenate([np.logspace(-12, -2, 101)[:-1], np.logspace(-2, np.log10(0.5), 50)])


@dataclass(frozen=True)
class Dependence:
    """Autocorrelation times of a series of n values: of the values, and of large values."""

    n: int
    rho: Array  # (k,), autocorrelations that count, from lag 1
    floor: float  # the values are at least that dependent

    @classmethod
    def of(cls, values: Array, floor: float = 1.0) -> "Dependence":
        """Return the dependence of a series, of which at least an autocorrelation time is known from elsewhere."""
        rho = autocorrelation(values)
        return cls(len(values), rho[1 : cut_of(rho)], floor)

    @cached_property
    def _factor(self) -> float:
        return max(1.0, self.floor / summed_time(self.rho, self.n))

    @cached_property
    def effective(self) -> float:
        """The effective number of values, at least 2."""
        return max(self.n / (self._factor * summed_time(self.rho, self.n)), 2.0)

    @property
    def freedom(self) -> float:
        """The degrees of freedom of an estimated standard error, at least 1."""
        return max(self.n / (2 * len(self.rho) + 1), 1.0)

    @cached_property
    def widening(self) -> float:
        """The spread of a future value around the mean of the values, in units of their own spread."""
        return float(np.sqrt((self.effective + 1.0) / (self.effective - 1.0)))

    def of_tail(self, share: float) -> float:
        """Return the effective number of values in the tail that has this share of all, at least 1/2."""
        of_normal = summed_time(exceedance_correlation(self.rho, share), self.n)
        time = self._factor * 0.5 * (of_normal + summed_time(self.rho, self.n))
        return max(share * self.n / time, 0.5)


@dataclass(frozen=True)
class Tail:
    """A generalised Pareto distribution of the values above a start."""

    share: float  # of the values above the start
    start: float
    scale: float
    shape: float
    count: float  # effective number of values above the start

    @classmethod
    def of(cls, values: Array, share: float, dependence: Dependence) -> "Tail":
        """Return the tail that has this share of the values."""
        count = dependence.of_tail(share)
        start = float(np.quantile(values, 1.0 - share))
        excess = np.sort(values[values > start]) - start
        if not len(excess):
            return cls(share, start, 0.0, _SHAPE, count)
        mean = float(excess.mean())
        shape = _tail_shape(excess, mean, count)
        return cls(share, start, mean * (1.0 - shape), shape, count)

    def limit(self, alpha: float) -> tuple[float, float]:
        """Return the limit for a rate and its standard error."""
        far, shape = float(np.log(self.share / alpha)), self.shape
        reach = float(np.expm1(shape * far)) / shape if abs(shape) > 1e-9 else far
        error = self.scale * np.exp(shape * far) * np.sqrt((1.0 - self.share + far**2) / self.count)
        return self.start + self.scale * reach, float(error)


def _tail_shape(excess: Array, mean: float, count: float) -> float:
    """Return the shape of a generalised Pareto distribution of ascending values, drawn to what is known before."""
    k = len(excess)
    weighted = float((excess * np.arange(k - 1, -1, -1)).mean()) / max(k - 1, 1)  # E[x (1 - F(x))]
    found = 2.0 - mean / max(mean - 2.0 * weighted, 1e-12 * mean)
    trust = _SHAPE_SPREAD**2 / (_SHAPE_SPREAD**2 + _SHAPE_VARIANCE / count)
    return float(np.clip(trust * found + (1.0 - trust) * _SHAPE, *_SHAPE_RANGE))


@dataclass(frozen=True, eq=False)
class UpperLimit:
    """The limit that a share alpha of future values exceeds at most, with a confidence, as a function of alpha."""

    values: Array  # (n,), in the order of time
    confidence: float
    dependence: Dependence

    def __call__(self, alpha: float) -> float:
        """Return the limit for a rate."""
        tail = self._tail(max(_TAIL, min(_WIDEST, 2.0 * alpha)))
        limit, error = tail.limit(alpha)
        usual, usual_error = self._usual(alpha)
        weight = tail.count / (tail.count + _HALF)
        error = weight * error + (1.0 - weight) * usual_error
        (middle, _), mixed = self._upper_half, weight * limit + (1.0 - weight) * usual
        return middle + self.dependence.widening * (mixed - middle + self._quantile * error)

    def _tail(self, share: float) -> Tail:
        return self._usual_tail if share == _TAIL else Tail.of(self.values, share, self.dependence)

    @cached_property
    def _usual_tail(self) -> Tail:
        return Tail.of(self.values, _TAIL, self.dependence)

    def _usual(self, alpha: float) -> tuple[float, float]:
        """Return the limit by the reference distribution with the median and upper spread of the values, its error."""
        (middle, spread), reach = self._upper_half, reach_of(alpha)
        error = spread * np.sqrt((_MEDIAN + reach**2) / self.dependence.effective)
        return middle + reach * spread, float(error)

    @cached_property
    def _upper_half(self) -> tuple[float, float]:
        middle = float(np.median(self.values))
        above = self.values[self.values > middle] - middle
        return middle, float(np.sqrt((above**2).mean())) if len(above) else 0.0

    @cached_property
    def _quantile(self) -> float:
        return float(stdtrit(self.dependence.freedom, self.confidence))


def reach_of(alpha: float) -> float:
    """Return the distance from the median that a share alpha exceeds by the reference distribution, in upper spreads.

    Beyond the largest tenth it rises with log(1 / alpha), through the 10 % and the 5 % point of a normal distribution.
    """
    return float(-ndtri(alpha)) if alpha >= _STRAIGHT else _AT + _SLOPE * float(np.log(_STRAIGHT / alpha))


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits for all rates, and p-values: the smallest rate whose limit a value reaches."""

    values: Array  # (levels,), falling: the limit for each rate of `_LEVELS`

    @classmethod
    def of(cls, series: Array, confidence: float, floor: float = 1.0) -> "Limits":
        """Return the limits from values of rows that were not learned from, in the order of time."""
        dependence = Dependence.of(series, floor)
        limit = UpperLimit(series, confidence, dependence)
        found = np.array([limit(level) for level in _LEVELS.tolist()])
        falling = np.maximum.accumulate(found[::-1])[::-1]
        return cls(falling + _strictly(falling))

    def at(self, alpha: float) -> float:
        """Return the limit for a rate; rates beyond the smallest have its limit."""
        return float(np.interp(np.log(alpha), np.log(_LEVELS), self.values))

    def p_values(self, values: Array) -> Array:
        """Return p of each value: at most alpha where, and only where, the value is at least `at(alpha)`."""
        limits, logs = self.values[::-1], np.log(_LEVELS)[::-1]  # limits rise, rates fall
        at = np.clip(np.searchsorted(limits, values, side="right"), 1, len(limits) - 1)
        way = (values - limits[at - 1]) / (limits[at] - limits[at - 1])  # not np.interp: its rounding depends on n
        p = np.exp(logs[at - 1] + np.clip(way, 0.0, 1.0) * (logs[at] - logs[at - 1]))
        return np.where(values < limits[0], 1.0, p)

    def equivalent(self, values: Array, other: "Limits") -> Array:
        """Return the values that have the same p by these limits as the given ones by others; beyond, steps stay."""
        theirs, ours = other.values[::-1], self.values[::-1]
        at = np.clip(np.searchsorted(theirs, values, side="right"), 1, len(theirs) - 1)
        way = np.clip((values - theirs[at - 1]) / (theirs[at] - theirs[at - 1]), 0.0, 1.0)
        inside = ours[at - 1] + way * (ours[at] - ours[at - 1])
        beyond = np.maximum(values - theirs[-1], 0.0) + np.minimum(values - theirs[0], 0.0)
        return np.asarray(inside + beyond)


def _strictly(falling: Array) -> Array:
    """Return tiny numbers that make equal limits different, so that each has one rate."""
    size = max(float(np.abs(falling).max(initial=0.0)), 1.0)
    return np.asarray(1e-9 * size * np.linspace(1.0, 0.0, len(falling)))
