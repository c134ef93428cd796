"""The kernel matrix of all rows as tiles on the workers of a cluster: products in one pass, with what they cost."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from dask.delayed import delayed
from dask.sizeof import sizeof

from mercer.arrays import Array, IntArray
from mercer.dask.allocation import memory_used_again
from mercer.dask.checkpoints import Journal
from mercer.dask.cluster import Here, LostDataError, Slot, Workers
from mercer.dask.settings import WORK
from mercer.errors import ClusterError
from mercer.kernels.base import Kernel
from mercer.kernels.precision import enough_precision
from mercer.kernels.threads import available_threads, one_blas_thread
from mercer.kernels.tiles import SymmetricTiles, TileProducts, memory_budget, tile_bytes, tile_pairs

_ATTEMPTS = 5  # at one pass, if workers are lost with data that only they had
_IN_TASKS = 2**25  # bytes of vectors that are sent to all shares as a part of their tasks: one step less for each pass
_LOOK = 1.0  # seconds between two looks whether workers have come or gone


@sizeof.register(SymmetricTiles)  # type: ignore[untyped-decorator]
def _size_of_tiles(tiles: SymmetricTiles) -> int:
    """Return the bytes of the rows, and of the tiles that will be kept."""
    rows = getattr(tiles.blocks.rows, "rows", tiles.blocks.rows)
    return int(getattr(rows, "nbytes", 0)) + (tiles.bytes if tiles.held else 0)


# -- what workers do -----------------------------------------------------------------------------------------------


def make_share(rows: Array, kernel: Kernel, dtype: Any, part: slice, room: int) -> SymmetricTiles:
    """Return some of the tiles; they are computed with the first product, and kept if they fit in the room."""
    return SymmetricTiles(kernel, rows, dtype, room, 1, part)


def share_products(share: SymmetricTiles, factors: list[Array]) -> list[Array]:
    """Return this share of the sums K V."""
    with one_blas_thread(), memory_used_again():
        return share.products(list(factors))


def summed(results: list[list[Array]]) -> list[Array]:
    """Add the results of some shares, in order."""
    total = [found.copy() for found in results[0]]
    for result in results[1:]:
        for into, found in zip(total, result, strict=True):
            into += found
    return total


# -- the driver ----------------------------------------------------------------------------------------------------


@dataclass
class Costs:
    """What the passes over the matrix cost so far."""

    workers: int = 0
    shares: int = 0
    kept: bool = False  # whether the tiles that most passes visit stay in memory
    tile_bytes: int = 0  # of all these tiles
    passes: int = 0
    replayed: int = 0  # passes that a checkpoint answered
    sent: int = 0  # bytes of vectors to each worker, over all passes
    received: int = 0  # bytes of sums from each worker, over all passes
    seconds: float = 0.0  # in passes


class ClusterTiles(TileProducts):
    """A source of products with K, for the centred operator: each worker has some of the upper tiles."""

    threads = 1

    def __init__(
        self,
        runs: Here | Workers,
        kernel: Kernel,
        X: Array,
        dtype: Any,
        costs: Costs,
        journal: Journal | None = None,
        keep: bool = True,
    ) -> None:
        self.kernel, self.X, self.costs = kernel, X, costs
        self.dtype = enough_precision(kernel, X, dtype)
        self.shape = (len(X), len(X))
        self.journal = journal
        slots = runs.slots()
        pairs = tile_pairs(len(X))
        self.bytes, self._count = tile_bytes(len(X), pairs, self.dtype), len(pairs)
        self._keep = keep
        self.held = keep and _fits(self.bytes, X, slots)
        self._shares = _SharesHere(self, slots) if isinstance(runs, Here) else _SharesOnWorkers(self, runs)
        costs.workers, costs.shares = max(1, len({slot.worker for slot in slots})), len(slots)

    def products(self, factors: list[Array]) -> list[Array]:
        """Visit all tiles once, or read what a checkpoint has of this pass."""
        start, costs = time.perf_counter(), self.costs
        known = None if self.journal is None else self.journal.known(factors)
        costs.passes += 1
        if known is not None:
            costs.replayed += 1
            return known
        found = self._shares.products(factors)
        if self.journal is not None:
            self.journal.keep(factors, found)
        costs.sent += sum(V.nbytes for V in factors)
        costs.received += sum(R.nbytes for R in found)
        costs.seconds += time.perf_counter() - start
        return found

    @cached_property
    def _here(self) -> SymmetricTiles:
        """The tiles in this process, for what cannot be done by products."""
        return SymmetricTiles(self.kernel, self.X, self.dtype, memory_budget(), available_threads())

    def columns(self, indices: IntArray) -> Array:
        """Return K[:, indices]."""
        return self._here.columns(indices)

    def for_each_tile(self, work: Callable[[int, slice, slice, Array], None]) -> None:
        """Call work(worker, rows, columns, tile) for all upper tiles, in this process."""
        self._here.threads = 1
        self._here.for_each_tile(work)

    def dense(self) -> Array:
        """Return the whole matrix, computed in this process."""
        return self._here.dense()

    def release(self) -> None:
        """Let the workers forget their tiles; without this they would stay until Python collects garbage here."""
        self._shares.release()

    def room(self, slot: Slot) -> int:
        """Return the bytes of tiles that a slot may keep, beside the rows, which are there twice."""
        return slot.room - 2 * self.X.nbytes if self._keep else 0

    def parts(self, count: int) -> list[slice]:
        """Divide the tiles into parts of nearly the same number."""
        edges = np.linspace(0, self._count, count + 1).round().astype(int)
        return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def _fits(total: int, X: Array, slots: Sequence[Slot]) -> bool:
    """Tell whether every slot has room for its part of the tiles, beside the rows, which are there twice."""
    return bool(slots) and total / len(slots) <= min(slot.room for slot in slots) - 2 * X.nbytes


class _SharesHere:
    """Shares of the tiles in this process, visited by Dask's local scheduler."""

    def __init__(self, tiles: ClusterTiles, slots: Sequence[Slot]) -> None:
        room = tiles.bytes if tiles.held else 0
        self._shares = [make_share(tiles.X, tiles.kernel, tiles.dtype, part, room) for part in tiles.parts(len(slots))]

    def products(self, factors: list[Array]) -> list[Array]:
        call = delayed(share_products, pure=False, traverse=False)
        return summed(list(dask.compute(*(call(share, factors) for share in self._shares))))

    def release(self) -> None:
        self._shares = []


