"""One kernel matrix for several models, each of all rows but one part of them.

The rows are ordered so that every part is one slice. Vectors of the model without a part are zero there, and nobody
asks for their products there; so a tile between two parts serves only the models that have both.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.kernels.given import GivenKernel
from mercer.kernels.operator import KernelSource
from mercer.kernels.tiles import FEW_VECTORS


class WithoutPart:
    """The kernel matrix of all rows but one slice of them, as a source; nothing is copied."""

    def __init__(self, source: KernelSource, part: slice) -> None:
        self.source, self.part = source, part
        self.kept = np.delete(np.arange(source.shape[0]), part)
        self.shape = (len(self.kept), len(self.kept))
        self.dtype: np.dtype[Any] = source.dtype
        self.threads = source.threads

    def for_each_tile(self, work: Callable[[int, slice, slice, Array], None]) -> None:
        """Call work(worker, rows, columns, tile) for what is left of each tile."""

        def visit(worker: int, I: slice, J: slice, tile: Array) -> None:
            rows, columns = (np.delete(np.arange(at.start, at.stop), self._inside(at)) for at in (I, J))
            if len(rows) and len(columns):
                left = tile[np.ix_(rows - I.start, columns - J.start)]
                work(worker, self._moved(rows), self._moved(columns), left)

        self.source.for_each_tile(visit)

    def _inside(self, at: slice) -> slice:
        """Return the places, within a slice of all rows, of those that are left out."""
        return slice(max(self.part.start - at.start, 0), max(self.part.stop - at.start, 0))

    def _moved(self, rows: IntArray) -> slice:
        """Return the slice of the kept rows that these rows are."""
        first = int(np.searchsorted(self.kept, rows[0]))
        return slice(first, first + len(rows))

    def product(self, V: Array) -> Array:
        """Return K V."""
        return self.source.product(self._widened(V))[self.kept]

    def product_with(self, V: Array, w: Array) -> tuple[Array, Array]:
        """Return K V and K w."""
        product, means = self.source.product_with(self._widened(V), self._widened(w))
        return product[self.kept], means[self.kept]

    def columns(self, indices: IntArray) -> Array:
        """Return K[:, indices]."""
        return self.source.columns(self.kept[indices])[self.kept]

    def dense(self) -> Array:
        """Return the matrix as a new array."""
        return self.source.dense()[np.ix_(self.kept, self.kept)]

    def _widened(self, V: Array) -> Array:
        """Return vectors of all rows, with zeros at the part."""
        wide = np.zeros((self.source.shape[0], *V.shape[1:]), V.dtype)
        wide[self.kept] = V
        return wide


class PartProducts:
    """Products of one kernel matrix with blocks of vectors, one block per part, with one visit of the tiles.

    Block k belongs to the model without part k: it is zero there.
    """

    def __init__(self, source: KernelSource, parts: Sequence[slice]) -> None:
        self.source, self.parts = source, list(parts)
        n = source.shape[0]
        self._whole = source.K if isinstance(source, GivenKernel) else None
        self._first, self._after = np.array([(part.start, part.stop) for part in parts]).T
        edges = sorted({0, n, *self._first.tolist(), *self._after.tolist()})
        self._groups = [slice(a, b) for a, b in pairwise(edges)]

    def within(self, blocks: Array) -> Array:
        """Return the products of each model's kernel matrix with its block; blocks are (parts, b, n), zero at parts."""
        k, b, n = blocks.shape
        product = self._products(blocks.reshape(k * b, n), np.repeat(np.arange(k), b), inside=True).reshape(k, b, n)
        for found, part in zip(product, self.parts, strict=True):
            found[:, part] = 0.0
        return product

    def outside(self, blocks: Sequence[Array]) -> list[Array]:
        """Return, for each block (b, n) that is zero at its part, the product with K at that part, (b, p)."""
        owners = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        product = self._products(np.vstack(blocks), owners, inside=False)
        return [product[owners == k, part] for k, part in enumerate(self.parts)]

    def sums(self) -> list[Array]:
        """Return for each part the sums of the kernel values with all rows outside of it, (n,), in float64."""
        groups = np.zeros((len(self._groups), self.source.shape[0]))
        for group, row in zip(self._groups, groups, strict=True):
            row[group] = 1.0
        totals: Array
        if self._whole is not None:
            totals = groups @ self._whole
        elif self.source.dtype == np.float64 and len(groups) <= FEW_VECTORS:
            totals = self.source.product(groups.T).T
        else:
            first, after = (np.array(edges) for edges in zip(*((g.start, g.stop) for g in self._groups), strict=True))
            totals = self._visit(groups, lambda to, of: (first < of.stop) & (of.start < after))
        others = [[group != part for group in self._groups] for part in self.parts]
        return [totals[kept].sum(axis=0) for kept in others]

    def _products(self, rows: Array, owners: IntArray, inside: bool) -> Array:
        """Return rows @ K, where row i belongs to model owners[i]; all that is needed outside of its part, or there."""
        if self._whole is None:
            rows = rows.astype(self.source.dtype, copy=False)
            if len(rows) <= FEW_VECTORS:  # more than is needed, but in one reading of each tile
                return self.source.product(rows.T).T
            return self._visit(rows, lambda to, of: self._wanted(to, of, inside)[owners])
        return np.asarray(rows @ self._whole)

    def _visit(self, rows: Array, wanted: Callable[[slice, slice], Array]) -> Array:
        """Return rows @ K, (B, n), in float64; `wanted` tells which of them are needed from some columns to others."""
        out = [np.zeros(rows.shape) for _ in range(self.source.threads)]

        def work(worker: int, I: slice, J: slice, tile: Array) -> None:
            for to, of, factor in ((I, J, tile.T), (J, I, tile))[: 1 if I == J else 2]:
                at = np.flatnonzero(wanted(to, of))
                if len(at):
                    out[worker][at, to] += rows[at, of] @ factor

        self.source.for_each_tile(work)
        return np.asarray(sum(out[1:], out[0]))

    def _wanted(self, to: slice, of: slice, inside: bool) -> Array:
        """Return for each part whether products from some rows to others are asked for and not zero."""
        asked = np.logical_not(self._covering(to)) if inside else self._meeting(to)
        return np.asarray(np.logical_and(asked, np.logical_not(self._covering(of))))

    def _covering(self, rows: slice) -> Array:
        """Return for each part whether it contains the rows."""
        return np.asarray((self._first <= rows.start) & (rows.stop <= self._after))

    def _meeting(self, rows: slice) -> Array:
        """Return for each part whether it contains any of the rows."""
        return np.asarray((self._first < rows.stop) & (rows.start < self._after))
