"""Kernel functions: each a small frozen object that prepares rows once and fills blocks of k(x, y).

`prepare` does what depends on one row only (shift, scale, norm), so that a tile costs one matrix product and one
pass. `block` fills a given array: this module allocates no large blocks, `tiles` does.
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
    """A positive (or at least symmetric) function of two rows."""

    name: ClassVar[str] = "kernel"
    unit_diagonal: ClassVar[bool] = False

    def bind(self, n_features: int) -> "Kernel":
        """Return the kernel with whatever depends on the number of features fixed."""
        return self

    def origin(self, points: Points) -> Array | None:
        """Return a point to subtract from all rows where that leaves the kernel unchanged but helps rounding."""
        return None

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Do the work that depends on single rows; the result is sliced by rows and given to `block`."""
        return X.astype(dtype, copy=False)

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write k(a, b) for all prepared rows a of A and b of B into `out`."""
        raise NotImplementedError

    def diagonal(self, X: Points) -> Array:
        """Return k(x, x) for every row, in float64."""
        raise NotImplementedError

    def __call__(self, X: Points, Y: Points | None = None) -> Array:
        """Return the whole matrix k(X, Y); for more than a few thousand rows use `mercer.kernels.tiles`."""
        Y = X if Y is None else Y
        dtype = np.result_type(X.dtype, Y.dtype, np.float32)
        origin = self.origin(Y)
        out = np.empty((X.shape[0], Y.shape[0]), dtype)
        self.block(self.prepare(X, dtype, origin), self.prepare(Y, dtype, origin), out)
        return out


def _dot_into(A: Any, B: Any, out: Array) -> None:
    if is_sparse(A) or is_sparse(B):
        product = A @ B.T
        out[...] = product.toarray() if is_sparse(product) else product
    elif out.flags.c_contiguous:
        np.dot(A, B.T, out=out)
    else:
        out[...] = A @ B.T


def _squared_norms(X: Points) -> Array:
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).multiply(X).sum(axis=1)).ravel()
    squares: Array = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    return squares


def _power_in_place(base: Array, degree: float) -> None:
    """Raise to the power in place; small whole degrees by products, which is several times faster."""
    if degree in (2.0, 3.0):
        original = base.copy() if degree == 3.0 else base
        np.multiply(base, original, out=base)
        if degree == 3.0:
            np.multiply(base, original, out=base)
    else:
        np.power(base, degree, out=base)


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, y) = x . y; kernel PCA with it is PCA."""

    name: ClassVar[str] = "linear"

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products."""
        _dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return the squared norms."""
        return _squared_norms(X)

    def features(self, X: Points) -> Points:
        """Return the feature map itself, here the identity."""
        return X

    def inverse_features(self, F: Array) -> Array:
        """Return the rows whose features these are."""
        return F


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, y) = (gamma x . y + coef0) ** degree."""

    name: ClassVar[str] = "poly"
    gamma: float = 1.0
    coef0: float = 1.0
    degree: float = 3.0

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the powers of the shifted inner products."""
        _dot_into(A, B, out)
        out *= self.gamma
        out += self.coef0
        _power_in_place(out, self.degree)

    def diagonal(self, X: Points) -> Array:
        """Return the powers of the shifted squared norms."""
        values: Array = (self.gamma * _squared_norms(X) + self.coef0) ** self.degree
        return values


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, y) = tanh(gamma x . y + coef0); indefinite for many parameters."""

    name: ClassVar[str] = "sigmoid"
    gamma: float = 1.0
    coef0: float = 1.0

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the squashed inner products."""
        _dot_into(A, B, out)
        out *= self.gamma
        out += self.coef0
        np.tanh(out, out=out)

    def diagonal(self, X: Points) -> Array:
        """Return the squashed squared norms."""
        values: Array = np.tanh(self.gamma * _squared_norms(X) + self.coef0)
        return values


