"""The deflated kernel matrix K~ of L1-norm kernel PCA: held in memory, computed in tiles, or as explicit features."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from mercer.arrays import Array, IntArray, Points, check_kernel_values, is_sparse
from mercer.engine.sign_rounding import (
    Mask,
    first_largest,
    smallest_diagonal,
    smallest_products,
    smallest_square,
    tie_of,
)
from mercer.engine.signs import centre_rows, row_means
from mercer.expansion.build import Centred
from mercer.kernels.base import Kernel
from mercer.kernels.given import GivenOperator
from mercer.kernels.inner_product import Linear
from mercer.kernels.operator import CentredOperator
from mercer.kernels.threads import available_threads, row_slices, run_in_threads
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.l1.features import FeatureResidual
from mercer.solvers.l1.held import HeldResidual

_IN_RANGE = (1e-15, 1e30)  # k(x, x) for which kernel values, differences of them, and their sums are in float32's range
_SOME_ROWS = 256  # whose mean stands for that of all rows before these are rounded to float32


class Residual(Protocol):
    """The operations on K~ that the sign iteration needs."""

    diagonal: Array  # (n,), float64
    floor: float  # a smaller diagonal entry is a rounding error of K

    def running(self) -> AbstractContextManager[None]:
        """Return a context for the whole extraction, in which threads are available."""

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i counts as zero because of rounding errors, (n,)."""

    def best_column(self, alive: Mask) -> int:
        """Return the first j, among the rows alive, that maximises sum_i |K~_ij| / sqrt(K~_jj) [kim2019, eq. 19]."""

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v."""

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Subtract the component of the signs c, with v = K~ c and square = c^T v; return its scores u."""


class TiledResidual:
    """K~ in tiles that are computed again for every product; all deflations are kept separately."""

    def __init__(self, operator: CentredOperator) -> None:
        assert isinstance(operator.source, SymmetricTiles)
        self._operator, self._source = operator, operator.source
        self._U = np.empty((0, operator.shape[0]))
        self.diagonal = operator.diagonal()
        self.floor = smallest_diagonal(operator.largest_entry, self._source.dtype) if operator.center else 0.0
        self._tie = tie_of(self._source.dtype)

    def running(self) -> AbstractContextManager[None]:
        """Do nothing: products start their own threads."""
        return nullcontext()

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero."""
        return smallest_products(self.diagonal, self._source.dtype)

    def best_column(self, alive: Mask) -> int:
        """Sum all columns in one pass over the upper tiles."""
        U = self._U
        sums = np.zeros((self._source.threads, U.shape[1]))

        def work(worker: int, I: slice, J: slice, entries: Array) -> None:
            entries -= U[:, I].T @ U[:, J]
            np.abs(entries, out=entries)
            sums[worker, I] += entries.sum(axis=1)
            if I != J:
                sums[worker, J] += entries.sum(axis=0)

        self._operator.for_each_tile(work)
        values = sums.sum(axis=0) / np.sqrt(np.where(alive, self.diagonal, 1.0))
        return first_largest(np.where(alive, values, -np.inf), self._tie)

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""
        return np.asarray(self._operator.columns(np.array([j]))[:, 0] - self._U[:, j] @ self._U)

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v, by the columns, or by all tiles where these are cheaper."""
        n = len(v)
        if 2 * len(rows) > n:
            whole = np.zeros((n, 1))
            whole[rows, 0] = factors
            v += self._operator.matmul(whole)[:, 0]
        else:
            for part in row_slices(len(rows), 16 * n):
                v += self._operator.columns(rows[part]) @ factors[part]
        v -= (self._U[:, rows] @ factors) @ self._U

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""
        return np.asarray(self._operator.matmul(V) - self._U.T @ (self._U @ V))

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Keep u."""
        u = v / np.sqrt(square)
        self._U = np.vstack([self._U, u])
        self.diagonal = self.diagonal - u * u
        return np.asarray(u)


@dataclass(frozen=True)
class Centring:
    """The means that centring subtracted, K w and w^T K w (zeros without centring), and the trace after it."""

    center: bool
    weights: Array  # (n,)
    row_means: Array  # (n,)
    mean_norm: float
    trace: float


def make_residual(kernel: Kernel, X: Points, dtype: Any, center: bool, n_jobs: int | None) -> tuple[Residual, Centred]:
    """Return K' of the rows of X in the form that suits the kernel and the memory."""
    n, d = X.shape
    fits = n * n * np.dtype(dtype).itemsize <= memory_budget()
    if isinstance(kernel, Linear) and (d <= n or not fits) and 8 * n * d <= memory_budget():
        return _linear_residual(X, center, available_threads(n_jobs))
    operator = make_operator(kernel, X, dtype, n_jobs, center)
    if isinstance(operator, GivenOperator):
        floor = smallest_diagonal(operator.largest_entry, operator.dtype) if center else 0.0
        return HeldResidual(operator.source.K, floor=floor), operator
    assert isinstance(operator, CentredOperator)
    assert isinstance(operator.source, SymmetricTiles)
    if not fits:
        return TiledResidual(operator), operator
    return _held_residual(operator.source, dtype, center, kernel.diagonal(X))


