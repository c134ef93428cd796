"""Kernel matrices that the user computed: as a source of kernel values, and centred in place."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray, check_kernel_values
from mercer.kernels.threads import row_slices


class GivenKernel:
    """A matrix as a source, visited in strips of whole rows; it is not copied."""

    threads = 1

    def __init__(self, K: Array, dtype: Any = None) -> None:  # (n, n)
        self.K = K
        self.shape = (K.shape[0], K.shape[1])
        self.dtype = K.dtype if dtype is None else np.dtype(dtype)  # precision in which the values were computed

    @classmethod
    def averaged(cls, K: Array) -> "GivenKernel":
        """Return the average of a matrix and its transpose as a source, in float64."""
        return cls(np.asarray(0.5 * (K + K.T), np.float64), K.dtype)

    def for_each_tile(self, work: Callable[[int, slice, slice, Array], None]) -> None:
        """Call work(0, rows, all columns, strip)."""
        for rows in row_slices(self.shape[0], self.shape[1] * self.K.itemsize):
            work(0, rows, slice(0, self.shape[1]), self.K[rows])

    def product(self, V: Array) -> Array:
        """Return K V in float64, computed in the precision of K."""
        return np.asarray(self.K @ V.astype(self.K.dtype, copy=False), np.float64)

    def product_with(self, V: Array, w: Array) -> tuple[Array, Array]:
        """Return K V and K w."""
        both = self.product(np.column_stack([V, w]))
        return both[:, :-1], both[:, -1]

    def columns(self, indices: IntArray) -> Array:
        """Return K[:, indices]."""
        return self.K[:, indices]

    def dense(self) -> Array:
        """Return a copy of the matrix in float64."""
        return self.K.astype(np.float64)


class GivenOperator:
    """K' of a matrix that the user computed, centred explicitly and in place.

    Centring subtracts row and column means separately, as scikit-learn does, so that a matrix which is only symmetric
    after centring is accepted. What asymmetry is left afterwards is averaged out. `CentredOperator` would need a
    symmetric matrix, and for that a copy.
    """

    def __init__(self, K: Array, center: bool = True) -> None:  # (n, n), overwritten
        n = len(K)
        self.weights = np.full(n, 1.0 / n)
        self.center = center
        self.largest_entry = float(np.abs(np.diag(K).astype(np.float64)).max(initial=0.0))
        self.row_means = check_kernel_values(K.mean(axis=0, dtype=np.float64))
        self.mean_norm = float(self.row_means.mean())
        if center:
            other_means = K.mean(axis=1, dtype=np.float64)
            K -= self.row_means.astype(K.dtype)
            K -= other_means[:, None].astype(K.dtype)
            K += K.dtype.type(self.mean_norm)
        else:
            self.row_means, self.mean_norm = np.zeros(n), 0.0
        self.source = GivenKernel(K)  # of K', not of K
        self.dtype = K.dtype
        self.shape = (n, n)
        self.asymmetry = _symmetrise(K)
        self.trace = float(np.trace(K, dtype=np.float64))

    def matmul(self, V: Array) -> Array:
        """Return K' V."""
        return self.source.product(V)

    def diagonal(self) -> Array:
        """Return the diagonal of K', the squared distances from the mean."""
        return np.diag(self.source.K).astype(np.float64)

    def dense(self) -> Array:
        """Return a copy of K' in float64."""
        return self.source.dense()

    @cached_property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K'."""
        return float(np.linalg.norm(self.source.K))


def _symmetrise(K: Array) -> float:
    """Average K with its transpose where they differ by more than rounding; return the relative difference."""
    largest = float(np.abs(K).max(initial=0.0))
    difference = max((float(np.abs(K[i] - K[:, i]).max()) for i in range(len(K))), default=0.0)
    relative = difference / largest if largest else 0.0
    if relative > 1e3 * np.finfo(K.dtype).eps:
        K += K.T.copy()
        K *= 0.5
    return relative
