"""Pretended outliers: rows made from the rows at hand, as outliers may be, to compare detectors without labels.

Four kinds, because no kind is like all outliers: rows in which a tenth of the cells are those of other rows; rows moved
by half the difference of two random rows; and two groups of rows, each moved as a whole by one such difference or by
.7 of it.
"""

import numpy as np

from mercer.arrays import Array

KINDS = 4
_CELLS = 0.1  # share of the cells that are exchanged
_WAY = 0.5  # length of the way of single rows, as a share of a difference of two rows
_GROUPS = (1.0, 0.7)  # and of the two groups


def pretended_outliers(X: Array, count: int, rng: np.random.RandomState) -> Array:
    """Return so many pretended outliers of each kind, (KINDS, count, d)."""
    single = _some(X, count, rng) + _WAY * (_some(X, count, rng) - _some(X, count, rng))
    groups = [_some(X, count, rng) + share * (_some(X, 1, rng) - _some(X, 1, rng)) for share in _GROUPS]
    return np.stack([_exchanged(X, count, rng), single, *groups])


def _some(X: Array, count: int, rng: np.random.RandomState) -> Array:
    return X[rng.randint(0, len(X), count)]


def _exchanged(X: Array, count: int, rng: np.random.RandomState) -> Array:
    """Return rows with some cells, at least one, of other rows."""
    shape = (count, X.shape[1])
    taken = rng.rand(*shape) < _CELLS
    taken[np.arange(count), rng.randint(0, X.shape[1], count)] = True
    others = X[rng.randint(0, len(X), shape), np.arange(X.shape[1])]
    return np.where(taken, others, _some(X, count, rng))
