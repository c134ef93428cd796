"""The fused Gaussian tile against numpy's matrix product and exp, 4000 x 4000, one thread each."""

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import best_seconds, row
from mercer.kernels.functions import RBF


def plain(X: np.ndarray, gamma: float) -> np.ndarray:
    """The usual line of numpy."""
    squared = np.sum(X * X, axis=1)
    return np.exp(-gamma * (squared[:, None] + squared - 2 * X @ X.T))


def in_place(X: np.ndarray, gamma: float, out: np.ndarray) -> np.ndarray:
    """The same with every step in place, in a buffer that is there already."""
    squared = np.sum(X * X, axis=1)
    np.dot(X, X.T, out=out)
    out *= -2
    out += squared[:, None]
    out += squared
    np.maximum(out, 0, out=out)
    out *= -gamma
    return np.exp(out, out=out)


def main() -> None:
    row("features", "dtype", "numpy ms", "in place ms", "fused ms", "ratio", "ratio in place")
    with threadpool_limits(1):
        for d in (10, 50, 256):
            for dtype in (np.float64, np.float32):
                compare(d, dtype)


def compare(d: int, dtype: type) -> None:
    X = np.random.default_rng(0).standard_normal((4000, d)).astype(dtype)
    kernel, gamma, out = RBF(0.5 / d), dtype(0.5 / d), np.empty((4000, 4000), dtype)
    rows = kernel.prepare(X, dtype)
    ours, _ = best_seconds(lambda: kernel.block(rows, rows, out), 7)
    buffered, _ = best_seconds(lambda: in_place(X, gamma, out), 7)
    numpy, _ = best_seconds(lambda: plain(X, gamma), 7)
    row(d, dtype.__name__, numpy * 1e3, buffered * 1e3, ours * 1e3, numpy / ours, buffered / ours)


if __name__ == "__main__":
    main()
