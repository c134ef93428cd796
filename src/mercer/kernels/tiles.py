"""The only module that computes kernel blocks: within a limit of bytes, in threads, symmetric ones once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config

from mercer.arrays import Array, IntArray, Points, is_mapped, is_sparse, n_rows
from mercer.kernels.base import Kernel
from mercer.kernels.precision import enough_precision
from mercer.kernels.threads import TILE_BYTES, one_blas_thread, row_slices, run_in_threads, run_over_rows

_CHUNK_BYTES = 8 * 2**20  # several blocks of kernel values for new rows stay in the caches while they are used,
_CHUNK_ROWS = 128  # unless they then have fewer rows than matrix products need to be fast
_MANY_VECTORS = 512
_EDGE = 512  # rows of a square tile: large enough for BLAS, small enough that the diagonal's double storage is cheap
_SLAB_BYTES = 32 * 2**20
_STRIP = 128  # rows of a strip of a whole matrix
_ONE_THREAD_ROWS = 400  # up to here one thread makes a whole matrix: starting another takes longer
_LINE = 64  # bytes of a cache line
FEW_VECTORS = 40  # up to here reading a tile once is faster than two matrix products


def memory_budget() -> int:
    """Return how many bytes a kernel matrix may take: 1.75 times scikit-learn's `working_memory` setting.

    This is 1.75 GiB by default, so that a fit stays below 2 GiB with everything that it needs beside the matrix.
    """
    return int(1.75 * get_config()["working_memory"] * 2**20)


class MappedRows:
    """Rows of a file that is mapped to memory: those that are asked for are prepared each time."""

    def __init__(self, points: Points, dtype: Any, origin: Array | None, kernel: Kernel) -> None:
        self._points, self._given, self._kernel = points, (dtype, origin), kernel

    def __getitem__(self, part: Any) -> Any:
        """Return some prepared rows."""
        return self._kernel.prepare(self._points[part], *self._given)


class PointBlocks:
    """A kernel bound to its points: k(X, points) for any rows X, one tile at a time.

    `dtype` is the precision of the tiles. It is float64 also where float32 is asked for but loses too much on these
    points.
    """

    def __init__(self, kernel: Kernel, points: Points, dtype: Any) -> None:
        self.kernel = kernel
        with one_blas_thread():
            self.dtype = enough_precision(kernel, points, dtype)
        self.size = n_rows(points)
        self._origin = kernel.origin(points)
        self._mapped = is_mapped(points)
        given = (points, self.dtype, self._origin)
        self.rows = MappedRows(*given, kernel) if self._mapped else kernel.prepare(*given)

    def against(self, X: Points) -> Array:
        """Return k(X, points), (len(X), m)."""
        out = np.empty((n_rows(X), self.size), self.dtype)
        rows = self.kernel.prepare(X, self.dtype, self._origin)
        if not self._mapped:
            self.kernel.block(rows, self.rows, out)
            return out
        for J in _strips(self.size):  # the points are never all in memory
            block = np.empty((len(out), _length(J)), self.dtype)
            self.kernel.block(rows, self.rows[J], block)
            out[:, J] = block
        return out

    def between(self, I: slice | IntArray, J: slice | IntArray, out: Array) -> None:
        """Write k(points[I], points[J]) into `out`."""
        self.kernel.block(self.rows[I], self.rows[J], out)

    def for_each_chunk(
        self, X: Points, work: Callable[[slice, Array], None], threads: int = 1, vectors: int = 0
    ) -> None:
        """Call work(rows, k(X[rows], points)) for chunks of X; the blocks of all threads together fit in one tile.

        `vectors` is the number of those that each block is multiplied by.
        """
        stays_sparse = is_sparse(X) and self._origin is None
        stored = X.nnz // max(1, n_rows(X)) if stays_sparse else X.shape[1]
        per_row = (self.size + int(stored)) * self.dtype.itemsize
        budget = min(TILE_BYTES, memory_budget())
        slices = row_slices(n_rows(X), per_row, budget // threads)
        if len(slices) > 1:
            if vectors <= _MANY_VECTORS:  # BLAS arranges these anew for every block, which for many takes long
                budget = min(budget, max(_CHUNK_BYTES, _CHUNK_ROWS * per_row * threads))
            slices = row_slices(n_rows(X), per_row, budget // threads)
            shares = threads * -(-len(slices) // threads)  # all threads have equally much to do
            slices = row_slices(n_rows(X), 1, -(-n_rows(X) // shares))
        values = n_rows(X) * self.size
        products, afterwards = values * max(1, int(stored)), values * vectors
        run_over_rows(lambda rows: work(rows, self.against(X[rows])), slices, products, threads, afterwards)


class _Slab:
    """Memory for tiles, allocated in large pieces: the system provides these in large pages, which are much faster."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._rest = _aligned(0, dtype)

    def take(self, count: int) -> Array:
        """Return uninitialised memory for `count` numbers."""
        if len(self._rest) < count:
            self._rest = _aligned(max(count, _SLAB_BYTES // self._dtype.itemsize), self._dtype)
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken


class TileProducts:
    """Products with a symmetric matrix that is stored as tiles, wherever these are."""

    dtype: np.dtype[Any]  # precision of the tiles

    def products(self, factors: list[Array]) -> list[Array]:
        """Return K V for several V, each in its own precision, with one visit of the tiles; the list may be emptied."""
        raise NotImplementedError

    def product(self, V: Array) -> Array:
        """Return K V in float64, accumulated in float64 over the tiles; V is (n, b)."""
        return self.products([V.astype(self.dtype, copy=False)])[0]

    def product_with(self, V: Array, w: Array) -> tuple[Array, Array]:
        """Return K V and K w; the sums of K w are in float64; w is (n,)."""
        wide = w.astype(np.float64, copy=False)[:, None]
        if self.dtype == np.float64:
            product = self.product(np.column_stack([V, wide]))
            return product[:, :-1], product[:, -1]
        product, means = self.products([V.astype(self.dtype, copy=False), wide])
        return product, means[:, 0]


class SymmetricTiles(TileProducts):
    """K = k(points, points) as upper tiles, each used for K V and K^T V; kept if they fit, or else recomputed.

    With a `part` there are only these of the tiles, in the order of `tile_pairs`: products are then this part of the
    sum. A copy that is sent to another process has no tiles; it computes them there.
    """

    def __init__(
        self, kernel: Kernel, points: Points, dtype: Any, budget: int, threads: int = 1, part: slice | None = None
    ) -> None:
        self.blocks = PointBlocks(kernel, points, dtype)
        self.shape = (self.blocks.size, self.blocks.size)
        self.dtype = self.blocks.dtype
        self.threads = threads
        self.strips = _strips(self.shape[0])
        self.pairs = tile_pairs(self.shape[0], slice(None) if part is None else part)
        self._forget_tiles()
        self.bytes = tile_bytes(self.shape[0], self.pairs, self.dtype)
        self.held = self.bytes <= budget
        self.unkept = 0  # so many visits come before the one that keeps the tiles

    def _forget_tiles(self) -> None:
        self._tiles: dict[tuple[int, int], Array] = {}
        self._slabs = [_Slab(self.dtype) for _ in range(self.threads)]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_tiles", "_slabs")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget_tiles()

    def _make(self, I: slice, J: slice, space: Array) -> Array:
        """Compute one tile in the given memory."""
        tile = space[: _length(I) * _length(J)].reshape(_length(I), _length(J))
        self.blocks.between(I, J, tile)
        if I.start == J.start and self.blocks.kernel.unit_diagonal:
            np.fill_diagonal(tile, 1.0)
        return tile

    def for_each_tile(self, work: Callable[[int, slice, slice, Array], None]) -> None:
        """Call work(worker, I, J, K[I, J]) for every upper tile; the tile may be reused after the call."""
        size = _length(self.strips[0]) ** 2
        keep, self.unkept = self.held and self.unkept == 0, max(0, self.unkept - 1)
        scratch = [_aligned(0 if keep else size, self.dtype) for _ in range(self.threads)]

        def visit(worker: int, pair: tuple[int, int]) -> None:
            I, J = self.strips[pair[0]], self.strips[pair[1]]
            tile = self._tiles.get(pair)
            if tile is None:
                space = self._slabs[worker].take(_length(I) * _length(J)) if keep else scratch[worker]
                tile = self._make(I, J, space)
                if keep:
                    self._tiles[pair] = tile
            work(worker, I, J, tile)

        run_in_threads(visit, self.pairs, self.threads)

    def products(self, factors: list[Array]) -> list[Array]:
        """Return K V for several V, each in its own precision, with one visit of the tiles; the list is emptied."""
        rows = [[aligned_copy(V[strip].T) for strip in self.strips] for V in factors]  # one vector per row
        factors.clear()  # copies in another precision are not needed any more, and tiles need memory
        sums = [[[aligned_copy(np.zeros(v.shape)) for v in vectors] for vectors in rows] for _ in range(self.threads)]
        scratch = [[_spaces(vectors) for vectors in rows] for _ in range(self.threads)]

        def work(worker: int, I: slice, J: slice, tile: Array) -> None:
            a, c = I.start // _EDGE, J.start // _EDGE
            for vectors, total, spaces in zip(rows, sums[worker], scratch[worker], strict=True):
                if a == c:
                    add_symmetric(tile, vectors[a], total[a], spaces)
                else:
                    add_both(tile, vectors[a], vectors[c], total[a], total[c], spaces)

        self.for_each_tile(work)
        return [_joined(parts) for parts in zip(*sums, strict=True)]

    def columns(self, indices: IntArray) -> Array:
        """Return K[:, indices], (n, len(indices))."""
        out = np.empty((self.shape[0], len(indices)), self.dtype)
        self.blocks.between(slice(None), indices, out)
        if self.blocks.kernel.unit_diagonal:
            out[indices, np.arange(len(indices))] = 1.0
        return out

    def dense(self) -> Array:
        """Return the whole matrix, and keep no tiles beside it; the caller has checked that it fits."""
        out = np.empty(self.shape, self.dtype)
        self.held = bool(self._tiles)
        if self.held:
            self.for_each_tile(lambda _, I, J, tile: _write_both(out, I, J, tile))
        else:
            self.fill(out)
        return out

    def fill(self, out: Array, change: Callable[[slice, slice, Array], None] | None = None) -> None:
        """Write the matrix into `out`, (n, n), in flat strips that begin at the diagonal and fit in the cache.

        change(I, J, K[I, J]) may change each strip before it is rounded to the precision of `out`.
        """
        n = self.shape[0]
        threads = self.threads if n > _ONE_THREAD_ROWS else 1
        scratch = [_aligned(min(n, _STRIP) * n, self.dtype) for _ in range(threads)]

        def work(worker: int, I: slice) -> None:
            J = slice(I.start, n)
            tile = self._make(I, J, scratch[worker])
            if change is not None:
                change(I, J, tile)
            _write_both(out, I, J, tile)

        run_in_threads(work, [slice(i, min(i + _STRIP, n)) for i in range(0, n, _STRIP)], threads)


def _write_both(out: Array, I: slice, J: slice, tile: Array) -> None:
    """Write K[I, J], which begins at the diagonal or right of it, and its mirror image."""
    out[I, J] = tile
    right = max(I.stop, J.start)
    out[right : J.stop, I] = tile[:, right - J.start :].T


def _joined(of_workers: Sequence[list[Array]]) -> Array:
    """Add the sums of all workers, strip by strip, always in the same order; return (n, b)."""
    return np.concatenate([sum(parts) for parts in zip(*of_workers, strict=True)], axis=1).T


def _spaces(vectors: Sequence[Array]) -> dict[int, Array]:
    """Return memory for sums over the columns of a tile, by their number, in the precision of the vectors."""
    return {v.shape[1]: aligned_copy(np.zeros(v.shape, v.dtype)) for v in (vectors[0], vectors[-1])}


def add_symmetric(tile: Array, vectors: Array, total: Array, spaces: dict[int, Array]) -> None:
    """Add T v to `total` (float64) for a symmetric tile T and vectors v stored one per row."""
    if len(vectors) > FEW_VECTORS:
        total += vectors @ tile
        return
    half = aligned_copy(0.5 * vectors)
    add_both(tile, half, half, total, total, spaces)  # T v / 2 and T^T v / 2: both products together are faster


def add_both(
    tile: Array, at_rows: Array, at_columns: Array, rows: Array, columns: Array, spaces: dict[int, Array]
) -> None:
    """Add T v to `rows` and T^T v to `columns` (float64), for vectors v stored one per row, (b, p) and (b, q)."""
    if len(at_rows) > FEW_VECTORS:
        rows += at_columns @ tile.T
        columns += at_rows @ tile
        return
    from mercer.kernels.pairs import add_both_products, add_both_products_short  # compiled: loaded on first use

    if at_rows.dtype == np.float64:
        add_both_products(tile, at_rows, at_columns, rows, columns)
    else:
        add_both_products_short(tile, at_rows, at_columns, rows, columns, spaces[columns.shape[1]])


def aligned_copy(vectors: Array) -> Array:
    """Return a copy that starts at a cache line."""
    copy = _aligned(vectors.size, vectors.dtype).reshape(vectors.shape)
    copy[...] = vectors
    return copy


def tile_pairs(n: int, part: slice = slice(None)) -> list[tuple[int, int]]:
    """Return the numbers of the strips of each upper tile of n rows, or of a part of these tiles."""
    count = len(_strips(n))
    first, last, _ = part.indices(count * (count + 1) // 2)
    pairs: list[tuple[int, int]] = []
    start = 0
    for a in range(count):
        width = count - a
        pairs.extend((a, a + k) for k in range(max(first - start, 0), min(last - start, width)))
        start += width
    return pairs


def tile_bytes(n: int, pairs: Sequence[tuple[int, int]], dtype: Any) -> int:
    """Return the memory that these tiles take."""
    strips = _strips(n)
    return sum(_length(strips[a]) * _length(strips[b]) for a, b in pairs) * int(np.dtype(dtype).itemsize)


def _length(strip: slice) -> int:
    """Return the number of rows of a strip."""
    return int(strip.stop - strip.start)


def _strips(n: int) -> list[slice]:
    """Divide n rows into strips; only the last is shorter, so that rows of tiles start at whole cache lines."""
    return [slice(i, min(i + _EDGE, n)) for i in range(0, n, _EDGE)] or [slice(0, 0)]


def _aligned(count: int, dtype: Any) -> Array:
    """Return an uninitialised vector that starts at a cache line: a load that crosses a line takes twice as long."""
    raw = np.empty(count * np.dtype(dtype).itemsize + _LINE, np.uint8)
    first = -raw.ctypes.data % _LINE
    aligned: Array = raw[first : first + count * np.dtype(dtype).itemsize].view(dtype)
    return aligned
