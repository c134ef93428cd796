"""Array types and small array functions that every layer uses."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]
Points = Any
"""Rows of data: a dense array, a CSR matrix, or column indices of a precomputed kernel."""

_SQUARES = (1e-140, 1e140)  # kernel values whose squares can be added up for any number of rows


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


def varying_columns(X: Array) -> npt.NDArray[np.bool_]:
    """Tell which columns are not constant, (d,)."""
    return np.asarray(X.min(axis=0) < X.max(axis=0))


def row_kinds(X: Points) -> IntArray:
    """Return a number for each row, the same for equal rows; different rows are numbered as they come."""
    keys = _stored_rows(X) if is_sparse(X) else [row.tobytes() for row in np.ascontiguousarray(X) + 0.0]  # -0.0 is 0.0
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.intp)


def distinct_rows(X: Points) -> IntArray:
    """Return the first position of each different row, in order."""
    return np.unique(row_kinds(X), return_index=True)[1]


def _stored_rows(X: Points) -> list[bytes]:
    """Return the stored entries of each sparse row as bytes, without zeros."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    ranges = [slice(*X.indptr[i : i + 2]) for i in range(n_rows(X))]
    return [X.indices[rows].tobytes() + b"|" + X.data[rows].tobytes() for rows in ranges]


def check_kernel_values(values: Array, what: str = "the training rows") -> Array:
    """Return kernel values, or numbers computed from them; fail if one of them is NaN or infinite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"Kernel values of {what} are not finite. Rescale the features (for example with StandardScaler) or lower "
            "gamma, coef0 or degree."
        )
    return values


def check_squares(diagonal: Array, *, least: float = _SQUARES[0]) -> None:
    """Say so where kernel values k(x, x) are so large or small that sums of their squares have no float64 number."""
    largest = float(np.abs(diagonal).max(initial=0.0))
    if largest and not least <= largest <= _SQUARES[1]:
        raise ValueError(
            f"The largest kernel value k(x, x) is {largest:.1e}. This method computes squares of kernel values, so it "
            f"must be between {_SQUARES[0]:.0e} and {_SQUARES[1]:.0e}. Scale the rows, for example with "
            "sklearn.preprocessing.StandardScaler."
        )
