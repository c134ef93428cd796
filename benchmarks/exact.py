"""Exact KernelPCA on USPS (7291 x 256), 16 components: time, accuracy and memory against scikit-learn's solvers."""

import json
import sys
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.measure import best_of_rounds, in_fresh_process, resident_growth, row
from mercer import KernelPCA, datasets

SETTINGS: dict[str, Any] = {"n_components": 16, "kernel": "rbf", "gamma": 1 / 128}
SOLVERS = {
    "sklearn arpack": partial(Peer, **SETTINGS, eigen_solver="arpack", random_state=0),
    "sklearn random": partial(Peer, **SETTINGS, eigen_solver="randomized", random_state=0),
    "mercer float64": partial(KernelPCA, **SETTINGS, precision="float64"),
    "mercer mixed": partial(KernelPCA, **SETTINGS, precision="mixed"),
}


def main() -> None:
    X = datasets.load("usps").X
    exact = np.linalg.eigvalsh(_centred(X))[::-1][:16]
    timed = best_of_rounds({name: lambda make=make: make().fit(X) for name, make in SOLVERS.items()})
    peer = min(seconds for name, (seconds, _) in timed.items() if name.startswith("sklearn"))
    memory = {name: in_fresh_process("exact", name)["MB"] for name in SOLVERS}
    row("solver", "seconds", "times faster", "eigenvalue error", "growth MB", "of sklearn's")
    for name, (seconds, model) in timed.items():
        error = float(np.max(np.abs(model.eigenvalues_ / exact - 1)))
        row(name, seconds, peer / seconds, error, memory[name], memory[name] / memory["sklearn arpack"])


def _centred(X: np.ndarray) -> np.ndarray:
    squared = np.sum((X - X.mean(0)) ** 2, 1)
    K = np.exp(-(squared[:, None] + squared - 2 * (X - X.mean(0)) @ (X - X.mean(0)).T) / 128)
    K -= K.mean(0)
    K -= K.mean(1)[:, None]
    return K


def measure_memory(name: str) -> None:
    X = datasets.load("usps").X
    SOLVERS[name]().fit(X[:1000])
    print(json.dumps({"MB": resident_growth(lambda: SOLVERS[name]().fit(X))}))


if __name__ == "__main__":
    measure_memory(sys.argv[1]) if len(sys.argv) > 1 else main()
