"""Worker processes that are killed at random times in a fit: how many fits end with the same result."""

import os
import random
import signal
import threading
import time
from typing import Any

import numpy as np

from benchmarks.suite.clusters import client_of, new_client
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rows import angled
from mercer import KernelPCA

SETTINGS: dict[str, Any] = {"n_components": 5, "kernel": "rbf", "gamma": 0.005}
RUNS = 20


def rows() -> np.ndarray:
    return angled(6000, 3)


def calm(X: np.ndarray) -> Any:
    return lambda: [KernelPCA(**SETTINGS).fit(X)]


def killed(X: np.ndarray) -> Any:
    from mercer import dask

    def call() -> list[Any]:
        usual, rng, models = timed_fit(X), random.Random(0), []
        for _ in range(RUNS):  # a cluster of their own, as Dask does not always start a killed worker again
            client = new_client(2)
            pid = rng.choice(sorted(client.run(os.getpid).values()))
            timer = threading.Timer(rng.uniform(0.0, usual), os.kill, (pid, signal.SIGKILL))
            timer.start()
            models.append(dask.KernelPCA(**SETTINGS, client=client).fit(X))
            timer.join()
            client.close()
            client.cluster.close()
        return models

    return call


def timed_fit(X: np.ndarray) -> float:
    """Return how long a fit takes on two workers, of which none is killed."""
    from mercer import dask

    client = client_of(2)
    start = time.perf_counter()
    dask.KernelPCA(**SETTINGS, client=client).fit(X)
    return time.perf_counter() - start


def same(X: np.ndarray, models: list[Any]) -> dict[str, float]:
    """Return how many models have the eigenvalues and scores of the local one to 1e-10."""
    local = KernelPCA(**SETTINGS).fit(X)
    scores = local.transform(X[:500])
    size, values = np.abs(scores).max(), local.eigenvalues_
    found = [
        bool(np.allclose(model.eigenvalues_, values, rtol=1e-10, atol=0.0))
        and bool(np.abs(model.transform(X[:500]) - scores).max() <= 1e-10 * size)
        for model in models
    ]
    return {"fits": float(len(found)), "same results": float(sum(found))}


OBJECTIVE = Objective(
    name="dask_faults",
    question="how many of 20 fits give the same result when a random worker is killed at a random time?",
    bar="20 of 20",
    datasets={"exact, 6000 x 50": rows},
    solvers=[
        Solver("mercer KernelPCA, no cluster", calm, peer=True),
        Solver("mercer.dask.KernelPCA, two workers, one killed", killed),
    ],
    quality=same,
    rounds=0,
    default=False,
)
