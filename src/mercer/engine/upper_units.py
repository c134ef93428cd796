"""Units in which different statistics of the same rows can be compared: how large is large for normal rows?"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array

_EQUAL = 1e-12  # spread, relative to the size of the values, below which values count as equal
_T2_WEIGHT = 0.5
_HIGH = 0.9  # share of the values below a large one; the largest of all can be an enormous outlier


@dataclass(frozen=True, eq=False)
class UpperUnits:
    """The median of some values, and its distance to the largest tenth of them."""

    middle: Array
    spread: Array

    @classmethod
    def of(cls, values: Array) -> "UpperUnits":
        """Return the units of each column of the values, (n, ...)."""
        middle, high = quantiles(values, 0.5, _HIGH)
        return cls(middle, np.maximum(high - middle, least_spread(values)))

    def __call__(self, values: Array) -> Array:
        """Return values as distances from the median, in units of the upper spread."""
        return np.asarray((values - self.middle) / self.spread)


def combined_index(t2: Array, spe: Array) -> Array:
    """Return one index of T2 and SPE, both in upper units: z(SPE) + max(z(T2), 0) / 2 [Yue and Qin 2001], one-sided.

    For narrow kernels T2 is small at outliers, which lie far from all components; a small T2 must not cancel a large
    SPE. Form and weight were chosen on six outlier sets. There this ranks outliers better than the smaller of two
    p-values; on digits SPE alone is a little better.
    """
    return np.asarray(spe + _T2_WEIGHT * np.maximum(t2, 0.0))


def least_spread(values: Array) -> Array:
    """Return the spread below which values of this size count as equal."""
    size = usual_size(values)
    return np.asarray(_EQUAL * np.where(size > 0, size, 1.0))


def usual_size(values: Array) -> Array:
    """Return a size that nine tenths of the values do not exceed; the largest one if that is zero."""
    sizes = np.abs(values)
    (usual,) = quantiles(sizes, _HIGH)
    return np.asarray(np.where(usual > 0, usual, sizes.max(axis=0)))


def quantiles(values: Array, *shares: float) -> list[Array]:
    """Return quantiles of each column of the values, (n, ...): for few values ten times as fast as `np.quantile`."""
    last = len(values) - 1
    places = [share * last for share in shares]
    needed = sorted({min(int(place) + more, last) for place in places for more in (0, 1)})
    ordered = np.partition(values, needed, axis=0)
    found = []
    for place in places:
        low, high = ordered[int(place)], ordered[min(int(place) + 1, last)]
        found.append(np.asarray(low + (high - low) * (place - int(place))))
    return found
