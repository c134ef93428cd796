"""A cost model of exact kernel PCA on a cluster: what is measured once, and what follows for any number of workers.

A fit takes what the driver does by itself, and passes over the tiles of the upper triangle. A pass takes the visits of
a worker's own tiles, its way to the workers and back, and the bytes of one block of vectors each way. All passes but
one visit tiles in float32: the first computes them, the others read them where they are kept, and compute them again
where they are not. One pass computes tiles in float64.
"""

import math
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

EDGE = 512  # rows of a tile
BLOCK = 8  # vectors of a pass
FAN_IN = 8  # results that one task adds up
_ROWS = 6144  # rows of the measured shares: 78 tiles, far more than the caches hold
_BIG = 2**24  # bytes that are sent to measure the rate
_REPEATS = 5  # shares that are computed anew: the first use of memory takes longer than later ones
_TASKS = 200  # tasks that are given to the scheduler at once, to measure what one takes


@dataclass(frozen=True)
class Measured:
    """What was measured on one cluster, in seconds."""

    made: float  # a tile in float32, computed, kept and visited, while all workers of the machine do this
    read: float  # a tile in float32, visited in memory
    exact: float  # a tile in float64, computed and visited
    latency: float  # a pass with nearly nothing to compute
    task: float  # one more task for the scheduler
    byte: float  # a byte, to a worker or back
    driver: float  # a row, in everything that the driver does outside of passes


@dataclass(frozen=True)
class Plan:
    """A fit: its rows, features and passes, and whether the workers keep the tiles."""

    rows: int
    features: int
    passes: int
    kept: bool

    @property
    def tiles(self) -> int:
        """Return the number of upper tiles."""
        strips = -(-self.rows // EDGE)
        return strips * (strips + 1) // 2

    @property
    def block_bytes(self) -> int:
        """Return the bytes of one block of vectors."""
        return 8 * BLOCK * self.rows


def predicted(costs: Measured, plan: Plan, workers: int) -> float:
    """Return the seconds of a fit on so many workers with one thread each."""
    own = math.ceil(plan.tiles / workers)
    first, later = own * (costs.made + costs.exact), own * (costs.read if plan.kept else costs.made)
    spread = plan.rows * plan.features * 8 * costs.byte * (1 + math.log2(workers))
    between = plan.passes * exchange(costs, plan, workers)
    return spread + first + (plan.passes - 2) * later + between + costs.driver * plan.rows


def exchange(costs: Measured, plan: Plan, workers: int) -> float:
    """Return the seconds of one pass beside its tiles: vectors pass from worker to worker, sums come back in a tree."""
    copies = 1.0 + math.log2(workers)  # in each step twice as many workers have the vectors
    levels = max(0, math.ceil(math.log(workers, FAN_IN)) - 1) if workers > 1 else 0
    back = levels * FAN_IN + min(workers, FAN_IN)
    return costs.latency * (1 + levels) + costs.task * workers + plan.block_bytes * costs.byte * (copies + back)


# -- measuring -----------------------------------------------------------------------------------------------------


def measured(client: Any, rows: np.ndarray, gamma: float) -> Measured:
    """Measure all costs on the workers of a client, with some of the rows; takes some seconds."""
    some = np.ascontiguousarray(rows[:_ROWS])
    made, read, exact = _tiles(client, some, gamma)
    latency, byte = _exchange(client)
    return Measured(made, read, exact, latency, _tasks(client), byte, _driver_row(client, some, gamma))


def _tiles(client: Any, rows: np.ndarray, gamma: float) -> tuple[float, float, float]:
    """Return the seconds of a tile in a first pass, in later ones and in float64, the medians over the workers."""
    given = [(rows, gamma, address) for address in sorted(client.nthreads())]
    times = [client.submit(_visits, X, width, workers=[address], pure=False) for X, width, address in given]
    made, read, exact = zip(*client.gather(times), strict=True)
    return median(made), median(read), median(exact)


def _visits(X: np.ndarray, gamma: float) -> tuple[float, float, float]:
    """Return the seconds of a tile in the first pass, in a later one, and in one of float64, on this worker."""
    kept = [_seconds_per_tile(X, gamma, np.float32, 2**40) for _ in range(_REPEATS)]
    again = _seconds_per_tile(X, gamma, np.float64, 0)
    return median(one[0] for one in kept), median(one[1] for one in kept), median(again)


def _seconds_per_tile(X: np.ndarray, gamma: float, dtype: Any, room: int) -> list[float]:
    """Return the seconds of a tile in some passes, of which the first computes tiles that are kept."""
    from mercer.dask.cluster_tiles import make_share, share_products
    from mercer.kernels import RBF

    V, seconds = np.random.default_rng(0).normal(size=(len(X), BLOCK)).astype(dtype), []
    share_products(make_share(X[:1024], RBF(gamma), dtype, slice(None), room), [V[:1024]])  # compiled
    share = make_share(X, RBF(gamma), dtype, slice(None), room)
    for _ in range(3):
        start = time.perf_counter()
        share_products(share, [V])
        seconds.append((time.perf_counter() - start) / len(share.pairs))
    return seconds


def _exchange(client: Any) -> tuple[float, float]:
    """Return the seconds of a pass without work, and of a byte that goes to a worker and comes back, for each way."""
    small, large = _round_trip(client, 64), _round_trip(client, _BIG)
    ways = 2 * len(client.nthreads())
    return small, max(large - small, 0.0) / (ways * _BIG)


def _round_trip(client: Any, size: int) -> float:
    """Return how long it takes to send so many bytes to every worker and to get them back."""
    from mercer.dask.cluster import Workers

    workers, data, seconds = Workers(client), [np.zeros(size // 8)], []
    for _ in range(7):
        start = time.perf_counter()
        workers.values([workers.submit(_same, data, workers=[address]) for address in sorted(client.nthreads())])
        seconds.append(time.perf_counter() - start)
    return median(seconds)


def _same(data: Any) -> Any:
    return [values + 0.0 for values in data]


def _tasks(client: Any) -> float:
    """Return the seconds that one more task takes."""
    start = time.perf_counter()
    client.gather(client.map(_nothing, range(_TASKS), pure=False))
    return (time.perf_counter() - start) / _TASKS


def _nothing(number: int) -> int:
    return number


def _driver_row(client: Any, rows: np.ndarray, gamma: float) -> float:
    """Return the seconds of a row outside of passes, by a small fit."""
    from mercer.dask import KernelPCA

    outside = []
    for _ in range(2):
        start = time.perf_counter()
        model = KernelPCA(5, kernel="rbf", gamma=gamma, client=client).fit(rows)
        outside.append(time.perf_counter() - start - model.costs_["seconds"])
    return min(outside) / len(rows)
