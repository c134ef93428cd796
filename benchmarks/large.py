"""Many rows: 20,000 x 50 against scikit-learn, and 50,000 x 50 in bounded memory (scikit-learn's matrix: 20 GB)."""

import json
import sys
import time

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.measure import best_seconds, in_fresh_process, resident_growth, row
from mercer import KernelPCA


def data(n: int) -> np.ndarray:
    """Points near a curved surface of ten dimensions in 50."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 10))
    return np.tanh(latent @ rng.standard_normal((10, 50)) / 3) + 0.05 * rng.standard_normal((n, 50))


def main() -> None:
    X = data(20_000)
    settings = {"n_components": 10, "kernel": "rbf", "gamma": 1 / 50}
    row("n", "solver", "seconds", "times faster", "relative to peer")
    peer, reference = best_seconds(lambda: Peer(**settings, eigen_solver="arpack", random_state=0).fit(X), 1)
    row(len(X), "sklearn arpack", peer, 1.0, 0.0)
    for precision in ("float64", "mixed"):
        seconds, model = best_seconds(lambda p=precision: KernelPCA(**settings, precision=p).fit(X), 1)
        error = float(np.max(np.abs(model.eigenvalues_ / reference.eigenvalues_ - 1)))
        row(len(X), f"mercer {precision}", seconds, peer / seconds, error)
    for precision in ("float64", "mixed"):
        result = in_fresh_process("large", precision)
        row(50_000, f"mercer {precision}", result["seconds"], f"growth {result['MB']:.0f} MB")


def measure(precision: str) -> None:
    X = data(50_000)
    settings = {"n_components": 10, "kernel": "rbf", "gamma": 1 / 50, "precision": precision}
    KernelPCA(**settings).fit(X[:1000])
    start = time.perf_counter()
    growth = resident_growth(lambda: KernelPCA(**settings).fit(X))
    print(json.dumps({"MB": growth, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
