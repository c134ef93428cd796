"""Kernels that users bring along: a matrix of kernel values, a function of two rows, or one of two matrices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from mercer.arrays import Array, Points, is_sparse
from mercer.kernels.base import Kernel


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel whose values are given: a row holds k(x, every training point), and points are column numbers.

    See Also
    --------
    Kernel : The base class of all kernels.
    mercer.KernelPCA : Exact kernel PCA of rows in memory.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> model = mercer.KernelPCA(1, kernel="precomputed").fit(X @ X.T)
    >>> model.expansion_.kernel
    Precomputed()
    """

    name: ClassVar[str] = "precomputed"

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Convert rows of kernel values to the precision; leave column numbers as they are.

        Parameters
        ----------
        X : ndarray or sparse matrix
            Rows of kernel values, (n_samples, n_points), or column numbers, (n_points,).
        dtype : dtype
            The precision of the kernel values.
        origin : ndarray or None, default=None
            Not used.

        Returns
        -------
        ndarray or sparse matrix
            The rows or the column numbers.
        """
        return X if X.ndim == 1 else X.astype(dtype, copy=False)

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the columns B of the rows A into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix of shape (n_rows_of_A, n_points)
            Rows of kernel values.
        B : ndarray of int
            Column numbers.
        out : ndarray of shape (n_rows_of_A, len(B))
            The array to write to.
        """
        columns = A[:, B]
        out[...] = columns.toarray() if sp.issparse(columns) else columns

    def diagonal(self, X: Points) -> Array:
        """Fail: k(x, x) of a new row is not among its kernel values.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_points)
            Rows of kernel values.

        Raises
        ------
        ValueError
            In every case.
        """
        raise ValueError(
            "With kernel='precomputed' k(x, x) of new rows is not known. Pass the kernel itself instead of its matrix, "
            "or these values to `reconstruction_error` as `diagonal`."
        )


@dataclass(frozen=True)
class PairFunction(Kernel):
    """A user's function of two rows that returns a number."""

    name: ClassVar[str] = "callable"
    function: Callable[..., float]
    params: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Return the rows as they are: the function gets what the user passed."""
        return X

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Call the function for every pair of rows."""
        rows, columns = _row_list(A), _row_list(B)
        for i, x in enumerate(rows):
            for j, y in enumerate(columns):
                out[i, j] = self.function(x, y, **self.params)

    def diagonal(self, X: Points) -> Array:
        """Call the function on every row with itself."""
        return np.array([float(self.function(x, x, **self.params)) for x in _row_list(X)])


@dataclass(frozen=True)
class MatrixFunction(Kernel):
    """A user's function of two matrices that returns the matrix of kernel values."""

    name: ClassVar[str] = "callable"
    function: Callable[..., Array]
    params: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Return the rows as they are: the function gets what the user passed."""
        return X

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Call the function once."""
        out[...] = self.function(A, B, **self.params)

    def diagonal(self, X: Points) -> Array:
        """Call the function on slices of one row each."""
        values = [
            float(np.asarray(self.function(X[i : i + 1], X[i : i + 1], **self.params))[0, 0]) for i in range(X.shape[0])
        ]
        return np.array(values)


def _row_list(X: Points) -> list[Any]:
    """Return the rows one by one, as scikit-learn passes them to a callable: sparse ones as 1 x d matrices."""
    return [X[[i], :] for i in range(X.shape[0])] if is_sparse(X) else list(X)