def _held_residual(source: SymmetricTiles, dtype: Any, center: bool, diagonal: Array) -> tuple[Residual, Centring]:
    """Return K' in memory, in the given precision if that is enough for it; `diagonal` is that of K."""
    if not center:
        check_kernel_values(diagonal)
        n = len(diagonal)
        none = Centring(False, np.full(n, 1.0 / n), np.zeros(n), 0.0, float(diagonal.sum()))
        return HeldResidual(source.dense(), source.threads), none
    largest = float(np.abs(diagonal).max(initial=0.0))
    K, shift = _shifted(source, dtype, largest)
    centring = _centre(K, shift, diagonal, source.threads)
    floor = smallest_diagonal(largest, source.dtype)
    if K.dtype != source.dtype:
        floor += smallest_diagonal(float(np.diag(K).max()), K.dtype)
    return HeldResidual(K, source.threads, floor), centring


def _shifted(source: SymmetricTiles, dtype: Any, largest: float) -> tuple[Array, Array]:
    """Return K_ij - s_i - s_j as an array, and s; `largest` is the largest k(x, x).

    Where kernel values need float64 because they differ little from each other, nearly all that they have in common is
    subtracted before they are rounded to float32: s makes the mean over some of the rows zero. What is left is about
    as small as K' and loses no more than float32 always does.
    """
    n = source.shape[0]
    if source.dtype == dtype or not _IN_RANGE[0] < largest < _IN_RANGE[1]:
        return source.dense(), np.zeros(n)
    means = source.columns(np.arange(0, n, -(-n // _SOME_ROWS))).mean(axis=1)
    shift = means - means[:: -(-n // _SOME_ROWS)].mean() / 2.0
    K = np.empty(source.shape, dtype)

    def subtract(I: slice, J: slice, values: Array) -> None:
        values -= shift[I, None]
        values -= shift[J]

    source.fill(K, subtract)
    return K, shift


def _linear_residual(X: Points, center: bool, threads: int) -> tuple[Residual, Centring]:
    Z = X.toarray() if is_sparse(X) else X
    Z = np.array(Z, np.float64)
    mean = Z.mean(axis=0) if center else np.zeros(Z.shape[1])
    means = Z @ mean
    largest = float(np.einsum("ij,ij->i", Z, Z).max(initial=0.0))
    check_kernel_values(np.append(means, 4.0 * largest))  # centred rows are at most twice as long
    Z -= mean
    residual = FeatureResidual(Z, smallest_square(largest) if center else 0.0, threads)
    weights = np.full(len(Z), 1.0 / len(Z))
    return residual, Centring(center, weights, means, float(mean @ mean), float(residual.diagonal.sum()))


def _centre(K: Array, shift: Array, diagonal: Array, threads: int) -> Centring:
    """Centre K_ij - s_i - s_j in place, with float64 means in any storage type; return the centring of K."""
    n = len(K)
    means = np.empty(n)
    bounds = np.linspace(0, n, threads + 1).astype(int)
    pieces = list(pairwise(bounds))
    run_in_threads(lambda _, rows: row_means(K, *rows, means), pieces, threads)
    check_kernel_values(means)
    run_in_threads(lambda _, rows: centre_rows(K, means, float(means.mean()), *rows), pieces, threads)
    means = means + shift + shift.mean()
    level = float(means.mean())
    return Centring(True, np.full(n, 1.0 / n), means, level, float((diagonal - 2.0 * means + level).sum()))
