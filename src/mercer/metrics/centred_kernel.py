"""The kernel matrix of some rows, centred by any mean, and its distance from a product of scores.

`CentredOperator` does the same for the mean of the rows themselves. Here the mean may also be that of a model which was
fitted on other rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.engine.krylov import block_krylov
from mercer.expansion.model import Expansion
from mercer.kernels.functions import Kernel, Precomputed
from mercer.kernels.tiles import SymmetricTiles, available_threads, memory_budget, row_slices

TileWork = Callable[[int, slice, slice, Array], None]

_DENSE_ROWS = 1000  # up to here a full eigendecomposition takes less than a second
_OVERSAMPLING = 8


class TileSource(Protocol):
    """A kernel matrix whose tiles can be visited: those of all rows, or only those above the diagonal."""

    threads: int
    shape: tuple[int, int]

    def for_each_tile(self, work: TileWork) -> None:
        """Call work(worker, rows, columns, tile)."""

    def product(self, V: Array) -> Array:
        """Return K V."""

    def dense(self) -> Array:
        """Return the whole matrix as a new array."""


class GivenTiles:
    """A kernel matrix that the user computed, visited in strips of whole rows."""

    def __init__(self, K: Array) -> None:
        self.K = K
        self.shape = (K.shape[0], K.shape[1])
        self.threads = 1

    def for_each_tile(self, work: TileWork) -> None:
        """Call work(0, rows, all columns, strip)."""
        for rows in row_slices(self.shape[0], self.shape[1] * self.K.itemsize):
            work(0, rows, slice(0, self.shape[1]), self.K[rows])

    def product(self, V: Array) -> Array:
        """Return K V."""
        return np.asarray(self.K @ V)

    def dense(self) -> Array:
        """Return a copy."""
        return self.K.copy()


@dataclass(frozen=True)
class CentredKernel:
    """K' = K - m 1^T - 1 m^T + |mean|^2, where m holds the inner products of all rows with the mean."""

    source: TileSource
    means: Array  # (n,)
    mean_norm: float

    def distance(self, Y: Array) -> float:
        """Return || K' - Y Y^T ||_F, summed over tiles; Y is (n, r)."""
        sums = np.zeros(self.source.threads)

        def work(worker: int, rows: slice, columns: slice, tile: Array) -> None:
            rest = tile - self.means[rows, None]
            rest -= self.means[columns]
            rest += self.mean_norm
            rest -= Y[rows] @ Y[columns].T
            mirrored = columns.start >= rows.stop  # an upper tile stands for the lower one too
            sums[worker] += (2.0 if mirrored else 1.0) * np.einsum("ij,ij->", rest, rest)

        self.source.for_each_tile(work)
        return float(np.sqrt(sums.sum()))

    def product(self, V: Array) -> Array:
        """Return K' V."""
        sums = V.sum(axis=0)
        return np.asarray(self.source.product(V) - np.outer(self.means, sums) - self.means @ V + self.mean_norm * sums)

    def leading(self, r: int) -> tuple[Array, Array]:
        """Return the r largest eigenvalues, descending, and their eigenvectors, (n, r)."""
        n = self.source.shape[0]
        block = r + _OVERSAMPLING
        if n <= _DENSE_ROWS or 4 * block > n:
            K = self.source.dense()
            K -= self.means[:, None]
            K -= self.means
            K += self.mean_norm
            values, vectors = np.linalg.eigh(K)
            return values[::-1][:r], vectors[:, ::-1][:, :r]
        start = np.random.default_rng(0).standard_normal((n, block))
        found = block_krylov(self.product, start, r, tol=1e-10, floor=1e-14, max_iter=100)
        return found.values, found.vectors


def centred_by_rows(kernel: Kernel, X: Points, center: bool) -> CentredKernel:
    """Return the kernel of the rows of X, centred by their own mean if `center` is true; it is kept in memory if it
    fits.
    """
    source, n = _source(kernel, X, memory_budget()), n_rows(X)
    means = source.product(np.full((n, 1), 1.0 / n))[:, 0] if center else np.zeros(n)
    return CentredKernel(source, means, float(means.mean()))


def centred_by_model(expansion: Expansion, X: Points, *, keep: bool = False) -> CentredKernel:
    """Return the kernel of the rows of X, centred by the model's mean; `keep` keeps the tiles for further visits."""
    source = _source(expansion.kernel, X, memory_budget() if keep else 0)
    if expansion.nu is None:
        return CentredKernel(source, np.zeros(n_rows(X)), 0.0)
    return CentredKernel(source, expansion.combine(expansion.nu[None], X)[:, 0], expansion.mean_norm)


def _source(kernel: Kernel, X: Points, budget: int) -> TileSource:
    """Return the tiles of the kernel matrix of X: computed within the budget, or those of the matrix that was given."""
    if not isinstance(kernel, Precomputed):
        return SymmetricTiles(kernel, X, np.float64, budget, available_threads())
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"With a precomputed kernel X must be the square kernel matrix of its rows; got {X.shape}.")
    return GivenTiles(np.asarray(X.toarray() if is_sparse(X) else X))
