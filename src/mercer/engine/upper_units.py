"""Units in which different statistics of the same rows can be compared: how large is large for normal rows?"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array

_EQUAL = 1e-12  # spread, relative to the size of the values, below which values count as equal
_HIGH = 0.9  # share of the values below a large one; the largest of all can be an enormous outlier


@dataclass(frozen=True, eq=False)
class UpperUnits:
    """The median of some values, and its distance to the largest tenth of them."""

    middle: Array
    spread: Array

    @classmethod
    def of(cls, values: Array) -> "UpperUnits":
        """Return the units of each column of the values, (n, ...)."""
        middle, high = np.quantile(values, [0.5, _HIGH], axis=0)
        return cls(middle, np.maximum(high - middle, least_spread(values)))

    def __call__(self, values: Array) -> Array:
        """Return values as distances from the median, in units of the upper spread."""
        return np.asarray((values - self.middle) / self.spread)


def least_spread(values: Array) -> Array:
    """Return the spread below which values of this size count as equal."""
    size = usual_size(values)
    return np.asarray(_EQUAL * np.where(size > 0, size, 1.0))


def usual_size(values: Array) -> Array:
    """Return a size that nine tenths of the values do not exceed; the largest one if that is zero."""
    sizes = np.abs(values)
    usual = np.quantile(sizes, _HIGH, axis=0)
    return np.asarray(np.where(usual > 0, usual, sizes.max(axis=0)))
