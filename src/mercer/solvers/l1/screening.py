"""Which columns of K~ = Z Z^T can have the largest sum_i |K~_ij| / sqrt(K~_jj) [kim2019, eq. 19], by float32 tiles."""

from concurrent.futures import Executor

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.sign_features import add_abs_sums
from mercer.engine.sign_rounding import TIE, Mask
from mercer.kernels.threads import row_slices

_EPS = float(np.finfo(np.float64).eps)
_LEAST_WEIGHT = 1e-3  # of the mean length: rows of length zero need a weight, too
_STRIP = 256  # columns whose sums are computed together
_WIDTH = 512  # a strip and this many rows are a tile of 512 KiB, for the second-level cache
_UNIT = float(np.finfo(np.float32).eps) / 2.0  # largest relative error of one rounding in single precision
_WORTH_THREADS = 2**24  # multiplications in a strip below which threads cost more than they save


class SumBounds:
    """Two bounds per column, of which the smaller one is used.

    Cauchy-Schwarz: (sum_i |K~_ij|)^2 <= sum_i a_i sum_i K~_ij^2 / a_i, for any weights a_i > 0; lengths of the rows are
    good ones. And a sum that is known grows at most by |u_j| sum_i |u_i| when u u^T is subtracted from K~.
    """

    def __init__(self, Z: Array, squares: Array) -> None:  # (n, d), (n,)
        self._known = np.full(len(Z), np.inf)
        self._weigh(Z, squares)

    def _weigh(self, Z: Array, squares: Array) -> None:
        """Compute the first bound again, from the present row lengths."""
        n, self._dimensions = Z.shape
        lengths = np.sqrt(squares)
        self._weights = np.maximum(lengths, _LEAST_WEIGHT * lengths.mean())
        self._spread = np.einsum("ij,ij->i", Z @ ((Z.T / self._weights) @ Z), Z)  # sum_i K~_ij^2 / a_i
        self._rounding = 4.0 * _EPS * (n + self._dimensions) * squares * (squares / self._weights).sum()
        self._slack = self._rounding.copy()

    def sums(self) -> Array:
        """Return the bounds, (n,)."""
        spread = self._weights.sum() * np.maximum(self._spread + self._slack, 0.0)
        return np.asarray(np.minimum(self._known, np.sqrt(spread)))

    def learn(self, columns: IntArray, sums: Array) -> None:
        """Store the sums of some columns."""
        self._known[columns] = sums

    def deflate(self, Z: Array, squares: Array, u: Array) -> None:
        """Update the bounds for K~ - u u^T, where Z and `squares` are still those of K~."""
        if 2 * Z.shape[1] <= self._dimensions:  # the weights are out of date, and the slack is large
            self._weigh(Z, squares)
        scaled, lengths = u / self._weights, np.sqrt(squares)
        self._spread += u * (u * float(u @ scaled) - 2.0 * (Z @ (scaled @ Z)))
        self._slack += self._rounding
        self._known += np.abs(u) * np.abs(u).sum() + 16.0 * _EPS * lengths * lengths.sum()


class Screening:
    """A search in the order of bounds, strip by strip, that ends when no further column can have the largest value.

    A tile of K~ adds to the sums of its rows and to those of its columns, which are later in the order. The sums of a
    strip are complete when its tiles with all later columns have been added.
    """

    def __init__(self, Z: Array, squares: Array, pool: Executor | None, threads: int) -> None:
        self._Z, self._lengths = Z, np.sqrt(squares)
        self._pool = pool if _STRIP * Z.size > _WORTH_THREADS else None
        self._threads = threads if self._pool is not None else 1
        # z_i and z_j rounded, d products added in any order: error of K~_ij is d + 2 units of |z_i| |z_j|, first order
        self._entry_error = 1.01 * (Z.shape[1] + 4) * _UNIT * float(self._lengths.sum())
        # plus the error of adding at most this many positive numbers in single precision
        self._sum_error = (_WIDTH + 8) * _UNIT

    def candidates(self, alive: Mask, bounds: SumBounds) -> IntArray:
        """Return the columns, ascending, that are the best up to rounding, and sharpen the bounds by the sums."""
        sums = np.where(alive, bounds.sums(), -np.inf)
        limits = np.divide(sums, self._lengths, out=sums, where=alive) * (1.0 + 2.0 * TIE)
        order = np.argsort(-limits, kind="stable")
        totals, certain = self._search(order, limits[order], int(alive.sum()))
        some = order[: len(totals)]
        above = totals * (1.0 + self._sum_error) + self._entry_error * self._lengths[some]
        bounds.learn(some, above)
        return np.sort(some[above >= certain * (1.0 - 2.0 * TIE) * self._lengths[some]])

    def _search(self, order: IntArray, limits: Array, count: int) -> tuple[Array, float]:
        """Return the sums of the first columns in this order, and a lower bound of the best of them."""
        rows, lengths = self._Z.astype(np.float32)[order], self._lengths[order]
        totals, certain, known = np.zeros(len(order)), -np.inf, 0
        for strip in row_slices(count, 1, _STRIP):
            if limits[strip.start] < certain:
                break
            self._add_strip(rows, strip, totals)
            values = totals[strip] * (1.0 - self._sum_error) / lengths[strip] - self._entry_error
            certain, known = max(certain, float(values.max())), strip.stop
        return totals[:known], certain

    def _add_strip(self, rows: Array, strip: slice, totals: Array) -> None:
        """Add the strip's tiles from the diagonal on to the sums of its rows and of the columns after it."""
        own, later, after = rows[strip], rows[strip.stop :], totals[strip.stop :]
        totals[strip] += np.abs(own @ own.T).sum(axis=1, dtype=np.float64)
        pieces = row_slices(len(later), 1, _WIDTH)
        of_workers = np.zeros((self._threads, len(own)))

        def work(worker: int) -> None:
            space, short = np.empty(len(own) * _WIDTH, np.float32), np.empty(_WIDTH, np.float32)
            for piece in pieces[worker :: self._threads]:
                others = later[piece]
                tile = space[: len(own) * len(others)].reshape(len(own), len(others))
                np.matmul(own, others.T, out=tile)
                add_abs_sums(tile, short[: len(others)], of_workers[worker], after[piece])

        if self._pool is None:
            work(0)
        else:
            list(self._pool.map(work, range(self._threads)))  # list() raises the exceptions of workers
        totals[strip] += of_workers.sum(axis=0)
