"""The Gaussian kernel of two blocks of rows, on one thread."""

from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.suite.plan import Objective, Solver
from mercer.kernels.distance import RBF


def rows(d: int, dtype: Any) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((4000, d)).astype(dtype)


def plain(X: np.ndarray, gamma: float) -> np.ndarray:
    """Compute the block as usual in numpy."""
    squared = np.sum(X * X, axis=1)
    return np.exp(-gamma * (squared[:, None] + squared - 2 * X @ X.T))


def in_place(X: np.ndarray, gamma: float, out: np.ndarray) -> np.ndarray:
    """The same with every step in place, in a buffer that exists already."""
    squared = np.sum(X * X, axis=1)
    np.dot(X, X.T, out=out)
    out *= -2
    out += squared[:, None]
    out += squared
    np.maximum(out, 0, out=out)
    out *= -gamma
    return np.exp(out, out=out)


def on_one_thread(call: Any) -> Any:
    def limited() -> Any:
        with threadpool_limits(1):
            return call()

    return limited


def fused(X: np.ndarray) -> Any:
    kernel, out = RBF(0.5 / X.shape[1]), np.empty((4000, 4000), X.dtype)
    prepared = kernel.prepare(X, X.dtype)
    return on_one_thread(lambda: kernel.block(prepared, prepared, out))


def buffered(X: np.ndarray) -> Any:
    out = np.empty((4000, 4000), X.dtype)
    return on_one_thread(lambda: in_place(X, X.dtype.type(0.5 / X.shape[1]), out))


OBJECTIVE = Objective(
    name="tile",
    question="how long does a 4000 x 4000 block of Gaussian kernel values take?",
    bar="at least 2 times numpy",
    datasets={
        f"d={d} {np.dtype(t).name}": partial(rows, d, t) for d in (10, 50, 256) for t in (np.float64, np.float32)
    },
    solvers=[
        Solver("numpy", lambda X: on_one_thread(lambda: plain(X, X.dtype.type(0.5 / X.shape[1]))), peer=True),
        Solver("numpy in place", buffered),
        Solver("mercer fused", fused),
    ],
    rounds=5,
)
