"""Exact kernel PCA of 300,000 rows with 5 components in mixed precision, on two workers of this machine."""

from typing import Any

import numpy as np

from benchmarks.suite.objectives.dask_exact_large import fitted, fitted_locally
from benchmarks.suite.plan import Objective, Solver, as_found

SETTINGS: dict[str, Any] = {"n_components": 5, "kernel": "rbf", "gamma": 0.02, "precision": "mixed"}
ROWS = 300_000


def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(ROWS, 20)) * np.linspace(1.5, 0.1, 20)


def on_two_workers(X: np.ndarray) -> Any:
    return lambda: fitted(X, SETTINGS, "auto")


def without_cluster(X: np.ndarray) -> Any:
    return lambda: fitted_locally(X, SETTINGS)


OBJECTIVE = Objective(
    name="dask_exact_mixed",
    question="how long does an exact fit of 300,000 rows with 5 components take in mixed precision?",
    datasets={f"exact, {ROWS} x 20": rows},
    solvers=[
        Solver("mercer KernelPCA, mixed, two threads, no cluster", without_cluster, peer=True),
        Solver("mercer.dask.KernelPCA, mixed, two workers", on_two_workers),
    ],
    quality=as_found,
    rounds=0,
    default=False,
)
