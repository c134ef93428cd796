"""How often L1-norm kernel PCA finds the global optimum of small problems, known from all sign vectors."""

from itertools import product
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

from benchmarks.suite.plan import Objective, Solver
from mercer import L1KernelPCA


def small_kernel(rng: np.random.Generator, linear: bool) -> np.ndarray:
    n = int(rng.integers(4, 13))
    X = rng.standard_normal((n, int(rng.integers(2, 8))))
    K = X @ X.T if linear else np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=-1))
    return np.asarray(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())


def best(K: np.ndarray) -> float:
    C = np.array([(1, *rest) for rest in product((1, -1), repeat=len(K) - 1)])
    return float(np.einsum("ij,ij->i", C @ K, C).max())


def by(**options: Any) -> Any:
    def signs(K: np.ndarray) -> np.ndarray:
        return np.asarray(L1KernelPCA(1, kernel="precomputed", center=False, **options).fit(K).signs_[0])

    return lambda kernels: lambda: [signs(K) for K in kernels]


def of_l2(kernels: list[np.ndarray]) -> Any:
    """Take the signs of the first component of kernel PCA."""
    return lambda: [np.where(Peer(1, kernel="precomputed").fit(K).eigenvectors_[:, 0] < 0, -1, 1) for K in kernels]


def hits(kernels: list[np.ndarray], found: list[np.ndarray]) -> float:
    reached = [c @ K @ c >= best(K) * (1 - 1e-9) for K, c in zip(kernels, found, strict=True)]
    return 100 * float(np.mean(reached))


OBJECTIVE = Objective(
    name="l1_optimum",
    question="how often is the global optimum found, for centred kernels of 4 to 12 rows, half of them linear?",
    datasets={"300 kernels": lambda: [small_kernel(np.random.default_rng(k), linear=bool(k % 2)) for k in range(300)]},
    solvers=[
        Solver("signs of scikit-learn's KernelPCA", of_l2, peer=True),
        Solver("mercer, Algorithm 1", by()),
        Solver("mercer, init='best', refine='flip'", by(init="best", refine="flip")),
    ],
    quality=hits,
    quality_name="optimum found, %",
    rounds=0,
)
