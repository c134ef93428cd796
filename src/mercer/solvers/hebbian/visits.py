"""Kernel rows for algorithms that visit samples one after another, at the cost of half a kernel matrix per pass.

In a pass, the contribution of a visited sample to samples visited later is needed when these are visited; their
contribution to it is needed only at the end. So each tile of K' between two groups of visits is computed once and used
for both: it belongs to the strip K'[order[start:stop], order[:stop]] of the later group.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.spectrum import rounding_noise
from mercer.engine.submatrix import copy_submatrix
from mercer.kernels.given import GivenOperator
from mercer.kernels.operator import CentredOperator, Operator
from mercer.kernels.tiles import SymmetricTiles, memory_budget

_WIDTH = 512  # columns of a tile


class Strip(Protocol):
    """K' between the visits start..stop of a pass and all visits up to stop; P stands for those before start."""

    @property
    def own(self) -> Array:
        """Return K' among the strip's own visits, (b, b)."""

    def gather(self, C: Array, left: Array) -> Array:
        """Return C K'[P, S], (p, b): the products of coefficients on the visits before with the strip.

        The coefficients that were known when this strip was started have since been multiplied by `left`.
        """

    def spread(self, C: Array, out: Array) -> None:
        """Add C K'[S, P] to `out`, (p, start): the products of coefficients on the strip's visits."""


class VisitTiles:
    """Strips of K' for consecutive groups of visits, in any order of samples; K' is held if it fits the budget.

    `hold` overrides that. The object is an operator itself, so other products with K' use the matrix that is held.
    """

    def __init__(self, operator: Operator, hold: bool | None = None) -> None:
        self.operator = operator
        self._space: tuple[list[Array], list[Array]] = ([], [])
        self.shape, self.weights, self.center = operator.shape, operator.weights, operator.center
        n = operator.shape[0]
        fits = n * n * 8 <= memory_budget() or isinstance(operator, GivenOperator)
        self._held = operator.dense() if (fits if hold is None else hold) else None
        self.row_means, self.mean_norm = operator.row_means, operator.mean_norm
        self.trace, self.largest_entry = operator.trace, operator.largest_entry
        self.dtype = operator.dtype
        self.noise = rounding_noise(n, operator.largest_entry, self.dtype)  # eigenvalues that rounding alone can make

    @cached_property
    def frobenius(self) -> float:
        """Return the Frobenius norm of K'."""
        return self.operator.frobenius if self._held is None else float(np.linalg.norm(self._held))

    def matmul(self, V: Array) -> Array:
        """Return K' V, (n, b)."""
        return self.operator.matmul(V) if self._held is None else np.asarray(self._held @ V)

    @property
    def rows_that_count(self) -> float:
        """Return the effective number of rows: n if all are equally long, near 1 if one is far longer than the rest."""
        squares = self.diagonal()
        largest = float(np.abs(squares).max(initial=0.0))
        if largest == 0:
            return float(self.shape[0])
        squares = squares / largest  # so that nothing overflows
        return float(squares.sum() ** 2 / (squares @ squares))

    def diagonal(self) -> Array:
        """Return the diagonal of K'."""
        return self.operator.diagonal() if self._held is None else np.diag(self._held)

    def dense(self) -> Array:
        """Return a copy of K'."""
        return self.operator.dense() if self._held is None else self._held.copy()

    def strips(self, order: IntArray, groups: list[slice]) -> "HeldStrips | MadeStrips":
        """Return the strips of a pass, one for each of the consecutive groups of visits."""
        if self._held is not None:
            return HeldStrips(self._held, order, groups, self._space[0])
        return MadeStrips(_source(self.operator), self.row_means[order], self.mean_norm, order, groups, self._space)


def _source(operator: Operator) -> SymmetricTiles:
    assert isinstance(operator, CentredOperator)
    assert isinstance(operator.source, SymmetricTiles)
    return operator.source


