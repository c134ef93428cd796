"""From T2 and SPE to one number per row: cube roots, exponentially weighted means, and the larger of the two.

T2 and SPE are quadratic forms. The cube root of a quadratic form is nearly normal [wilson1931], so that one very large
value does not dominate a mean. z = (s^(1/3) - m) / d has mean 0 and variance 1 over rows that were not learned from.
The smoothed value is m_t = (1 - w) m_{t-1} + w z_t, with m_0 = 0 [roberts1959]. Both are divided by their own spread;
the larger one decides.
"""

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from mercer.arrays import Array, IntArray

STATISTICS = ("t2", "spe")
_INDEPENDENT = 20.0  # values of the smoothed statistic that "auto" wants to have in the training rows
_LEAST = 0.05  # smallest weight of a new row
_ZERO = 1e-4  # cube root of what counts as zero, relative to a typical size


def weight_for(n: int, time: float) -> float:
    """Return the weight of a new row: as small as n rows with this autocorrelation time allow.

    The mean of z has an autocorrelation time of (2 - w) / w times that of z. The smallest w with 20 independent values
    among n is taken, within .05 and 1.
    """
    return float(np.clip(2.0 * _INDEPENDENT * time / (n + _INDEPENDENT * time), _LEAST, 1.0))


@dataclass(frozen=True, eq=False)
class Chart:
    """The way from T2 and SPE to the number that decides."""

    middle: Array  # (2,), mean of the cube roots
    spread: Array  # (2,), their standard deviation
    weight: float  # of a new row in the smoothed value
    unit: Array  # (2,), spread of the smoothed values
    used: tuple[int, ...]  # the statistics that decide: 0 for T2, 1 for SPE

    @classmethod
    def of(cls, scores: Array, size: Array, used: tuple[int, ...]) -> "Chart":
        """Return the chart without smoothing for scores of rows, (n, 2), in the order of time."""
        roots = np.cbrt(scores)
        spread = np.maximum(roots.std(axis=0), _ZERO * np.cbrt(size))
        return cls(roots.mean(axis=0), spread, 1.0, np.ones(2), used)

    def smoothed(self, z: Array, weight: float) -> "Chart":
        """Return the chart with smoothing, for standardised scores of the same rows."""
        burnt_in = self.run(z, weight, np.zeros(2))[min(int(1.0 / weight), len(z) // 2) :]
        unit = np.maximum(np.sqrt((burnt_in**2).mean(axis=0)), 1e-6)
        return Chart(self.middle, self.spread, weight, unit, self.used)

    def standardised(self, scores: Array) -> Array:
        """Return z of T2 and SPE, (n, 2)."""
        return np.asarray((np.cbrt(scores) - self.middle) / self.spread)

    @staticmethod
    def run(z: Array, weight: float, start: Array, most: Array | None = None) -> Array:
        """Return smoothed values, (n, 2), from a start; a row of NaN leaves the value as it is."""
        if most is None and not np.isnan(z).any():  # nothing is held: a filter, which is much faster
            filtered, _ = lfilter([weight], [1.0, weight - 1.0], z, axis=0, zi=((1.0 - weight) * start)[None])
            return np.asarray(filtered)
        found, keep = np.empty_like(z), 1.0 - weight
        high = (np.inf, np.inf) if most is None else (float(most[0]), float(most[1]))
        now = [float(start[0]), float(start[1])]
        for i, pair in enumerate(z.tolist()):
            for j, value in enumerate(pair):
                if value == value:
                    now[j] = min(keep * now[j] + weight * value, high[j])
            found[i] = now
        return found

    def decisive(self, smoothed: Array) -> Array:
        """Return the larger of the two smoothed values in their units, (n,)."""
        return np.asarray((smoothed / self.unit)[:, self.used].max(axis=1))

    def deciding(self, smoothed: Array) -> IntArray:
        """Return which statistic is the larger one, (n,): 0 or 1."""
        largest = (smoothed / self.unit)[:, self.used].argmax(axis=1)
        return np.asarray(np.array(self.used)[largest])

    def as_scores(self, smoothed: Array) -> Array:
        """Return smoothed values in the units of T2 and SPE."""
        roots = np.maximum(self.middle + self.spread * smoothed, 0.0)
        return np.asarray(roots * roots * roots)  # powers of one row and of many rows are rounded differently

    def limits(self, value: float) -> Array:
        """Return the limits of T2 and SPE, (2,), where the number that decides has this limit."""
        return np.asarray(self.as_scores(value * self.unit))
