"""The cost model of exact kernel PCA on a cluster: what it predicts for one and two workers, and what they take."""

import time
from typing import Any

import numpy as np

from benchmarks.suite.cluster_costs import Measured, Plan, measured, predicted
from benchmarks.suite.clusters import client_of
from benchmarks.suite.plan import Objective, Solver, as_found
from benchmarks.suite.rows import angled
from mercer import KernelPCA as Local

SETTINGS: dict[str, Any] = {"n_components": 5, "kernel": "rbf", "gamma": 0.005}
FITS = 3


def rows() -> np.ndarray:
    return angled(20_000, 3)


def compared(workers: int) -> Any:
    """Return a solver that measures the costs on some rows first, predicts, and then fits all."""

    def prepare(X: np.ndarray) -> Any:
        return lambda: compare(client_of(workers), X, workers)

    return prepare


def without_cluster(X: np.ndarray) -> Any:
    """Return a solver that fits in this process."""
    return lambda: {"measured s": float(np.median([_seconds(Local(**SETTINGS), X) for _ in range(FITS)]))}


def _seconds(model: Any, X: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


def compare(client: Any, X: np.ndarray, workers: int) -> dict[str, float]:
    """Return what was measured on some of the rows, what it predicts for all, and what fits of all take."""
    from mercer.dask import KernelPCA

    costs, model = measured(client, X, SETTINGS["gamma"]), KernelPCA(**SETTINGS, client=client)
    seconds = [_seconds(model, X) for _ in range(FITS)]
    plan = Plan(len(X), X.shape[1], model.costs_["passes"], model.costs_["kept"])
    expected, found = predicted(costs, plan, workers), float(np.median(seconds))
    return {
        "predicted s": expected,
        "measured s": found,
        "difference %": 100.0 * (expected / found - 1.0),
        "passes": float(plan.passes),
        **in_units(costs),
    }


def in_units(costs: Measured) -> dict[str, float]:
    """Return the costs as numbers that can be read."""
    return {
        "tile made ms": 1e3 * costs.made,
        "tile read ms": 1e3 * costs.read,
        "float64 tile ms": 1e3 * costs.exact,
        "pass ms": 1e3 * costs.latency,
        "task ms": 1e3 * costs.task,
        "GB/s": 1e-9 / max(costs.byte, 1e-15),
        "driver us/row": 1e6 * costs.driver,
    }


OBJECTIVE = Objective(
    name="dask_cost",
    question="does the cost model predict the time of a fit on one and on two workers?",
    bar="within 15 % of the measured time",
    datasets={"exact, 20000 x 50": rows},
    solvers=[
        Solver("mercer KernelPCA, two threads, no cluster", without_cluster, peer=True),
        Solver("mercer.dask.KernelPCA, one worker", compared(1)),
        Solver("mercer.dask.KernelPCA, two workers", compared(2)),
    ],
    quality=as_found,
    rounds=0,
    default=False,
)
