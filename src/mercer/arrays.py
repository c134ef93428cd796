"""The array types that every layer speaks of."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]
Points = Any
"""Rows of data: a dense array, a CSR matrix, or column indices of a precomputed kernel."""


def is_sparse(points: Points) -> bool:
    """Tell whether the rows are stored sparsely."""
    return bool(sp.issparse(points))


def n_rows(points: Points) -> int:
    """Count the rows of a dense or sparse matrix, or of a vector of indices."""
    return int(points.shape[0])


def stack_rows(above: Points, below: Points) -> Points:
    """Return the rows of both, one below the other; CSR if both are sparse."""
    if is_sparse(above) and is_sparse(below):
        return sp.vstack([above, below], format="csr")
    return np.vstack([rows.toarray() if is_sparse(rows) else rows for rows in (above, below)])
