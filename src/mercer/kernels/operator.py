"""The centred kernel matrix K' as an operator: products, columns, diagonal, trace, norm, without holding it.

With weights w (sum 1) the mean in feature space is sum_i w_i phi(x_i), and K' = (I - 1 w^T) K (I - w 1^T)
[guenter2006, eq. 5; chin2007, eq. 4]. An optional row scaling s turns it into diag(s) K' diag(s). Sums are float64
in any precision of the tiles.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mercer.arrays import Array, IntArray, check_kernel_values
from mercer.kernels.threads import row_slices, run_in_threads

_STRIP_BYTES = 2**19  # of a whole matrix that is centred: they stay in the cache between the steps
_ONE_THREAD_ROWS = 1000  # up to so many rows one thread centres a matrix as fast as several


class KernelSource(Protocol):
    """What the operator needs of an uncentred kernel matrix."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]  # precision of the kernel values; products are float64 in any case
    threads: int  # workers that visit tiles

    def for_each_tile(self, work: Callable[[int, slice, slice, Array], None]) -> None:
        """Call work(worker, rows, columns, tile) for all tiles; those right of the diagonal stand for both halves."""

    def product(self, V: Array) -> Array:
        """Return K V, (n, b), float64."""

    def product_with(self, V: Array, w: Array) -> tuple[Array, Array]:
        """Return K V and K w, the latter with all of float64's precision in its sums."""

    def columns(self, indices: IntArray) -> Array:
        """Return K[:, indices]."""

    def dense(self) -> Array:
        """Return the whole matrix as a new array."""


class Operator(Protocol):
    """What solvers need of a centred kernel matrix."""

    weights: Array
    center: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the precision of the kernel values."""

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, n)."""

    @property
    def row_means(self) -> Array:
        """Return K w."""

    @property
    def mean_norm(self) -> float:
        """Return w^T K w."""

    @property
    def trace(self) -> float:
        """Return the trace of K'."""

    @property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K'."""

    @property
    def largest_entry(self) -> float:
        """Return max |k(x, x)|, the scale against which rounding counts."""

    def matmul(self, V: Array) -> Array:
        """Return K' V."""

    def diagonal(self) -> Array:
        """Return the diagonal of K'."""

    def dense(self) -> Array:
        """Return K' as a float64 matrix that the caller may overwrite."""


class _CentredMatrix:
    """diag(s) (K - m 1^T - 1 m^T + |mean|^2) diag(s), m the inner products of all rows with the mean: entries of K'."""

    def __init__(self, source: KernelSource, scale: Array | None = None, center: bool = True) -> None:
        self.source = source
        self.center = center
        self._scale = scale

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, n)."""
        return self.source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the precision of the kernel values."""
        return self.source.dtype

    @property
    def row_means(self) -> Array:
        """Return m, the inner products of all rows with the mean."""
        raise NotImplementedError

    @property
    def mean_norm(self) -> float:
        """Return the squared norm of the mean."""
        raise NotImplementedError

    def _centre(self, block: Array, I: slice | IntArray, J: slice | IntArray) -> None:
        """Turn K[I, J] in float64 into K'[I, J], in place."""
        if self.center:
            block -= self.row_means[I, None]
            block -= self.row_means[J]
            block += self.mean_norm
        if self._scale is not None:
            block *= self._scale[I, None]
            block *= self._scale[J]

    def _centre_all(self, K: Array) -> None:
        """Turn the whole of K in float64 into K', in place."""
        n = len(K)
        threads = self.source.threads if n > _ONE_THREAD_ROWS else 1
        strips = row_slices(n, 8 * n, _STRIP_BYTES)
        run_in_threads(lambda _, rows: self._centre(K[rows], rows, slice(None)), strips, threads)

    def columns(self, indices: IntArray) -> Array:
        """Return K'[:, indices] in float64, (n, len(indices))."""
        columns = self.source.columns(indices).astype(np.float64)
        self._centre(columns, slice(None), indices)
        return columns

    def dense(self) -> Array:
        """Return K' as a float64 matrix, centred in place; for dense solvers and small problems."""
        K = self.source.dense().astype(np.float64, copy=False)
        self._centre_all(K)
        return K

    def for_each_tile(self, work: Callable[[int, slice, slice, Array], None]) -> None:
        """Call work(worker, rows, columns, tile) for tiles of K' in float64, which the call may overwrite."""

        def centred(worker: int, I: slice, J: slice, tile: Array) -> None:
            tile = tile.astype(np.float64)
            self._centre(tile, I, J)
            work(worker, I, J, tile)

        self.source.for_each_tile(centred)

    def distance(self, Y: Array) -> float:
        """Return || K' - Y Y^T ||_F, summed over centred tiles (no cancellation); Y is (n, r)."""
        sums = np.zeros(self.source.threads)

        def work(worker: int, I: slice, J: slice, rest: Array) -> None:
            rest -= Y[I] @ Y[J].T
            mirrored = J.start >= I.stop  # an upper tile stands for the lower one too
            sums[worker] += (2.0 if mirrored else 1.0) * np.einsum("ij,ij->", rest, rest)

        self.for_each_tile(work)
        return float(np.sqrt(sums.sum()))

    @cached_property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K'."""
        return self.distance(np.empty((self.shape[0], 0)))


