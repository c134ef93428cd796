"""Kernel functions: each is a small frozen object that prepares rows once and fills blocks of k(x, y).

`prepare` does the work that depends on one row only (shift, scale, norm), so that a tile needs one matrix product and
one pass. `block` fills a given array: large blocks are allocated in `tiles`, not in this module.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise
from sklearn.preprocessing import normalize

from mercer.arrays import Array, Points, is_sparse
from mercer.kernels.precision import exponent_dtype

_ORIGIN_ROWS = 256


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
        raise NotImplementedError

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
        raise NotImplementedError

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
        Y = X if Y is None else Y
        dtype = np.result_type(X.dtype, Y.dtype, np.float32)
        origin = self.origin(Y)
        out = np.empty((X.shape[0], Y.shape[0]), dtype)
        self.block(self.prepare(X, dtype, origin), self.prepare(Y, dtype, origin), out)
        return out


def _dot_into(A: Any, B: Any, out: Array) -> None:
    """Write the inner products of all rows of A with all rows of B."""
    if is_sparse(A) or is_sparse(B):
        product = A @ B.T
        out[...] = product.toarray() if is_sparse(product) else product
    elif out.flags.c_contiguous:
        np.dot(A, B.T, out=out)
    else:
        out[...] = A @ B.T


def _squared_norms(X: Points) -> Array:
    """Return the squared norm of every row, in float64."""
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).multiply(X).sum(axis=1)).ravel()
    squares: Array = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return squares


def _power_in_place(base: Array, degree: float) -> None:
    """Raise to the power in place; degrees 2 and 3 by products, which is several times faster."""
    if degree in (2.0, 3.0):
        original = base.copy() if degree == 3.0 else base
        np.multiply(base, original, out=base)
        if degree == 3.0:
            np.multiply(base, original, out=base)
    else:
        np.power(base, degree, out=base)


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel k(x, y) = x . y. Kernel PCA with it is PCA.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Linear()(X)
    array([[1., 1.],
           [1., 2.]])
    """

    name: ClassVar[str] = "linear"

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of all rows of A with all rows of B into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        _dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return the squared norm of every row.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        return _squared_norms(X)

    def features(self, X: Points) -> Points:
        """Return the rows in feature space, which for this kernel is the space of the rows.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray or sparse matrix of shape (n_samples, n_features)
            The same rows.
        """
        return X

    def inverse_features(self, F: Array) -> Array:
        """Return the rows whose features are given.

        Parameters
        ----------
        F : ndarray of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The same values.
        """
        return F


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel k(x, y) = (gamma x . y + coef0) ** degree.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the inner product.
    coef0 : float, default=1.0
        The constant term.
    degree : float, default=3.0
        The exponent.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Polynomial(degree=2.0)(X)
    array([[4., 4.],
           [4., 9.]])
    """

    name: ClassVar[str] = "poly"
    gamma: float = 1.0
    coef0: float = 1.0
    degree: float = 3.0

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the powers of the shifted inner products into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        _dot_into(A, B, out)
        out *= self.gamma
        out += self.coef0
        _power_in_place(out, self.degree)

    def diagonal(self, X: Points) -> Array:
        """Return the powers of the shifted squared norms.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        values: Array = (self.gamma * _squared_norms(X) + self.coef0) ** self.degree
        return values


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """The sigmoid kernel k(x, y) = tanh(gamma x . y + coef0). It is indefinite for many parameters.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the inner product.
    coef0 : float, default=1.0
        The constant term.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Sigmoid(coef0=0.0)(X).round(2)
    array([[0.76, 0.76],
           [0.76, 0.96]])
    """

    name: ClassVar[str] = "sigmoid"
    gamma: float = 1.0
    coef0: float = 1.0

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the hyperbolic tangents of the shifted inner products into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        _dot_into(A, B, out)
        out *= self.gamma
        out += self.coef0
        np.tanh(out, out=out)

    def diagonal(self, X: Points) -> Array:
        """Return the hyperbolic tangents of the shifted squared norms.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        values: Array = np.tanh(self.gamma * _squared_norms(X) + self.coef0)
        return values


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine kernel k(x, y) = x . y / (|x| |y|). It is 0 where a row is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Cosine()(X).round(2)
    array([[1.  , 0.71],
           [0.71, 1.  ]])
    """

    name: ClassVar[str] = "cosine"

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Scale every row to length one; the origin is not used.

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
        ndarray or sparse matrix
            The scaled rows.
        """
        # first by the largest entry: the squares of huge or tiny entries would overflow or underflow
        return normalize(normalize(X.astype(dtype, copy=False), norm="max"))

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of the scaled rows into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        _dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return 1 for every row that is not zero, and 0 for the others.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values, in float64.
        """
        largest = abs(X).max(axis=1).toarray().ravel() if is_sparse(X) else np.abs(X).max(axis=1)
        return np.asarray(largest > 0, np.float64)


