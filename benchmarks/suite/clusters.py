"""Clusters of real processes on this machine, for objectives; they end with the process that measures."""

import atexit
import logging
from functools import cache
from typing import Any


def new_client(workers: int, memory_limit: str = "auto") -> Any:
    """Return a client of new worker processes with one thread each; `client.cluster.close()` ends them."""
    from distributed import Client, LocalCluster

    given: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    given["memory_limit"] = memory_limit
    cluster = LocalCluster(n_workers=workers, silence_logs=logging.CRITICAL, **given)
    return Client(cluster, set_as_default=False)


def resident_mib(client: Any) -> list[float]:
    """Return the memory of each worker process now, in MiB."""
    return sorted(client.run(_resident).values())


def _resident() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss) / 2**20


@cache
def client_of(workers: int) -> Any:
    """Return a client of some worker processes with one thread each, with everything imported and compiled there."""
    import numpy as np

    from mercer.dask import KernelPCA, LandmarkKernelPCA

    client = new_client(workers)
    atexit.register(client.cluster.close)
    atexit.register(client.close)
    X = np.random.default_rng(0).normal(size=(2000, 5))
    KernelPCA(2, kernel="rbf", gamma=0.1, client=client).fit(X)
    LandmarkKernelPCA(2, gamma=0.1, landmarks=64, client=client).fit([X] * (2 * workers))
    return client
