"""Columns in units of their own: one of them can decide alone which settings predict hidden cells best."""

import numpy as np

from mercer.arrays import Array
from mercer.errors import warn_user

_MOST_OF_ALL = 0.9  # share of the variance of all columns, as in what `mercer fit` says of columns
_LEAST_COLUMNS = 3


def warn_of_one_column(X: Array) -> None:
    """Warn where one of three or more columns has nearly all of the variance, so that all others hardly count."""
    size = float(np.abs(X).max(initial=0.0))
    if X.shape[1] < _LEAST_COLUMNS or not size > 0.0:
        return
    variances = (X / size).var(axis=0)
    largest, total = int(variances.argmax()), float(variances.sum())
    if variances[largest] > _MOST_OF_ALL * total:
        warn_user(
            f"Column {largest} (counted from 0) holds {variances[largest] / total:.0%} of the variance of all columns "
            "and determines almost alone what is chosen. Divide the columns by their spread first, for example with "
            "sklearn.preprocessing.StandardScaler. If a wrong cell makes its column so large, leave out its row."
        )