class _SharesOnWorkers:
    """Shares of the tiles as futures; they are placed anew when workers come or go, or rows are lost."""

    def __init__(self, tiles: ClusterTiles, workers: Workers) -> None:
        self._tiles, self._workers = tiles, workers
        self._shares: list[Any] = []
        self._places: tuple[str, ...] = ()
        self._looked = -np.inf

    def products(self, factors: list[Array]) -> list[Array]:
        """Return K V for all factors."""
        for _ in range(_ATTEMPTS):
            try:
                self._place()
                return self._visit(factors)
            except LostDataError:
                self.release()
                self._workers.wait_for_workers()
        raise ClusterError(
            f"Workers were lost in each of {_ATTEMPTS} attempts at one pass over the kernel matrix. With "
            "checkpoint=PATH a fit that is started again continues with this pass."
        )

    def release(self) -> None:
        """Forget the futures, so that the workers forget the shares."""
        self._shares, self._places = [], ()

    def _place(self) -> None:
        """Give each thread of each worker its share, if workers have changed."""
        if self._shares and not self._changed():
            return
        self._workers.wait_for_workers()
        tiles, slots = self._tiles, self._workers.slots()
        self._shares = []
        rows = self._workers.hold(tiles.X)
        for slot, part in zip(slots, tiles.parts(len(slots)), strict=True):
            given = (rows, tiles.kernel, tiles.dtype, part, tiles.room(slot))
            self._shares.append(
                self._workers.submit(make_share, *given, workers=[slot.worker], allow_other_workers=True)
            )
        self._places = tuple(sorted({str(slot.worker) for slot in slots}))
        tiles.costs.shares, tiles.costs.workers = len(slots), len(self._places)

    def _changed(self) -> bool:
        """Tell whether workers have come or gone; asked for at most once in a while, as it takes time."""
        if time.monotonic() - self._looked < _LOOK:
            return False
        self._looked = time.monotonic()
        return self._workers.addresses() != self._places

    def _visit(self, factors: list[Array]) -> list[Array]:
        small = len(self._shares) * sum(V.nbytes for V in factors) <= _IN_TASKS
        vectors = factors if small else self._workers.hold(factors)
        submit = self._workers.submit
        found = [submit(share_products, share, vectors) for share in self._shares]
        while len(found) > WORK.fan_in:
            count = WORK.fan_in
            found = [submit(summed, found[i : i + count]) for i in range(0, len(found), count)]
        return summed(self._workers.values(found))
