"""The centred kernel matrix K' as an operator: products, columns, diagonal, trace, norm, without holding it.

With weights w (sum 1) the mean in feature space is sum_i w_i phi(x_i), and K' = (I - 1 w^T) K (I - w 1^T)
[guenter2006, eq. 5; chin2007, eq. 4]. An optional row scaling s turns it into diag(s) K' diag(s). Sums are float64
whatever the tiles are.
"""

from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mercer.arrays import Array, IntArray, check_kernel_values
from mercer.kernels.tiles import SymmetricTiles


class KernelSource(Protocol):
    """What the operator needs of an uncentred kernel matrix."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]  # precision of the kernel values; products are float64 in any case

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

    def dense(self) -> Array:
        """Return K' as a float64 matrix that the caller may overwrite."""


class CentredOperator:
    """diag(s) (I - 1 w^T) K (I - w 1^T) diag(s), or without the centring."""

    def __init__(
        self,
        source: KernelSource,
        diagonal: Array,  # (n,), k(x_i, x_i)
        *,
        weights: Array | None = None,  # (n,), sum 1; None: all equal
        scale: Array | None = None,  # (n,)
        center: bool = True,
    ) -> None:
        self.source = source
        self.center = center
        self._raw_diagonal = diagonal
        self._scale = scale
        self._means: Array | None = None if center else np.zeros(len(diagonal))
        n = len(diagonal)
        self.weights = np.full(n, 1.0 / n) if weights is None else weights

    @property
    def shape(self) -> tuple[int, int]:
        """Return (n, n)."""
        return self.source.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the precision of the kernel values."""
        return self.source.dtype

    @property
    def largest_entry(self) -> float:
        """Return max |k(x, x)|, the scale against which rounding counts."""
        return float(np.abs(self._raw_diagonal).max(initial=0.0))

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
        """Return K V; the first time K w comes along, so that it costs no pass of its own."""
        if self._means is not None:
            return self.source.product(V)
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
        return float(self.weights @ self.row_means)

    def columns(self, indices: IntArray) -> Array:
        """Return K'[:, indices] in float64, (n, len(indices))."""
        columns = self.source.columns(indices).astype(np.float64)
        columns -= self.row_means[:, None]
        columns -= self.row_means[indices]
        columns += self.mean_norm
        if self._scale is not None:
            columns *= self._scale[:, None] * self._scale[indices]
        return columns

    def diagonal(self) -> Array:
        """Return the diagonal of K', the squared distances from the mean."""
        centred = self._raw_diagonal - 2.0 * self.row_means + self.mean_norm
        return centred if self._scale is None else centred * self._scale**2

    @cached_property
    def trace(self) -> float:
        """Return the sum of the diagonal, the total variation."""
        return float(self.diagonal().sum())

    @cached_property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K', summed over centred tiles (no cancellation)."""
        if not isinstance(self.source, SymmetricTiles):
            return float(np.linalg.norm(self.dense()))
        means, scale = self.row_means, self._scale
        sums = np.zeros(self.source.threads)

        def work(worker: int, I: slice, J: slice, tile: Array) -> None:
            centred = tile.astype(np.float64) - means[I, None] - means[J] + self.mean_norm
            if scale is not None:
                centred *= scale[I, None] * scale[J]
            sums[worker] += (1.0 if I == J else 2.0) * np.einsum("ij,ij->", centred, centred)

        self.source.for_each_tile(work)
        return float(np.sqrt(sums.sum()))

    def dense(self) -> Array:
        """Return K' as a float64 matrix, centred in place; for dense solvers and small problems."""
        K = self.source.dense().astype(np.float64, copy=False)
        if self._means is None:
            self._means = check_kernel_values(K @ self.weights)
        if self.center:
            K -= self.row_means[:, None]
            K -= self.row_means
            K += self.mean_norm
        if self._scale is not None:
            K *= self._scale[:, None]
            K *= self._scale
        return K


class GivenOperator:
    """K' of a matrix that the user computed, centred explicitly and in place.

    Centring subtracts row and column means separately, as scikit-learn does, so that a matrix which is only symmetric
    after centring is accepted. What asymmetry is left afterwards is averaged out.
    """

    def __init__(self, K: Array, center: bool = True) -> None:  # (n, n), overwritten
        n = len(K)
        self.weights = np.full(n, 1.0 / n)
        self.center = center
        self._raw_diagonal = np.diag(K).astype(np.float64)
        self.row_means = check_kernel_values(K.mean(axis=0, dtype=np.float64))
        self.mean_norm = float(self.row_means.mean())
        if center:
            other_means = K.mean(axis=1, dtype=np.float64)
            K -= self.row_means.astype(K.dtype)
            K -= other_means[:, None].astype(K.dtype)
            K += K.dtype.type(self.mean_norm)
        else:
            self.row_means, self.mean_norm = np.zeros(n), 0.0
        self.K = K
        self.dtype = K.dtype
        self.shape = (n, n)
        self.largest_entry = float(np.abs(self._raw_diagonal).max(initial=0.0))
        self.asymmetry = _symmetrise(K)
        self.trace = float(np.trace(K, dtype=np.float64))

    def matmul(self, V: Array) -> Array:
        """Return K' V."""
        return np.asarray(self.K @ V.astype(self.K.dtype, copy=False), np.float64)

    def dense(self) -> Array:
        """Return a copy of K' in float64."""
        return self.K.astype(np.float64)

    @cached_property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K'."""
        return float(np.linalg.norm(self.K))


def _symmetrise(K: Array) -> float:
    """Average K with its transpose where they differ by more than rounding; return the relative difference."""
    largest = float(np.abs(K).max(initial=0.0))
    difference = max((float(np.abs(K[i] - K[:, i]).max()) for i in range(len(K))), default=0.0)
    relative = difference / largest if largest else 0.0
    if relative > 1e3 * np.finfo(K.dtype).eps:
        K += K.T.copy()
        K *= 0.5
    return relative
