"""Kernel PCA on processes of one machine: the price of a cluster, and what a second worker brings."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import IncrementalPCA
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

from benchmarks.suite.clusters import client_of
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import angled
from mercer import KernelPCA, LandmarkKernelPCA

EXACT: dict[str, Any] = {"n_components": 5, "kernel": "rbf", "gamma": 0.005}
LANDMARKS: dict[str, Any] = {"n_components": 5, "gamma": 0.02, "landmarks": 256, "random_state": 0}
PIECE = 50_000
EXACT_NAME, ROWS_NAME = "exact, 20000 x 50", "landmarks, 1000000 x 20"


class Pieces(NamedTuple):
    """Rows that are made piece by piece, never all in memory."""

    count: int

    def __call__(self, number: int) -> np.ndarray:
        return np.random.default_rng(number).normal(size=(PIECE, 20))


def exact_rows() -> np.ndarray:
    return angled(20_000, 3)


def many_rows() -> Pieces:
    return Pieces(20)


def local_exact(X: np.ndarray) -> Any:
    return lambda: KernelPCA(**EXACT).fit(X)


def exact_on(workers: int) -> Any:
    def prepare(X: np.ndarray) -> Any:
        from mercer import dask

        client = client_of(workers)
        return lambda: dask.KernelPCA(**EXACT, client=client).fit(X)

    return prepare


def local_stream(pieces: Pieces, threads: int = 1) -> Any:
    """Return a fit of one process; workers have one thread each, so its matrix products get no more by default."""

    def call() -> LandmarkKernelPCA:
        with threadpool_limits(threads):
            return LandmarkKernelPCA(**LANDMARKS, n_jobs=threads).fit(pieces(i) for i in range(pieces.count))

    return call


def local_stream_of_two(pieces: Pieces) -> Any:
    return local_stream(pieces, threads=2)


def nystroem(pieces: Pieces) -> Any:
    """Return scikit-learn's nearest pipeline, one piece after the other."""

    def call() -> Any:
        features = Nystroem(gamma=LANDMARKS["gamma"], n_components=256, random_state=0).fit(pieces(0)[:3000])
        model = IncrementalPCA(5, batch_size=PIECE)
        for i in range(pieces.count):
            model.partial_fit(features.transform(pieces(i)))
        return model

    return call


def landmarks_on(workers: int) -> Any:
    def prepare(pieces: Pieces) -> Any:
        import dask as scheduler

        from mercer import dask

        client, make = client_of(workers), scheduler.delayed(pieces, pure=False)
        return lambda: dask.LandmarkKernelPCA(**LANDMARKS, client=client).fit([make(i) for i in range(pieces.count)])

    return prepare


_EXACT = [
    Solver("mercer KernelPCA, two threads, no cluster", local_exact, peer=True),
    Solver("mercer.dask.KernelPCA, one worker", exact_on(1)),
    Solver("mercer.dask.KernelPCA, two workers", exact_on(2)),
]
_ROWS = [
    Solver("mercer LandmarkKernelPCA, one thread, no cluster", local_stream, peer=True),
    Solver("mercer LandmarkKernelPCA, two threads, no cluster", local_stream_of_two, peer=True),
    Solver("scikit-learn Nystroem + IncrementalPCA", nystroem, peer=True),
    Solver("mercer.dask.LandmarkKernelPCA, one worker", landmarks_on(1)),
    Solver("mercer.dask.LandmarkKernelPCA, two workers", landmarks_on(2)),
]
OTHER = "for the other data set"

OBJECTIVE = Objective(
    name="dask",
    question="what does a cluster of processes cost, and what does a second worker bring?",
    bar="exact: two workers at least 0.77 times as fast as two threads, and 1.7 times as fast as one worker",
    datasets={EXACT_NAME: exact_rows, ROWS_NAME: many_rows},
    solvers=[*_EXACT, *_ROWS],
    rounds=2,
    default=False,
    skip={
        **{(ROWS_NAME, solver.name): OTHER for solver in _EXACT},
        **{(EXACT_NAME, solver.name): OTHER for solver in _ROWS},
    },
)
