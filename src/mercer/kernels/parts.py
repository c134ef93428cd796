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
from mercer.kernels.grouped import Source, products_by_group
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


def groups_of(n: int, parts: Sequence[slice]) -> list[slice]:
    """Return the parts of n rows, and the rows before, between and after them."""
    edges = sorted({0, n, *(edge for part in parts for edge in (part.start, part.stop))})
    return [slice(a, b) for a, b in pairwise(edges)]


class PartProducts:
    """Products of one kernel matrix with blocks of vectors, one block per part, with one visit of the tiles.

    Block k belongs to the model without part k: it is zero there.
    """

    def __init__(self, source: Source, parts: Sequence[slice]) -> None:
        self.source, self.parts = source, list(parts)
        self.groups = groups_of(source.shape[0], parts)
        self._whole = source.K if isinstance(source, GivenKernel) else None
        self._first, self._after = np.array([(part.start, part.stop) for part in parts]).T

    def within(self, blocks: Array) -> Array:
        """Return the products of each model's kernel matrix with its block; blocks are (parts, b, n), zero at parts."""
        product = self._of_blocks(blocks, self._not_covering)
        for found, part in zip(product, self.parts, strict=True):
            found[:, part] = 0.0
        return product

    def everywhere(self, blocks: Array) -> Array:
        """Return the products of K with the block of each model, at all rows."""
        return self._of_blocks(blocks, lambda rows: np.ones(len(self.parts), bool))

    def outside(self, blocks: Sequence[Array]) -> list[Array]:
        """Return, for each block (b, n) that is zero at its part, the product with K at that part, (b, p)."""
        owners = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        product = self._products(np.vstack(blocks), owners, self._meeting)
        return [product[owners == k, part] for k, part in enumerate(self.parts)]

    def by_group(self, rows: Array) -> Array:
        """Return rows @ K with the sums over the rows of each group apart, (groups, b, n), in float64."""
        return products_by_group(self.source, rows, self.groups)

    def without(self, terms: Array) -> Array:
        """Return for each part the sums over the rows outside of it, (parts, b, n), of the sums over the groups."""
        others = [[group != part for group in self.groups] for part in self.parts]
        return np.stack([terms[kept].sum(axis=0) for kept in others])

    def _of_blocks(self, blocks: Array, asked: Callable[[slice], Array]) -> Array:
        k, b, n = blocks.shape
        return self._products(blocks.reshape(k * b, n), np.repeat(np.arange(k), b), asked).reshape(k, b, n)

    def _products(self, rows: Array, owners: IntArray, asked: Callable[[slice], Array]) -> Array:
        """Return rows @ K, where row i belongs to model owners[i]; `asked` tells which models need it at some rows."""
        if self._whole is not None:
            return np.asarray(rows @ self._whole)
        rows = rows.astype(self.source.dtype, copy=False)
        if len(rows) <= FEW_VECTORS:  # more than is needed, but in one reading of each tile
            return self.source.product(rows.T).T
        return self._visit(rows, lambda to, of: np.logical_and(asked(to), self._not_covering(of))[owners])

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

    def _not_covering(self, rows: slice) -> Array:
        """Return for each part whether it does not contain all of the rows."""
        return np.asarray((self._first > rows.start) | (rows.stop > self._after))

    def _meeting(self, rows: slice) -> Array:
        """Return for each part whether it contains any of the rows."""
        return np.asarray((self._first < rows.stop) & (rows.start < self._after))
