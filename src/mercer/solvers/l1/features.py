"""K~ = Z Z^T of L1-norm kernel PCA by explicit features: no n x n matrix; each component removes one dimension."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.sign_features import drop_dimension
from mercer.engine.sign_rounding import TIE, Mask, first_largest, smallest_products
from mercer.kernels.threads import one_blas_thread, row_slices
from mercer.solvers.l1.screening import Screening, SumBounds

_COLUMNS = 256  # start candidates that are compared together
_PIECE_BYTES = 2**21  # bytes of absolute values that are summed together, so that they stay in the cache


class FeatureResidual:
    """K~ = s^2 Z Z^T by features Z, (n, d), whose largest entry is about 1: their fourth powers do not underflow."""

    def __init__(self, Z: Array, floor: float = 0.0, threads: int = 1) -> None:  # (n, d), float64, overwritten
        used = Z.any(axis=0)
        Z = np.ascontiguousarray(Z if used.all() else Z[:, used])
        largest = max(float(Z.max(initial=0.0)), -float(Z.min(initial=0.0)))
        self._scale = float(np.ldexp(0.5, np.frexp(largest)[1]))  # a power of 2, so nothing is rounded
        Z /= self._scale
        self._Z, self._space = Z, Z.reshape(-1)
        self._squares = np.einsum("ij,ij->i", Z, Z)
        self.diagonal: Array = self._scale**2 * self._squares
        self._threads, self.floor = threads, floor
        self._pool: ThreadPoolExecutor | None = None
        self._bounds: SumBounds | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start threads for the search; all other products are too small for more than one thread."""
        with one_blas_thread():
            if self._threads == 1:
                yield
                return
            with ThreadPoolExecutor(self._threads) as self._pool:
                yield
            self._pool = None

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero."""
        return smallest_products(self.diagonal, np.float64)

    def best_column(self, alive: Mask) -> int:
        """Screen the columns in single precision, and compare the best of them in double precision."""
        if self._Z.shape[1] == 1:  # all directions are the same
            return int(np.argmax(alive))
        if self._bounds is None:
            self._bounds = SumBounds(self._Z, self._squares)
        screening = Screening(self._Z, self._squares, self._pool, self._threads)
        candidates = screening.candidates(alive, self._bounds)
        if len(candidates) == 1:
            return int(candidates[0])
        return int(candidates[first_largest(self._objectives(candidates), TIE)])

    def _objectives(self, columns: IntArray) -> Array:
        """Return sum_i |K~_ij| / sqrt(K~_jj) [kim2019, eq. 19] for some columns j, up to the scale."""
        totals = np.zeros(len(columns))
        for some in row_slices(len(columns), 1, _COLUMNS):
            directions = self._Z[columns[some]] / np.sqrt(self._squares[columns[some], None])
            for part in row_slices(len(self._Z), 8 * _COLUMNS, _PIECE_BYTES):
                totals[some] += np.abs(self._Z[part] @ directions.T).sum(axis=0)
        return totals

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""
        return np.asarray(self._Z @ (self._scale**2 * self._Z[j]))

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v."""
        v += self._Z @ (self._scale**2 * (factors @ self._Z[rows]))

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""
        return np.asarray(self._Z @ (self._scale**2 * (self._Z.T @ V)))

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Rotate the features so that the component is one axis, and drop that axis."""
        w = c @ self._Z
        w /= np.linalg.norm(w)
        u = self._Z @ w
        if self._bounds is not None:
            self._bounds.deflate(self._Z, self._squares, u)
        n, d = self._Z.shape
        smaller = self._space[: n * (d - 1)].reshape(n, d - 1)  # over the old ones
        drop_dimension(self._Z, u, w, smaller, self._squares)
        self._Z, self.diagonal = smaller, self._scale**2 * self._squares
        return np.asarray(self._scale * u)