class OperatorAroundMean(_CentredMatrix):
    """K' of rows around any mean, such as that of a model which was fitted on other rows."""

    def __init__(self, source: KernelSource, row_means: Array, mean_norm: float) -> None:
        super().__init__(source)
        self._row_means, self._mean_norm = row_means, mean_norm

    @property
    def row_means(self) -> Array:
        """Return the inner products of all rows with the mean, (n,)."""
        return self._row_means

    @property
    def mean_norm(self) -> float:
        """Return the squared norm of the mean."""
        return self._mean_norm

    def matmul(self, V: Array) -> Array:
        """Return K' V; the mean need not be one of these rows, so that V cannot be centred instead."""
        sums = V.sum(axis=0)
        product = self.source.product(V) - np.outer(self.row_means, sums)
        return np.asarray(product - self.row_means @ V + self.mean_norm * sums)


class CentredOperator(_CentredMatrix):
    """diag(s) (I - 1 w^T) K (I - w 1^T) diag(s), or without the centring."""

    def __init__(
        self,
        source: KernelSource,
        diagonal: Array,  # (n,), k(x_i, x_i)
        *,
        weights: Array | None = None,  # (n,), sum 1; None: all equal
        scale: Array | None = None,  # (n,)
        center: bool = True,
        row_means: Array | None = None,  # (n,), K w where it is known
    ) -> None:
        super().__init__(source, scale, center)
        self._raw_diagonal = diagonal
        self._means: Array | None = row_means if center else np.zeros(len(diagonal))
        n = len(diagonal)
        self.weights = np.full(n, 1.0 / n) if weights is None else weights
        self._equal_weights = weights is None or bool((weights == 1.0 / n).all())

    @property
    def largest_entry(self) -> float:
        """Return max s^2 |k(x, x)|, the scale against which rounding counts; rows that are scaled to zero do not."""
        own = np.abs(self._raw_diagonal)
        return float((own if self._scale is None else own * self._scale**2).max(initial=0.0))

    def matmul(self, V: Array) -> Array:
        """Return K' V for V of shape (n, b), in float64."""
        V = V if self._scale is None else self._scale[:, None] * V
        if self.center:
            V = V - np.outer(self.weights, V.sum(axis=0))
        product = self._product_and_means(V)
        if self.center:
            product -= self.weights @ product
        if self._scale is not None:
            product *= self._scale[:, None]
        return product

    def _product_and_means(self, V: Array) -> Array:
        """Return K V; the first call also computes K w, which then needs no pass of its own."""
        if self._means is not None:
            product = self.source.product(V)
            return product if self.center else check_kernel_values(product)
        product, means = self.source.product_with(V, self.weights)
        self._means = check_kernel_values(means)
        return product

    @property
    def row_means(self) -> Array:
        """Return K w, the inner products of all points with the mean (zeros without centring)."""
        if self._means is None:
            self._means = check_kernel_values(self.source.product_with(np.empty((self.shape[0], 0)), self.weights)[1])
        return self._means

    @property
    def mean_norm(self) -> float:
        """Return w^T K w, the squared norm of the mean (0 without centring)."""
        return float(self._mean(self.row_means))

    def _mean(self, values: Array) -> Array:
        """Return the weighted mean over the last axis; where all values are equal, it is that value exactly."""
        return np.asarray(values.mean(axis=-1) if self._equal_weights else values @ self.weights)

    def diagonal(self) -> Array:
        """Return the diagonal of K', the squared distances from the mean."""
        centred = self._raw_diagonal - 2.0 * self.row_means + self.mean_norm
        return centred if self._scale is None else centred * self._scale**2

    @cached_property
    def trace(self) -> float:
        """Return the sum of the diagonal, the total variation."""
        return float(self.diagonal().sum())

    def dense(self) -> Array:
        """Return K' as a float64 matrix, centred in place; for dense solvers and small problems."""
        K = self.source.dense().astype(np.float64, copy=False)
        means = check_kernel_values(self._mean(K))
        if self._means is None:
            self._means = means
        self._centre_all(K)
        return K