@dataclass(frozen=True)
class RbfRows:
    """Rows scaled by sqrt(2 gamma), with half their squared norms.

    Long rows are in float64 in any precision of the tiles, because their inner products lose digits in differences.
    """

    rows: Any  # (n, d) dense or CSR
    half: Array  # (n,), float64

    def __getitem__(self, key: Any) -> "RbfRows":
        return RbfRows(self.rows[key], self.half[key])


@dataclass(frozen=True)
class RBF(Kernel):
    """The Gaussian kernel k(x, y) = exp(-gamma |x - y|^2).

    In terms of the standard deviation sigma of the Gaussian, gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the squared distance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.RBF(gamma=0.5)(X).round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """

    name: ClassVar[str] = "rbf"
    unit_diagonal: ClassVar[bool] = True
    gamma: float = 1.0

    def origin(self, points: Points) -> Array | None:
        """Return a central point: distances do not depend on it, but the rounding errors of inner products do.

        It is the median of some rows, because one far row would move the mean away from all others.

        Parameters
        ----------
        points : ndarray or sparse matrix of shape (n_points, n_features)
            The rows that are compared with others.

        Returns
        -------
        ndarray of shape (n_features,) or None
            The point. None: the rows are sparse, or there are none.
        """
        if is_sparse(points) or len(points) == 0:
            return None
        some = points[:: -(-len(points) // _ORIGIN_ROWS)]
        center: Array = np.median(some.astype(np.float64, copy=False), axis=0)
        return center

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> RbfRows:
        """Subtract the origin, scale, and keep half the squared norms.

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
        RbfRows
            The scaled rows with half their squared norms.

        Raises
        ------
        ValueError
            If squared distances overflow.
        """
        if is_sparse(X) and origin is not None:
            X = X.toarray()  # a shifted row is not sparse; callers pass one chunk at a time
        rows = self._scaled(X, dtype, origin)
        with np.errstate(over="ignore"):
            half = 0.5 * _squared_norms(rows)
        if exponent_dtype(half, half, dtype) != dtype:
            rows = self._scaled(X, np.float64, origin)
            with np.errstate(over="ignore"):
                half = 0.5 * _squared_norms(rows)
        if not np.isfinite(half).all():
            raise ValueError(
                f"The squared distances overflow: the data reach {abs(X).max():.3g} with gamma={self.gamma:.3g}. "
                "Rescale the features, for example with StandardScaler."
            )
        return RbfRows(rows, half)

    def _scaled(self, X: Points, dtype: Any, origin: Array | None) -> Any:
        """Return the rows less the origin, times sqrt(2 gamma)."""
        scale = np.asarray(np.sqrt(2.0 * self.gamma), dtype)
        if is_sparse(X):
            return X.astype(dtype) * scale
        rows = np.empty(X.shape, dtype)
        with np.errstate(over="ignore"):
            np.subtract(X, 0.0 if origin is None else origin, out=rows, casting="same_kind")
            rows *= scale
        return rows

    def block(self, A: RbfRows, B: RbfRows, out: Array) -> None:
        """Write the Gaussians into `out`, in one step with the matrix product where the rows are dense.

        Parameters
        ----------
        A : RbfRows
            Rows that `prepare` returned.
        B : RbfRows
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        from mercer.kernels.rbf import exponential, rbf_block  # compiled: loaded on first use

        if is_sparse(A.rows) or is_sparse(B.rows):
            exponents = np.empty(out.shape, exponent_dtype(A.half, B.half, out.dtype))
            _dot_into(A.rows, B.rows, exponents)
            exponents -= A.half[:, None]
            exponents -= B.half
            out[...] = exponential(np.minimum(exponents, 0))
        elif out.flags.c_contiguous:
            rbf_block(A.rows, A.half, B.rows, B.half, out)
        else:
            whole = np.empty(out.shape, out.dtype)
            rbf_block(A.rows, A.half, B.rows, B.half, whole)
            out[...] = whole

    def diagonal(self, X: Points) -> Array:
        """Return ones.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ones.
        """
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class _PairwiseKernel(Kernel):
    """A kernel whose blocks scikit-learn computes in float64, because float32 would lose small differences of rows."""

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Return the rows in float64; the origin is not used.

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
        ndarray or sparse matrix
            The rows.
        """
        return X.astype(np.float64, copy=False)

    def _matrix(self, A: Any, B: Any) -> Array:
        """Return the kernel values of all pairs of rows."""
        raise NotImplementedError

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the kernel values of all pairs of rows into `out`.

        Parameters
        ----------
        A : ndarray or sparse matrix
            Rows that `prepare` returned.
        B : ndarray or sparse matrix
            Rows that `prepare` returned.
        out : ndarray of shape (n_rows_of_A, n_rows_of_B)
            The array to write to.
        """
        out[...] = self._matrix(A, B)


@dataclass(frozen=True)
class Laplacian(_PairwiseKernel):
    """The Laplacian kernel k(x, y) = exp(-gamma |x - y|_1).

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the sum of absolute differences.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Laplacian(gamma=0.5)(X).round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """

    name: ClassVar[str] = "laplacian"
    unit_diagonal: ClassVar[bool] = True
    gamma: float = 1.0

    def _matrix(self, A: Any, B: Any) -> Array:
        """Return the kernel values of all pairs of rows."""
        distances: Array = pairwise.manhattan_distances(A, B)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def diagonal(self, X: Points) -> Array:
        """Return ones.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ones.
        """
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Chi2(_PairwiseKernel):
    """The chi-squared kernel k(x, y) = exp(-gamma sum (x - y)^2 / (x + y)).

    It is for rows of non-negative numbers, such as histograms.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the chi-squared distance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> kernels.Chi2(gamma=0.5)(X).round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """

    name: ClassVar[str] = "chi2"
    unit_diagonal: ClassVar[bool] = True
    gamma: float = 1.0

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Return the rows in float64, after a check that they are dense and not negative; the origin is not used.

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
        ndarray
            The rows.

        Raises
        ------
        TypeError
            If the rows are sparse.
        ValueError
            If a value is negative.
        """
        if is_sparse(X):
            raise TypeError(f"kernel={self.name!r} needs dense rows; got a sparse matrix. Call X.toarray() first.")
        if X.size and X.min() < 0:
            raise ValueError(
                f"Negative values in data: kernel={self.name!r} needs features from zero up, and the smallest is "
                f"{X.min():.3g}. Shift or scale them, for example with MinMaxScaler."
            )
        return X.astype(np.float64, copy=not X.flags.writeable)  # scikit-learn's loop refuses read-only memory

    def _matrix(self, A: Any, B: Any) -> Array:
        """Return the kernel values of all pairs of rows."""
        exponent: Array = pairwise.additive_chi2_kernel(A, B)
        exponent *= self.gamma
        return np.exp(exponent, out=exponent)

    def diagonal(self, X: Points) -> Array:
        """Return ones.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Ones.
        """
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel whose values are given: a row holds k(x, every training point), and points are column numbers.

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
            "With kernel='precomputed' k(x, x) of new rows is not known. Pass the kernel itself instead of its matrix."
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
    # scikit-learn hands sparse rows to a callable as 1 x d matrices, dense ones as vectors
    return [X[[i], :] for i in range(X.shape[0])] if is_sparse(X) else list(X)
