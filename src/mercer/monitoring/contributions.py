"""Which variables make a row unusual: by how much would the statistics fall if one variable had another value?

This is the reconstruction-based contribution [alcala2009]. For a quadratic index s(x) = x^T M x and the direction e of
a variable it is (e^T M x)^2 / (e^T M e), and a large error of one sensor has the largest contribution at that sensor,
which is not so for the terms of the sum or for gradients. Here the value of the variable is looked for by parabolas, so
that it serves all kernels. With lags, all lags of a variable move by the same amount.
"""

from collections.abc import Callable

import numpy as np

from mercer.arrays import Array

_ROWS = 4096  # judged at once
_ROUNDS = 3
_STEP = 0.25  # standard deviations, of the parabola

Index = Callable[[Array], Array]  # from rows to one number per row


def reductions(index: Index, X: Array, n_variables: int) -> Array:
    """Return by how much each variable can lower the index of each scaled row, (n, n_variables); never negative."""
    found = np.empty((len(X), n_variables))
    size = max(1, _ROWS // n_variables)
    for first in range(0, len(X), size):
        rows = X[first : first + size]
        found[first : first + size] = _of_rows(index, rows, n_variables)
    return found


def _of_rows(index: Index, X: Array, d: int) -> Array:
    """Return the reductions of some rows: from two starts, the row itself and the mean of the variable."""
    n, copies = len(X), np.repeat(X, d, axis=0)  # row by row, one copy per variable
    columns = np.arange(X.shape[1]) % d == np.tile(np.arange(d), n)[:, None]  # what moves in each copy
    moves = columns.astype(np.float64)
    before = index(X)
    to_mean = -np.where(columns, copies, 0.0).sum(axis=1) / columns.sum(axis=1)
    lowest = np.repeat(before, d)
    for start in (np.zeros(n * d), to_mean):
        lowest = np.minimum(lowest, _lowest(index, copies, moves, start))
    return np.asarray((np.repeat(before, d) - lowest).reshape(n, d))


def _lowest(index: Index, rows: Array, moves: Array, way: Array) -> Array:
    """Return the smallest index found along the moves, by steps to the minima of parabolas."""
    best = np.full(len(rows), np.inf)
    for _ in range(_ROUNDS):
        low, here, high = (index(rows + (way + step)[:, None] * moves) for step in (-_STEP, 0.0, _STEP))
        best = np.minimum(best, np.minimum(np.minimum(low, high), here))
        bend = low - 2.0 * here + high
        step = np.divide(low - high, 2.0 * bend, out=np.zeros_like(bend), where=bend > 1e-12 * np.abs(here))
        way = way + _STEP * step
    return np.asarray(np.minimum(best, index(rows + way[:, None] * moves)))


def smoothed_rows(values: Array, weight: float) -> Array:
    """Return exponentially weighted means of rows, (n, d), which begin at zero; NaN counts as zero."""
    found, now = np.empty_like(values), np.zeros(values.shape[1])
    for i, row in enumerate(np.nan_to_num(values)):
        now = (1.0 - weight) * now + weight * row
        found[i] = now
    return found
