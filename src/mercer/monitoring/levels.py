"""Levels of columns that drift: far from where they were, for so few independent values as there are.

The level of a slow column is known from few independent values, m of n. A future value of a stationary normal column
is then Student distributed, with m - 1 degrees of freedom, around the mean and with the spread s (1 + 1 / m)^(1/2).
With m near 1 hardly any value is unusual; with m = 10 one beyond five standard deviations is. Short records show too
short autocorrelation times of slow columns, so half as many values are counted.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from mercer.arrays import Array
from mercer.outliers.dependence import correlation_times

SHARE = 0.1  # of the rate of false alarms that is left to levels
_LEAST = 1.5  # independent values
_TOO_SHORT = 2.0


@dataclass(frozen=True, eq=False)
class Levels:
    """Means and spreads of columns, and how many independent values they come from."""

    mean: Array  # (c,)
    unit: Array  # (c,)
    freedom: Array  # (c,)

    @classmethod
    def of(cls, X: Array) -> "Levels":
        """Return the levels of the columns of training rows, (n, c)."""
        independent = np.maximum(len(X) / (_TOO_SHORT * correlation_times(X)), _LEAST) if X.shape[1] else np.empty(0)
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1.0
        mean = (X / size).mean(axis=0) * size  # scaled first, so that huge values do not overflow
        unit = ((X - mean) / size).std(axis=0) * size * np.sqrt(1.0 + 1.0 / independent)
        return cls(mean, np.where(unit > 0, unit, 1.0), independent - 1.0)

    def p_values(self, X: Array) -> Array:
        """Return the p-value of the most unusual level of each row, (n,), with regard to the number of columns.

        Missing values are not unusual.
        """
        if not len(self.mean):
            return np.ones(len(X))
        each = 2.0 * t.sf(np.abs(self._deviations(X)), self.freedom)
        return np.asarray(np.minimum(1.0, len(self.mean) * each.min(axis=1)))

    def contributions(self, X: Array, alpha: float) -> Array:
        """Return the squared deviations in units of their limits for a rate, (n, c)."""
        reach = t.isf(alpha / (2.0 * max(len(self.mean), 1)), self.freedom)
        return np.asarray((self._deviations(X) / reach) ** 2)

    def _deviations(self, X: Array) -> Array:
        return np.nan_to_num((X - self.mean) / self.unit, nan=0.0)