class HeldStrips:
    """Strips of a matrix in memory."""

    def __init__(
        self,
        K: Array,
        order: IntArray,
        groups: list[slice],
        space: list[Array],  # for a strip; is used again
    ) -> None:
        self._K, self._order, self._groups = K, order, groups
        size = max(group.stop - group.start for group in groups) * len(order)
        if not space or space[0].size < size:
            space[:] = [np.empty(size)]
        self._space = space[0]

    def strip(self, number: int, known: Array) -> Strip:
        """Return the strip of a group, valid until the next call."""
        group = self._groups[number]
        shape = group.stop - group.start, group.stop
        strip = self._space[: shape[0] * shape[1]].reshape(shape)
        copy_submatrix(self._K, self._order[group], self._order[: group.stop], strip)
        return _HeldStrip(strip, group.start)

    def close(self) -> None:
        """Do nothing: no threads were started."""


class _HeldStrip:
    def __init__(self, K: Array, start: int) -> None:
        self._past, self.own = K[:, :start], K[:, start:]

    def gather(self, C: Array, left: Array) -> Array:
        return np.asarray(C @ self._past.T)

    def spread(self, C: Array, out: Array) -> None:
        for first in range(0, out.shape[1], _WIDTH):
            out[:, first : first + _WIDTH] += C @ self._past[:, first : first + _WIDTH]


class MadeStrips:
    """Strips computed when they are needed; the next strip is computed while the current one is in use."""

    def __init__(
        self,
        source: SymmetricTiles,
        means: Array,
        mean_norm: float,
        order: IntArray,
        groups: list[slice],
        space: tuple[list[Array], list[Array]],  # for tiles of even and of odd strips; grows, and is used again
    ) -> None:
        self._source, self._means, self._mean_norm = source, means, mean_norm
        self._rows = source.blocks.rows[order]
        self._groups = groups
        self._size = max(group.stop - group.start for group in groups)
        self._space = space
        self._pool = ThreadPoolExecutor(source.threads - 1) if source.threads > 1 else None
        self._own = np.empty(self._size**2)
        self._next = self._begin(0, np.empty((0, 0)))

    def strip(self, number: int, known: Array) -> Strip:
        """Return the strip of a group, valid until the next call, and start the next; groups are asked for in order.

        `known`, (p, start), are the coefficients on the visits before this group. The next strip's tiles are multiplied
        by them as soon as they are computed, while they are in the cache.
        """
        strip = self._next
        strip.work.finish()
        if number + 1 < len(self._groups):
            self._next = self._begin(number + 1, known.copy())  # the caller continues to change it
        return strip

    def close(self) -> None:
        """End the threads."""
        self._next.work.finish()
        if self._pool is not None:
            self._pool.shutdown()

    def _begin(self, number: int, known: Array) -> "_MadeStrip":
        start, stop, space = self._groups[number].start, self._groups[number].stop, self._space[number % 2]
        tiles, jobs, parts = [], [], []
        for count, first in enumerate(range(0, stop, _WIDTH)):
            columns = slice(first, min(first + _WIDTH, stop))
            if count == len(space):
                space.append(np.empty(0))
            if space[count].size < self._size * _WIDTH:
                space[count] = np.empty(self._size * _WIDTH)
            shape = (stop - start, columns.stop - first)
            tile = space[count][: shape[0] * shape[1]].reshape(shape)
            coefficients = known[:, columns]
            part = np.empty((len(known), shape[0])) if coefficients.size else None
            tiles.append((columns, tile))
            jobs.append(self._job(slice(start, stop), columns, tile, coefficients, part))
            if part is not None:
                parts.append(part)
        return _MadeStrip(self, start, stop, known.shape[1], tiles, parts, self._work(jobs))

    def _work(self, jobs: list[Callable[[], None]]) -> "_Work":
        return _Work(jobs, self._pool, self._source.threads - 1)

    def share(self, jobs: list[Callable[[], None]]) -> None:
        """Do some jobs, with the help of the threads that have finished the next strip: at the last strip, all."""
        self._work(jobs).finish()

    def _job(self, I: slice, J: slice, tile: Array, known: Array, part: Array | None) -> Callable[[], None]:
        blocks = self._source.blocks

        def make() -> None:
            if blocks.dtype == tile.dtype:
                blocks.kernel.block(self._rows[I], self._rows[J], tile)
            else:
                short = np.empty(tile.shape, blocks.dtype)
                blocks.kernel.block(self._rows[I], self._rows[J], short)
                tile[:] = short
            if part is not None:
                np.matmul(known, tile[:, : known.shape[1]].T, out=part)

        return make

    def shift(self, I: slice, C: Array) -> tuple[Array, Array]:
        """Return u and v with C K'[I, J] = C K[I, J] - u 1^T - v m_J^T for all J: K' = K - m 1^T - 1 m^T + w^T K w."""
        sums = C.sum(axis=1)
        return C @ self._means[I] - self._mean_norm * sums, sums

    def means(self, J: slice) -> Array:
        """Return the inner products of visits with the mean."""
        return self._means[J]

    def own(self, I: slice, tiles: list[tuple[slice, Array]]) -> Array:
        """Return K' among the visits of a strip."""
        size = I.stop - I.start
        own = self._own[: size * size].reshape(size, size)
        for J, tile in tiles:
            first = max(J.start, I.start)
            if first < J.stop:
                np.subtract(
                    tile[:, first - J.start :],
                    self._means[first : J.stop],
                    out=own[:, first - I.start : J.stop - I.start],
                )
        own -= self._means[I, None] - self._mean_norm
        if self._source.blocks.kernel.unit_diagonal:
            np.fill_diagonal(own, 1.0 - 2.0 * self._means[I] + self._mean_norm)
        return own


