"""Work in threads over rows: how many rows at a time, how many threads, and BLAS on one thread inside.

Compiled code and BLAS run on one thread inside a tile; threads run over tiles. That is faster than a threaded BLAS on
blocks of this size, and safe after a fork.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Event
from typing import TypeVar

import numpy as np
from threadpoolctl import LibController, ThreadpoolController

from mercer.arrays import Array

TILE_BYTES = 32 * 2**20
_FEW_PRODUCTS = 2**24  # of numbers, about a millisecond: for less, starting threads is not worth it
_TINY_PRODUCTS = 2**18  # up to here BLAS itself takes one thread

Item = TypeVar("Item")


def row_slices(n: int, bytes_per_row: int, budget: int = TILE_BYTES) -> list[slice]:
    """Divide n rows into consecutive slices, each within the budget and none empty."""
    step = max(1, budget // max(1, bytes_per_row))
    return [slice(i, min(i + step, n)) for i in range(0, n, step)]


@cache
def _libraries(kind: str) -> list[LibController]:
    """Return the BLAS or OpenMP libraries of this process; finding them takes long, so it is done once."""
    found: list[LibController] = ThreadpoolController().select(user_api=kind).lib_controllers
    return found


def available_threads(n_jobs: int | None = None) -> int:
    """Return the number of worker threads: that of BLAS, unless `n_jobs` is given."""
    blas = max((int(library.get_num_threads()) for library in _libraries("blas")), default=1)
    if n_jobs is None:
        return blas
    return max(1, n_jobs if n_jobs > 0 else blas + 1 + n_jobs)


def one_blas_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS runs on one thread, for work whose parallelism is over tiles, and for small work.

    It is entered once around a whole solve: idle BLAS threads keep a processor busy for a while after each threaded
    call, which would slow down the threads over tiles.
    """
    return _on_one_thread("blas")


def one_thread() -> AbstractContextManager[None]:
    """Return a context in which BLAS and OpenMP, which scikit-learn's loops use, run on one thread: for small work."""
    return _on_one_thread("blas", "openmp")


@contextmanager
def _on_one_thread(*kinds: str) -> Iterator[None]:
    before = [(library, library.get_num_threads()) for kind in kinds for library in _libraries(kind)]
    try:
        for library, count in before:
            if count != 1:
                library.set_num_threads(1)
        yield
    finally:
        for library, count in before:
            if count != 1:
                library.set_num_threads(count)


def run_in_threads(work: Callable[[int, Item], object], items: Sequence[Item], threads: int) -> None:
    """Call work(worker, item) for all items; `worker` says which scratch space the call may use.

    Items are assigned in turn, not to the first free worker, so that sums over a worker's items never depend on timing.
    Where the calling thread is interrupted, the others stop after the items they are at.
    """
    stopped = Event()

    def loop(worker: int) -> None:
        for item in items[worker::threads]:
            if stopped.is_set():
                return
            work(worker, item)

    others = range(1, min(threads, len(items)))
    if not others:
        for worker in range(threads):
            loop(worker)
        return
    with one_blas_thread(), ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(loop, worker) for worker in others]
        try:
            loop(0)
            for future in running:
                future.result()  # raises the exception of a worker
        except BaseException:
            stopped.set()  # leaving the pool waits for its threads: after Ctrl-C for the rest of the pass
            raise


def run_over_rows(
    work: Callable[[slice], object], slices: list[slice], products: int, threads: int, afterwards: int = 0
) -> None:
    """Call work(rows) for all slices; `products` says how many products of numbers that takes in all.

    `afterwards` counts those of the matrix products that use the results. If only these are many, BLAS may use threads.

    A few are computed by one thread. Of more, a single slice is divided among the threads. BLAS is not left to do that:
    its threads wait for each other at every product, on a busy machine for ten to a hundred times as long as the
    product takes. With one thread given, BLAS may use its own for large products.
    """
    few, tiny = products <= _FEW_PRODUCTS, products <= _TINY_PRODUCTS
    if len(slices) == 1 and threads > 1 and not few:
        rows = slices[0].stop
        slices = row_slices(rows, 1, -(-rows // threads))
    limited = afterwards <= _FEW_PRODUCTS if few else threads > 1
    with one_blas_thread() if limited and not tiny else nullcontext():
        run_in_threads(lambda _, rows: work(rows), slices, 1 if few else min(threads, len(slices) or 1))


def rows_times(A: Array, B: Array) -> Array:
    """Return A @ B for many rows and a small B, in threads over the rows if there is enough to do."""
    out = np.empty((len(A), B.shape[1]), np.result_type(A, B))
    rows = [slice(0, len(A))]
    run_over_rows(lambda part: np.matmul(A[part], B, out=out[part]), rows, A.size * B.shape[1], available_threads())
    return out
