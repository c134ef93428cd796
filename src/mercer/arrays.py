"""Array types and small array functions that every layer uses."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]
Points = Any
"""Rows of data: a dense array, a CSR matrix, or column indices of a precomputed kernel."""


def is_sparse(points: Points) -> bool:
    """Tell whether the rows are a sparse matrix."""
    return bool(sp.issparse(points))


def n_rows(points: Points) -> int:
    """Return the number of rows of a dense or sparse matrix, or of entries of a vector of indices."""
    return int(points.shape[0])


def is_mapped(points: Points) -> bool:
    """Tell whether the rows are in a file that is mapped to memory, directly or as a view of such an array."""
    while isinstance(points, np.ndarray):
        if isinstance(points, np.memmap):
            return True
        points = points.base
    return False


def stack_rows(above: Points, below: Points) -> Points:
    """Return the rows of both matrices, one below the other; CSR if both are sparse."""
    if is_sparse(above) and is_sparse(below):
        return sp.vstack([above, below], format="csr")
    return np.vstack([rows.toarray() if is_sparse(rows) else rows for rows in (above, below)])


def same_rows(a: Points, b: Points) -> bool:
    """Tell whether two matrices, both dense or both sparse, hold the same rows in the same order."""
    if a.shape != b.shape or is_sparse(a) != is_sparse(b):
        return False
    return bool((a != b).nnz == 0) if is_sparse(a) else bool(np.array_equal(a, b))


def check_kernel_values(values: Array, what: str = "the training rows") -> Array:
    """Return kernel values, or numbers computed from them; fail if one of them is NaN or infinite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"Kernel values of {what} are not finite. Rescale the features (for example with StandardScaler) or lower "
            "gamma, coef0 or degree."
        )
    return values
