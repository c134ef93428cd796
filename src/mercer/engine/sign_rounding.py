"""Decisions that rounding errors must not make in L1-norm kernel PCA: zeros of K~, signs of zero, ties of the start."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array

Mask = npt.NDArray[np.bool_]

EXHAUSTED = 1e-12  # share of the largest K_ii before deflation; a smaller rest of a row is rounding
TIE = 1e-8  # columns whose (19) differs by less count as equal, and the first one is taken
SINGLE_TIE = 1e-5
_ROUNDING = 8.0  # units in the last place of |phi_i| sum_j |phi_j|, which bounds every partial sum of (K c)_i


def tie_of(dtype: Any) -> float:
    """Return the difference up to which sums count as equal, for a matrix held in this precision."""
    return TIE if np.dtype(dtype) == np.float64 else SINGLE_TIE


def first_largest(values: Array, tie: float = TIE) -> int:
    """Return the first place of the maximum, where values that differ by rounding only count as equal."""
    largest = float(values.max())
    return int(np.argmax(values >= largest - tie * abs(largest)))


def smallest_diagonal(largest_entry: float, dtype: Any) -> float:
    """Return the size of centred equal rows: the rounding error of k(x, x)."""
    return _ROUNDING * float(np.finfo(dtype).eps) * largest_entry


def smallest_square(largest_square: float) -> float:
    """Return the size of centred equal rows if they are centred before they are squared."""
    return (_ROUNDING * float(np.finfo(np.float64).eps)) ** 2 * largest_square


def smallest_products(diagonal: Array, dtype: Any) -> Array:
    """Return the sizes below which (K~ c)_i counts as zero because of rounding errors, (n,)."""
    norms = np.sqrt(np.maximum(diagonal, 0.0))
    return np.asarray(_ROUNDING * float(np.finfo(dtype).eps) * norms * norms.sum())