@dataclass(frozen=True)
class Cosine(Kernel):
    """k(x, y) = x . y / (|x| |y|), and 0 where a row is zero."""

    name: ClassVar[str] = "cosine"

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Scale every row to length one."""
        # first by the largest entry: the squares of huge or tiny entries would leave the range of the number format
        return normalize(normalize(X.astype(dtype, copy=False), norm="max"))

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of the scaled rows."""
        _dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return one for every row that is not zero."""
        largest = abs(X).max(axis=1).toarray().ravel() if is_sparse(X) else np.abs(X).max(axis=1)
        return np.asarray(largest > 0, np.float64)


@dataclass(frozen=True)
class RbfRows:
    """Rows scaled by sqrt(2 gamma), with half their squared norms.

    Long rows are in float64 whatever the tiles are, because their inner products cancel.
    """

    rows: Any  # (n, d) dense or CSR
    half: Array  # (n,), float64

    def __getitem__(self, key: Any) -> "RbfRows":
        return RbfRows(self.rows[key], self.half[key])


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, y) = exp(-gamma |x - y|^2), the Gaussian kernel; gamma = 1 / (2 sigma^2)."""

    name: ClassVar[str] = "rbf"
    unit_diagonal: ClassVar[bool] = True
    gamma: float = 1.0

    def origin(self, points: Points) -> Array | None:
        """Return a central point: distances do not change, the rounding of their inner products does.

        The median of some rows, because one far row would pull the mean away from all others.
        """
        if is_sparse(points) or len(points) == 0:
            return None
        some = points[:: -(-len(points) // _ORIGIN_ROWS)]
        center: Array = np.median(some.astype(np.float64, copy=False), axis=0)
        return center

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> RbfRows:
        """Shift by the origin, scale, and keep half the squared norms."""
        if is_sparse(X) and origin is not None:
            X = X.toarray()  # a shifted row is not sparse; callers pass a chunk at a time
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
        scale = np.asarray(np.sqrt(2.0 * self.gamma), dtype)
        if is_sparse(X):
            return X.astype(dtype) * scale
        rows = np.empty(X.shape, dtype)
        with np.errstate(over="ignore"):
            np.subtract(X, 0.0 if origin is None else origin, out=rows, casting="same_kind")
            rows *= scale
        return rows

    def block(self, A: RbfRows, B: RbfRows, out: Array) -> None:
        """Write the Gaussians, fused with the matrix product where the rows are dense."""
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
        """Return ones."""
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class _PairwiseKernel(Kernel):
    """A kernel whose blocks scikit-learn computes, from rows as they are: float32 would round differences away."""

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Return the rows in float64."""
        return X.astype(np.float64, copy=False)

    def _matrix(self, A: Any, B: Any) -> Array:
        raise NotImplementedError

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the kernel values."""
        out[...] = self._matrix(A, B)


@dataclass(frozen=True)
class Laplacian(_PairwiseKernel):
    """k(x, y) = exp(-gamma |x - y|_1)."""

    name: ClassVar[str] = "laplacian"
    unit_diagonal: ClassVar[bool] = True
    gamma: float = 1.0

    def _matrix(self, A: Any, B: Any) -> Array:
        distances: Array = pairwise.manhattan_distances(A, B)
        distances *= -self.gamma
        return np.exp(distances, out=distances)

    def diagonal(self, X: Points) -> Array:
        """Return ones."""
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Chi2(_PairwiseKernel):
    """k(x, y) = exp(-gamma sum (x - y)^2 / (x + y)) for rows of non-negative numbers, such as histograms."""

    name: ClassVar[str] = "chi2"
    unit_diagonal: ClassVar[bool] = True
    gamma: float = 1.0

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Check what the kernel needs: dense rows without negative numbers."""
        if is_sparse(X):
            raise TypeError(f"kernel={self.name!r} needs dense rows; a sparse matrix came. Call X.toarray() first.")
        if X.size and X.min() < 0:
            raise ValueError(
                f"Negative values in data: kernel={self.name!r} needs features from zero up, and the smallest is "
                f"{X.min():.3g}. Shift or scale them, for example with MinMaxScaler."
            )
        return X.astype(np.float64, copy=not X.flags.writeable)  # scikit-learn's loop refuses read-only memory

    def _matrix(self, A: Any, B: Any) -> Array:
        exponent: Array = pairwise.additive_chi2_kernel(A, B)
        exponent *= self.gamma
        return np.exp(exponent, out=exponent)

    def diagonal(self, X: Points) -> Array:
        """Return ones."""
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel values are given: a row holds k(x, every training point), points are column numbers."""

    name: ClassVar[str] = "precomputed"

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Leave column numbers as they are; cast rows of kernel values."""
        return X if X.ndim == 1 else X.astype(dtype, copy=False)

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the columns B of the rows A."""
        columns = A[:, B]
        out[...] = columns.toarray() if sp.issparse(columns) else columns

    def diagonal(self, X: Points) -> Array:
        """Fail: k(x, x) of a new row is not among its kernel values."""
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
        """Leave the rows as they are: the function shall see what the user passed."""
        return X

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Call the function for every pair."""
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
        """Leave the rows as they are: the function shall see what the user passed."""
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
    # scikit-learn hands sparse rows to a callable as 1 x d matrices, dense ones as vectors
    return [X[[i], :] for i in range(X.shape[0])] if is_sparse(X) else list(X)
