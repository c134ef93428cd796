"""Which variables make a row unusual: by how much would the statistics fall if one variable had another value?

This is the reconstruction-based contribution [alcala2009]. For a quadratic index s(x) = x^T M x and the direction e of
a variable it is (e^T M x)^2 / (e^T M e), and a large error of one sensor has the largest contribution at that sensor,
which is not so for the terms of the sum or for gradients. Here the value of the variable is looked for by parabolas, so
that it serves all kernels. With lags, all lags of a variable move by the same amount.

A linear model is moved in the space of its scores: y(x + w e) = y(x) + w A e for its axes A, and the squared distance
from the mean m changes by 2 w e^T (x - m) + w^2 |e|^2. So no row is copied for each of its variables.
"""

from collections.abc import Callable

import numpy as np

from mercer.arrays import Array, is_sparse
from mercer.kernels.inner_product import Linear
from mercer.outliers.scores import ScoreModel

_ROWS = 4096  # judged at once
_ROUNDS = 3
_STEP = 0.25  # standard deviations, of the parabola

Index = Callable[[Array], Array]  # from rows to one number per row
Along = Callable[[Array], Array]  # from the way that each variable of each row has moved, (n * d,), to the index there


def model_reductions(model: ScoreModel, weights: Array, X: Array, n_variables: int) -> Array:
    """Return the reductions of the weighted sum of T2 and SPE of scaled rows, (n, n_variables)."""
    if not _moves_in_scores(model):
        return reductions(lambda some: np.asarray(model(some) @ weights), X, n_variables)
    axes, mean = _axes_and_mean(model)
    found = np.empty((len(X), n_variables))
    for rows in _batches(len(X), n_variables):
        along = _linear_along(model, weights, X[rows], axes, mean, n_variables)
        found[rows] = _reduced(along, X[rows].reshape(len(X[rows]), -1, n_variables).mean(axis=1))
    return found


def _moves_in_scores(model: ScoreModel) -> bool:
    """Return whether scores and distances from the mean follow from axes in the space of rows."""
    expansion = model.expansion
    linear = isinstance(expansion.kernel, Linear) and not is_sparse(expansion.points)
    return linear and expansion.nu is not None and not expansion.empirical


def _axes_and_mean(model: ScoreModel) -> tuple[Array, Array]:
    """Return the components as vectors, (r, d), and the mean of the rows, (d,)."""
    points, nu = np.asarray(model.expansion.points, np.float64), model.expansion.nu
    assert nu is not None
    return model.expansion.coef @ points, nu @ points


def _linear_along(model: ScoreModel, weights: Array, X: Array, axes: Array, mean: Array, d: int) -> Along:
    """Return the index of a linear model where single variables, at all lags, have moved."""
    n, lags = len(X), X.shape[1] // d
    moves = np.tile(axes.reshape(len(axes), lags, d).sum(axis=1).T, (n, 1))  # (n * d, r)
    slopes = 2.0 * (X - mean).reshape(n, lags, d).sum(axis=1).ravel()
    scores, norms = (np.repeat(part, d, axis=0) for part in model.expansion.project_with_norm(X))

    def along(way: Array) -> Array:
        there = scores + way[:, None] * moves
        lengths = np.maximum(norms + way * (slopes + lags * way), 0.0)
        return np.asarray(np.column_stack([model.t2(there), model.spe(there, lengths)]) @ weights)

    return along


def reductions(index: Index, X: Array, n_variables: int) -> Array:
    """Return by how much each variable can lower the index of each scaled row, (n, n_variables); never negative."""
    found = np.empty((len(X), n_variables))
    for rows in _batches(len(X), n_variables):
        found[rows] = _of_rows(index, X[rows], n_variables)
    return found


def _batches(n: int, n_variables: int) -> list[slice]:
    """Return slices of rows that are judged at once, with one copy per variable."""
    size = max(1, _ROWS // n_variables)
    return [slice(first, first + size) for first in range(0, n, size)]


def _of_rows(index: Index, X: Array, d: int) -> Array:
    """Return the reductions of some rows, of which there is one copy per variable."""
    n, copies = len(X), np.repeat(X, d, axis=0)  # row by row
    columns = np.arange(X.shape[1]) % d == np.tile(np.arange(d), n)[:, None]  # what moves in each copy
    moves = columns.astype(np.float64)
    means = np.where(columns, copies, 0.0).sum(axis=1) / columns.sum(axis=1)
    return _reduced(lambda way: index(copies + way[:, None] * moves), means.reshape(n, d))


def _reduced(along: Along, values: Array) -> Array:
    """Return the reductions, (n, d), from two starts: the row itself, and zero, the mean, instead of the values."""
    before = along(np.zeros(values.size))
    lowest = before
    for start in (np.zeros(values.size), -values.ravel()):
        lowest = np.minimum(lowest, _lowest(along, start))
    return np.asarray((before - lowest).reshape(values.shape))


def _lowest(along: Along, way: Array) -> Array:
    """Return the smallest index found on the ways, by steps to the minima of parabolas."""
    best = np.full(len(way), np.inf)
    for _ in range(_ROUNDS):
        low, here, high = (along(way + step) for step in (-_STEP, 0.0, _STEP))
        best = np.minimum(best, np.minimum(np.minimum(low, high), here))
        bend = low - 2.0 * here + high
        step = np.divide(low - high, 2.0 * bend, out=np.zeros_like(bend), where=bend > 1e-12 * np.abs(here))
        way = way + _STEP * step
    return np.asarray(np.minimum(best, along(way)))


def smoothed_rows(values: Array, weight: float) -> Array:
    """Return exponentially weighted means of rows, (n, d), which begin at zero; NaN counts as zero."""
    found, now = np.empty_like(values), np.zeros(values.shape[1])
    for i, row in enumerate(np.nan_to_num(values)):
        now = (1.0 - weight) * now + weight * row
        found[i] = now
    return found
