"""Exact kernel PCA whose tiles do not fit in the memory of the workers: 100,000 rows on two workers of 1 GiB."""

import time
from typing import Any

import numpy as np

from benchmarks.suite.clusters import new_client, resident_mib
from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.rows import angled
from mercer import KernelPCA as Local

SETTINGS: dict[str, Any] = {"n_components": 5, "kernel": "rbf", "gamma": 0.005}
ROWS = 100_000


def rows() -> np.ndarray:
    return angled(ROWS, 3)


def on_small_workers(X: np.ndarray) -> Any:
    return lambda: fitted(X, SETTINGS, "1GiB")


def without_cluster(X: np.ndarray) -> Any:
    return lambda: fitted_locally(X, SETTINGS)


def fitted_locally(X: np.ndarray, settings: dict[str, Any]) -> dict[str, float]:
    """Return the same of a fit in this process."""
    start = time.perf_counter()
    model = Local(**settings).fit(X)
    return {"seconds in all": time.perf_counter() - start, "first eigenvalue": float(model.eigenvalues_[0])}


def fitted(X: np.ndarray, settings: dict[str, Any], memory_limit: str) -> dict[str, float]:
    """Return what a fit on two workers of so much memory needs, and the largest memory of a worker after any pass."""
    from mercer.dask import KernelPCA

    client, peaks = new_client(2, memory_limit), [0.0]
    start = time.perf_counter()
    try:
        model = KernelPCA(**settings, client=client)
        model.observers = (lambda event: peaks.append(max(resident_mib(client))),)
        model.fit(X)
        costs, spent = model.costs_, time.perf_counter() - start
    finally:
        client.close()
        client.cluster.close()
    return {
        "passes": costs["passes"],
        "seconds in all": spent,
        "seconds in passes": costs["seconds"],
        "tiles kept": float(costs["kept"]),
        "tiles MiB": costs["tile_bytes"] / 2**20,
        "sent MiB": costs["sent"] / 2**20,
        "largest worker MiB": max(peaks),
        "first eigenvalue": float(model.eigenvalues_[0]),
    }


OBJECTIVE = Objective(
    name="dask_exact_large",
    question="does an exact fit of 100,000 rows run on two workers with 1 GiB each, and how long does it take?",
    bar="it ends, and no worker is above 1024 MiB",
    datasets={f"exact, {ROWS} x 50": rows},
    solvers=[
        Solver("mercer KernelPCA, two threads, no cluster", without_cluster, peer=True),
        Solver("mercer.dask.KernelPCA, two workers of 1 GiB", on_small_workers),
    ],
    quality=as_found,
    rounds=0,
    default=False,
)
