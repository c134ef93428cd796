"""What a kernel is: a small frozen object that prepares rows once and fills blocks of k(x, y).

`prepare` does the work that depends on one row only (shift, scale, norm), so that a tile needs one matrix product and
one pass. `block` fills a given array: large blocks are allocated in `tiles`, not by kernels.
"""

from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array, Points, is_sparse


class Kernel:
    """A symmetric function of two rows; the base class of all kernels.

    A subclass defines `block` and `diagonal`, and `prepare` where some of the work depends on single rows only. An
    instance can be passed to every estimator as `kernel`.

    Attributes
    ----------
    name : str
        The name by which messages refer to the kernel.
    unit_diagonal : bool
        Whether k(x, x) = 1 for every row.
    inner_product : bool
        Whether k(x, y) is the inner product of what `prepare` returns for the two rows.
    non_negative : bool
        Whether rows must have no negative numbers.
    positive : bool
        Whether every kernel matrix is positive semi-definite.

    See Also
    --------
    RBF : The Gaussian kernel.
    Precomputed : Kernel values that exist already.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> kernel = mercer.kernels.RBF(gamma=0.5)
    >>> isinstance(kernel, mercer.kernels.Kernel)
    True
    >>> kernel(np.eye(2)).shape
    (2, 2)
    >>> model = mercer.KernelPCA(1, kernel=kernel).fit(np.eye(3))
    """

    name: ClassVar[str] = "kernel"
    unit_diagonal: ClassVar[bool] = False
    inner_product: ClassVar[bool] = False
    non_negative: ClassVar[bool] = False

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semi-definite, as far as is known."""
        return self.inner_product

    def bind(self, n_features: int) -> "Kernel":
        """Return the kernel with everything fixed that depends on the number of features.

        Parameters
        ----------
        n_features : int
            The number of features of the rows.

        Returns
        -------
        Kernel
            The kernel for such rows; the same object where nothing depends on their length.
        """
        return self

    def origin(self, points: Points) -> Array | None:
        """Return a point to subtract from all rows: the kernel values stay the same, but their rounding errors become
        smaller.

        Parameters
        ----------
        points : ndarray or sparse matrix of shape (n_points, n_features)
            The rows that are compared with others.

        Returns
        -------
        ndarray of shape (n_features,) or None
            The point. None: nothing is subtracted, as for this base class.
        """
        return None

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Do the work that depends on single rows.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.
        dtype : dtype
            The precision of the kernel values.
        origin : ndarray of shape (n_features,) or None, default=None
            A point of `origin`. None: nothing is subtracted.

        Returns
        -------
        object
            The prepared rows for `block`. They can be sliced by rows.
        """
        return X.astype(dtype, copy=False)

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write k(a, b) for all prepared rows a of A and b of B into `out`.

        Parameters
        ----------
        A : object
            Rows that `prepare` returned.
        B : object
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        raise NotImplementedError(_missing(self, "block(A, B, out)", "writes the kernel values into `out`"))

    def diagonal(self, X: Points) -> Array:
        """Return k(x, x) for every row.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        raise NotImplementedError(_missing(self, "diagonal(X)", "returns k(x, x) for every row"))

    def __call__(self, X: Points, Y: Points | None = None) -> Array:
        """Return the whole kernel matrix; for more than a few thousand rows use an estimator, which works in tiles.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : ndarray, sparse matrix of shape (n_others, n_features) or None, default=None
            Other rows. None: X.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
            The values k(x, y).
        """
        others = X if Y is None else Y
        dtype = np.result_type(X.dtype, others.dtype, np.float32)
        origin = self.origin(others)
        out = np.empty((X.shape[0], others.shape[0]), dtype)
        self.block(self.prepare(X, dtype, origin), self.prepare(others, dtype, origin), out)
        if Y is None and self.unit_diagonal:
            np.fill_diagonal(out, 1.0)
        return out


def dot_into(A: Any, B: Any, out: Array) -> None:
    """Write the inner products of all rows of A with all rows of B."""
    if is_sparse(A) or is_sparse(B):
        product = A @ B.T
        out[...] = product.toarray() if is_sparse(product) else product
    elif out.flags.c_contiguous:
        np.dot(A, B.T, out=out)
    else:
        out[...] = A @ B.T


def squared_norms(X: Points) -> Array:
    """Return the squared norm of every row, in float64."""
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).multiply(X).sum(axis=1)).ravel()
    squares: Array = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return squares


def _missing(kernel: Kernel, method: str, purpose: str) -> str:
    """Return the text of the error for a kernel class that lacks a method."""
    return f"The kernel {type(kernel).__name__} needs a method {method}, which {purpose}."
