"""First rows of a stream, by which gamma='median' is measured: how long they are measured again, and their end."""

from typing import Any

import numpy as np

from mercer.arrays import Points, is_sparse
from mercer.errors import warn_user

ENOUGH_ROWS = 100  # with so many rows gamma='median' stays as it is


_WITH_GAMMA = ("rbf", "poly", "polynomial", "sigmoid", "laplacian", "chi2")


def measures_gamma(kernel: Any, gamma: Any) -> bool:
    """Tell whether these parameters of an estimator leave gamma to the distances between rows."""
    return isinstance(gamma, str) and gamma == "median" and isinstance(kernel, str) and kernel in _WITH_GAMMA


def all_the_same(X: Points) -> bool:
    """Tell whether all rows are equal."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if is_sparse(X):
        lowest, highest = lowest.toarray(), highest.toarray()
    return bool(np.array_equal(lowest, highest))


def measure_again(rows: Points, seen: int, kept: bool) -> bool:
    """Tell whether gamma='median' is to be measured again with the next rows; warn where it never was.

    `rows` are those that it was measured by, `seen` is the number of all rows so far, and `kept` tells whether the
    model can still be built again with another gamma.
    """
    if kept and seen < ENOUGH_ROWS:
        return True
    same = all_the_same(rows)
    if same and not kept:
        warn_user(
            f"gamma='median' had no distances to measure: the first {seen} rows are all the same, and gamma_ stays "
            f"at 1 / n_features = {1.0 / rows.shape[1]:.3g}. Pass a number as gamma, or begin with rows that differ."
        )
    return kept and same
