"""The deflated kernel matrix K~ of L1-norm kernel PCA, held in memory."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.sign_rounding import Mask, first_largest, smallest_products, tie_of
from mercer.engine.signs import PENDING, add_rows, add_strip_sums, no_terms, subtract_and_sum, subtract_waiting
from mercer.kernels.threads import one_blas_thread

_STRIP = 128  # rows whose sums are in single precision if K is; strips are dealt out to threads in turn
_WORTH_THREADS = 2**21  # entries to read below which threads cost more than they save


class HeldResidual:
    """K~ in memory; a few deflations are buffered before they are subtracted."""

    def __init__(self, K: Array, threads: int = 1, floor: float = 0.0) -> None:  # (n, n), overwritten
        self._K, self._threads, self.floor = K, threads, floor
        self._waiting, self._count = no_terms(len(K), K.dtype.type), 0
        self.diagonal: Array = np.diag(K).astype(np.float64)
        self._tie = tie_of(K.dtype)
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start threads once: starting them takes as long as a pass over a few thousand rows."""
        if self._threads == 1 or self._K.size <= _WORTH_THREADS:
            yield
            return
        with one_blas_thread(), ThreadPoolExecutor(self._threads) as self._pool:
            yield
        self._pool = None

    def _share(self, work: Callable[[int, Any], None], items: Sequence[Any], entries: int) -> None:
        """Call work(worker, item) for all items, dealt out in turn to the threads if there is enough work."""
        if self._pool is None or entries <= _WORTH_THREADS:
            for item in items:
                work(0, item)
            return

        def loop(worker: int) -> None:
            for item in items[worker :: self._threads]:
                work(worker, item)

        list(self._pool.map(loop, range(self._threads)))  # list() raises the exceptions of workers

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero."""
        return smallest_products(self.diagonal, self._K.dtype)

    def best_column(self, alive: Mask) -> int:
        """Sum all columns from the upper triangle, or from the whole matrix if it subtracts buffered updates."""
        sums = self._flush() if self._count == PENDING else self._upper_sums()
        sums /= np.sqrt(np.where(alive, self.diagonal, 1.0))
        return first_largest(np.where(alive, sums, -np.inf), self._tie)

    def _upper_sums(self) -> Array:
        n = len(self._K)
        parts, starts = np.zeros((self._threads, n)), np.arange(0, n, _STRIP)

        def work(_: int, k: int) -> None:
            short = np.empty(n, self._K.dtype)
            add_strip_sums(self._K, self._waiting, starts[k :: self._threads], _STRIP, short, parts[k])

        self._share(work, range(self._threads), n * n)
        return np.asarray(parts.sum(axis=0))

    def _flush(self) -> Array:
        sums = np.empty(len(self._K))
        self._share(
            lambda _, rows: subtract_and_sum(self._K, self._waiting, rows.start, rows.stop, sums),
            self._pieces(),
            self._K.size,
        )
        self._waiting[...], self._count = 0, 0
        return sums

    def _pieces(self) -> list[slice]:
        """Cut the rows, or the columns, into one piece per thread."""
        n = len(self._K)
        width = -(-n // self._threads)
        return [slice(i, min(i + width, n)) for i in range(0, n, width)]

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""
        v = np.zeros(len(self._K))
        self.add(np.array([j]), np.ones(1), v)
        return v

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v: rows of K, then the buffered updates."""
        entries, signs = len(rows) * len(v), factors.astype(self._K.dtype, copy=False)
        if entries > _WORTH_THREADS:
            self._share(lambda _, I: add_rows(self._K, rows, signs, I.start, I.stop, v), self._pieces(), entries)
        else:
            add_rows(self._K, rows, signs, 0, len(v), v)
        subtract_waiting(self._waiting, rows, factors, v)

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""
        U, short = self._waiting[: self._count].astype(np.float64), V.astype(self._K.dtype, copy=False)
        product = np.empty(V.shape)

        def work(_: int, rows: slice) -> None:
            product[rows] = self._K[rows] @ short

        self._share(work, self._pieces(), self._K.size)
        return np.asarray(product - U.T @ (U @ V))

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Buffer the rank-one update u u^T."""
        if self._count == PENDING:
            self._flush()
        u = v / np.sqrt(square)
        self._waiting[self._count] = u
        self._count += 1
        self.diagonal -= u * u
        return np.asarray(u)
