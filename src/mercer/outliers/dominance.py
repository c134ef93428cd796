"""A warning about single training rows that are so far away that they decide how a column is scaled."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import warn_user

_FEWEST_ROWS = 20
_SHARE = 0.9  # of the sum of squared distances from the median
_MOST_NAMED = 3


def warn_of_dominating_rows(X: Array, estimator: Any, advice: str) -> None:
    """Warn where one row holds nearly all variation of a column; NaN in X is missing."""
    found = dominating_rows(X)
    if not found:
        return
    names = getattr(estimator, "feature_names_in_", getattr(estimator, "names_in_messages", None))
    told = [f"row {row} in {_column(column, names)}" for column, row in found[:_MOST_NAMED]]
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    warn_user(
        f"Single rows hold nearly all variation of a column ({', '.join(told)}{more}; rows are counted from 0). "
        f"Columns are divided by their spread, so smaller changes of such a column will not be seen. {advice}"
    )


def dominating_rows(X: Array) -> list[tuple[int, int]]:
    """Return columns, each with the row that holds nearly all of its variation; the other rows must vary, too."""
    X = np.asarray(X, np.float64)
    size = np.nanmax(np.abs(X), axis=0, initial=0.0)
    used = np.flatnonzero((size > 0.0) & (np.isfinite(X).sum(axis=0) >= _FEWEST_ROWS))
    if not len(used):
        return []
    scaled = X[:, used] / size[used]
    median = np.nanmedian if np.isnan(scaled).any() else np.median  # the latter is several times as fast
    distances = np.nan_to_num(np.abs(scaled - median(scaled, axis=0)))
    rows, places = distances.argmax(axis=0), np.arange(len(used))
    squares = distances**2
    largest, total = squares[rows, places], squares.sum(axis=0)
    distances[rows, places] = 0.0
    found = np.flatnonzero((distances.max(axis=0) > 0.0) & (largest > _SHARE * total))
    return [(int(used[i]), int(rows[i])) for i in found]


def _column(column: int, names: Any) -> str:
    return f"column {column}" if names is None else f"column {str(names[column])!r}"
