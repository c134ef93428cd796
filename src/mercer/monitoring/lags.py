"""Rows with their previous rows beside them: (x_t, x_{t-1}, ..., x_{t-lags}) [ku1995]."""

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.outliers.dependence import autocorrelation

_MOST = 3  # lags
_COMPONENTS = 10  # in which autocorrelation is looked for


def with_lags(X: Array, lags: int, starts: npt.NDArray[np.bool_]) -> Array:
    """Return rows with their lags, (n, d * (lags + 1)); NaN where a segment has not enough previous rows.

    starts, (n,), is true at the first row of each segment of time.
    """
    (n, d), age = X.shape, ages(starts)
    found = np.full((n, d * (lags + 1)), np.nan)
    found[:, :d] = X
    for lag in range(1, lags + 1):
        known = age >= lag
        found[known, lag * d : (lag + 1) * d] = X[np.flatnonzero(known) - lag]
    return found


def ages(starts: npt.NDArray[np.bool_]) -> IntArray:
    """Return how many rows of its segment are before each row, (n,)."""
    number = np.arange(len(starts))
    return np.asarray(number - np.maximum.accumulate(np.where(starts, number, 0)))


def lags_left(X: Array, starts: npt.NDArray[np.bool_]) -> int:
    """Return how many lags scaled rows need: as few as leave no autocorrelation in what they do not predict.

    The largest principal components are regressed on their lags; lags are added until the autocorrelation of the
    residuals at lag 1 is, in the mean, within twice its standard error, or there are 3.
    """
    _, _, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    Y = (X - X.mean(axis=0)) @ axes[:_COMPONENTS].T
    most = min(_MOST, max(len(X) // (10 * X.shape[1]) - 1, 0))
    for lags in range(most + 1):
        rows = with_lags(Y, lags, starts)
        left = _unpredicted(rows[complete(rows)], Y.shape[1])
        if np.mean([abs(autocorrelation(series)[1]) for series in left.T]) <= 2.0 / np.sqrt(len(left)):
            return int(lags)
    return int(most)


def _unpredicted(rows: Array, d: int) -> Array:
    """Return the residuals of the rows, regressed on their lags."""
    before = np.column_stack([rows[:, d:], np.ones(len(rows))])
    coefficients = np.linalg.lstsq(before, rows[:, :d], rcond=None)[0]
    return np.asarray(rows[:, :d] - before @ coefficients)


def complete(rows: Array) -> npt.NDArray[np.bool_]:
    """Return which rows have all their values and lags, (n,)."""
    return np.asarray(~np.isnan(rows).any(axis=1))