class _MadeStrip:
    """Tiles of K, not centred; products are centred instead."""

    def __init__(
        self,
        strips: MadeStrips,
        start: int,
        stop: int,
        known: int,  # visits whose coefficients were known at the start
        tiles: list[tuple[slice, Array]],
        parts: list[Array],  # their products with the tiles, one per tile, summed in a fixed order
        work: "_Work",
    ) -> None:
        self._strips, self.start, self.stop, self.work = strips, start, stop, work
        self._known, self._tiles, self._parts = known, tiles, parts

    @cached_property
    def own(self) -> Array:
        return self._strips.own(slice(self.start, self.stop), self._tiles)

    def _between(self, first: int, last: int) -> list[tuple[slice, Array]]:
        """Return the parts of tiles in the columns first..last."""
        found = []
        for J, tile in self._tiles:
            columns = slice(max(J.start, first), min(J.stop, last))
            if columns.start < columns.stop:
                found.append((columns, tile[:, columns.start - J.start : columns.stop - J.start]))
        return found

    def gather(self, C: Array, left: Array) -> Array:
        own = slice(self.start, self.stop)
        u, v = self._strips.shift(slice(0, self.start), C)
        product = -u[:, None] - v[:, None] * self._strips.means(own)
        if self._parts:
            product += left @ np.sum(self._parts, axis=0)
        for J, tile in self._between(self._known, self.start):
            product += C[:, J] @ tile.T
        return product

    def spread(self, C: Array, out: Array) -> None:
        u, v = self._strips.shift(slice(self.start, self.stop), C)

        def add(J: slice, tile: Array) -> None:  # complete one part of `out` while it is in the cache
            part = C @ tile
            part -= u[:, None]
            part -= v[:, None] * self._strips.means(J)
            out[:, J] += part

        self._strips.share([partial(add, *piece) for piece in self._between(0, self.start)])


class _Work:
    """Jobs that other threads start and that the thread that needs the results helps to finish."""

    def __init__(self, jobs: list[Callable[[], None]], pool: ThreadPoolExecutor | None, helpers: int) -> None:
        self._jobs = deque(jobs)
        self._helpers: list[Future[Any]] = [] if pool is None else [pool.submit(self._run) for _ in range(helpers)]

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.popleft()
            except IndexError:
                return
            job()

    def finish(self) -> None:
        """Return when all jobs are done; threads that are busy with other jobs are not waited for."""
        self._run()
        for helper in self._helpers:
            if not helper.cancel():
                helper.result()
