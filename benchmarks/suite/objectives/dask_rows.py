"""Kernel PCA on landmarks of ten million rows, made piece by piece: rows per second, and the memory of the workers."""

import time
from typing import Any

from benchmarks.suite.clusters import client_of, resident_mib
from benchmarks.suite.objectives.dask import LANDMARKS, PIECE, Pieces, local_stream, nystroem
from benchmarks.suite.plan import Objective, Solver, as_found

PIECES = 200


def many_rows() -> Pieces:
    return Pieces(PIECES)


def local(pieces: Pieces) -> Any:
    call = local_stream(pieces)
    return lambda: rated(call, pieces)


def local_of_two(pieces: Pieces) -> Any:
    call = local_stream(pieces, threads=2)
    return lambda: rated(call, pieces)


def peer(pieces: Pieces) -> Any:
    call = nystroem(pieces)
    return lambda: rated(call, pieces)


def rated(call: Any, pieces: Pieces) -> dict[str, float]:
    """Return the rows per second of a call."""
    start = time.perf_counter()
    call()
    return {"rows/s": pieces.count * PIECE / (time.perf_counter() - start)}


def on_workers(workers: int) -> Any:
    def prepare(pieces: Pieces) -> Any:
        return lambda: watched(client_of(workers), pieces)

    return prepare


def watched(client: Any, pieces: Pieces) -> dict[str, float]:
    """Return the rows per second, and the largest memory of a worker after each quarter of the partitions."""
    import dask as scheduler

    from mercer import dask

    make, memory = scheduler.delayed(pieces, pure=False), dict[int, float]()

    def watch(event: Any) -> None:
        if event.stage == "partitions learned":
            done = 25 * int(4 * event.step / pieces.count)
            if done and done not in memory:
                memory[done] = max(resident_mib(client))

    model = dask.LandmarkKernelPCA(**LANDMARKS, client=client)
    model.observers = (watch,)
    found = rated(lambda: model.fit([make(i) for i in range(pieces.count)]), pieces)
    return {**found, **{f"MiB at {share} %": memory[share] for share in sorted(memory)}}


OBJECTIVE = Objective(
    name="dask_rows",
    question="how many rows of ten million does a worker learn per second, and does its memory stay the same?",
    bar="at least 0.8 of the local stream of one thread for each worker; the same memory at 25 % and at 100 %",
    datasets={f"landmarks, {PIECES * PIECE} x 20": many_rows},
    solvers=[
        Solver("mercer LandmarkKernelPCA, one thread, no cluster", local, peer=True),
        Solver("mercer LandmarkKernelPCA, two threads, no cluster", local_of_two, peer=True),
        Solver("scikit-learn Nystroem + IncrementalPCA", peer, peer=True),
        Solver("mercer.dask.LandmarkKernelPCA, one worker", on_workers(1)),
        Solver("mercer.dask.LandmarkKernelPCA, two workers", on_workers(2)),
    ],
    quality=as_found,
    rounds=0,
    default=False,
)
