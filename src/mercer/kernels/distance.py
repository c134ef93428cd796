"""Kernels of the distance between two rows: Gaussian, Laplacian, chi-squared."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import pairwise

from mercer.arrays import Array, Points, is_sparse
from mercer.kernels.base import Kernel, dot_into, squared_norms
from mercer.kernels.precision import exponent_dtype

_ORIGIN_ROWS = 256  # rows whose median is the origin
_FAR = 1e7  # half squared norms above which a difference of them has an error above about 1e-8
_VERY_FAR = 1e16  # above it the error is so large that even a kernel value of zero can be wrong
_CELLS_AT_ONCE = 2**20  # of differences between rows


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
    """The Gaussian kernel ``k(x, y) = exp(-gamma |x - y|^2)``.

    In terms of the standard deviation sigma of the Gaussian, gamma = 1 / (2 sigma^2).

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the squared distance.

    See Also
    --------
    Laplacian : The same with the sum of absolute differences.
    mercer.KernelPCA : Exact kernel PCA of rows in memory.

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

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semi-definite."""
        return True

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
            half = 0.5 * squared_norms(rows)
        if exponent_dtype(half, half, dtype) != dtype:
            rows = self._scaled(X, np.float64, origin)
            with np.errstate(over="ignore"):
                half = 0.5 * squared_norms(rows)
        if not np.isfinite(half).all():
            reach = max(float(abs(X).max()), 0.0 if origin is None else float(np.abs(origin).max()))
            raise ValueError(
                f"The squared distances overflow: the data reach {reach:.3g} with gamma={self.gamma:.3g}. "
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
        self._write(A, B, out)
        _write_far_pairs(A, B, out)

    def _write(self, A: RbfRows, B: RbfRows, out: Array) -> None:
        """Write the Gaussians of exponents that are inner products less half norms."""
        from mercer.kernels.rbf import exponential, rbf_block  # compiled: loaded on first use

        if is_sparse(A.rows) or is_sparse(B.rows):
            exponents = np.empty(out.shape, exponent_dtype(A.half, B.half, out.dtype))
            dot_into(A.rows, B.rows, exponents)
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


def _write_far_pairs(A: RbfRows, B: RbfRows, out: Array) -> None:
    """Write the Gaussians of two rows that are near each other but far from the origin again, from their difference."""
    if min(A.half.max(initial=0.0), B.half.max(initial=0.0)) <= _FAR:
        return
    from mercer.kernels.rbf import exponential  # compiled: loaded on first use

    rows, columns = np.flatnonzero(A.half > _FAR), np.flatnonzero(B.half > _FAR)
    uncertain = out[np.ix_(rows, columns)] > 0
    uncertain |= (A.half[rows] > _VERY_FAR)[:, None] & (B.half[columns] > _VERY_FAR)
    I, J = np.nonzero(uncertain)
    at_once = max(1, _CELLS_AT_ONCE // A.rows.shape[1])
    for first in range(0, len(I), at_once):
        i, j = rows[I[first : first + at_once]], columns[J[first : first + at_once]]
        difference = _dense(A.rows[i]) - _dense(B.rows[j])
        with np.errstate(over="ignore"):  # of an infinite distance the Gaussian is zero
            out[i, j] = exponential(-0.5 * squared_norms(difference))


def _dense(rows: Any) -> Array:
    """Return some rows as an ordinary array."""
    return np.asarray(rows.toarray() if is_sparse(rows) else rows)


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
    """The Laplacian kernel ``k(x, y) = exp(-gamma |x - y|_1)``.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the sum of absolute differences.

    See Also
    --------
    RBF : The Gaussian kernel.
    Chi2 : A kernel for histograms.

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

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semi-definite."""
        return True

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
    """The chi-squared kernel ``k(x, y) = exp(-gamma sum (x - y)^2 / (x + y))``.

    It is for rows of non-negative numbers, such as histograms.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor of the chi-squared distance.

    See Also
    --------
    RBF : The Gaussian kernel.
    Laplacian : The same with the sum of absolute differences.

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
    non_negative: ClassVar[bool] = True
    gamma: float = 1.0

    @property
    def positive(self) -> bool:
        """Whether every kernel matrix is positive semi-definite."""
        return True

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
