"""Scaling of columns: computed once, applied to every later row.

Columns in units of their own need units to be compared. Pixels, grades and the like have one unit already, and dividing
each by its own spread does harm: a pixel at the edge of a picture that is hardly ever dark would then count as much as
one in the middle.
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array

_FURTHEST = 1e38  # units: a float32 number, whose sixth power (the length of a row to a cubic kernel) is a float64 one
_EQUAL = 1e-9  # share of the range of the table; numbers that differ by less are equal up to rounding
_NEAR, _MANY_COLUMNS = 0.02, 16  # the same for pictures, which have many columns: few of them reach a limit exactly
_FEWEST_COLUMNS, _REACHING = 3, 0.5  # that vary, and the share of these that must reach common limits
_LARGEST = 1e140  # of rows that are not scaled, which may be of any size: a number whose squares can be added up


@dataclass(frozen=True, eq=False)
class Scaling:
    """Subtracts the mean of each column and divides by its unit."""

    mean: Array  # (d,)
    unit: Array  # (d,)

    @classmethod
    def of(cls, X: Array, kind: str | bool) -> "Scaling":
        """Return the scaling of these rows: "variance" (or True), "soft", "common", or False for none."""
        if not kind:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        X = X.astype(np.float64, copy=False)
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1.0
        mean = (X / size).mean(axis=0) * size  # scaled first, so that huge values do not overflow
        if kind == "common":
            return cls(mean, np.full(X.shape[1], (0.5 * X.max() - 0.5 * X.min()) or 1.0))
        apart = (X - mean) / size
        unit = np.sqrt(np.einsum("ij,ij->j", apart, apart) / len(X)) * size
        if kind == "soft":
            unit = np.sqrt(unit / size) * np.sqrt(0.5 * (X.max(axis=0) / size - X.min(axis=0) / size)) * size
        rounding = 10 * np.finfo(np.float64).eps * np.abs(mean)
        return cls(mean, np.where(unit > rounding, unit, 1.0))

    def __call__(self, X: Array) -> Array:
        """Return scaled rows, in the precision of the rows."""
        return np.asarray((X - self.mean) / self.unit, X.dtype)

    def bounded(self, X: Array) -> Array:
        """Return scaled rows with enormous values cut, so that their squares are numbers; NaN stays NaN.

        This is for rows that are judged, which are as unusual afterwards. Rows to learn from or to project are not cut.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((X - self.mean) / self.unit, -self._most, self._most), X.dtype)

    @property
    def _most(self) -> float:
        """The largest value of bounded rows."""
        return _FURTHEST if self.mean.any() or (self.unit != 1.0).any() else _LARGEST


def resolved_scaling(kind: str | bool, X: Array) -> str | bool:
    """Return what "auto" is for these rows: "common" if the columns have one unit, else "soft"; others as they are."""
    if kind != "auto":
        return kind
    return "common" if have_one_unit(X) else "soft"


def have_one_unit(X: Array) -> bool:
    """Tell whether columns seem to have one unit: more than half of those that vary reach the same two limits.

    The limits are the smallest and the largest value of the whole table. Columns that somebody has scaled from 0 to 1
    have one unit, too. Of many columns each needs to reach them only nearly: of a hundred pictures, a third of the
    pixels is exactly white somewhere. Of few columns two could have similar limits by chance.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    varying = low < high
    count = int(varying.sum())
    share = _NEAR if count >= _MANY_COLUMNS else _EQUAL
    near = 2 * share * (high.max() / 2 - low.min() / 2)  # halves: the range itself may be too large for a number
    reaching = (low - low.min() <= near) & (high.max() - high <= near)
    return bool(count >= _FEWEST_COLUMNS and reaching[varying].mean() > _REACHING)
