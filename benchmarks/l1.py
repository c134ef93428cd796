"""L1-norm kernel PCA: robustness [kim2019, sec. 6.1] and time [kim2019, sec. 6.3], beside its rivals and scikit-learn.

`python -m benchmarks.l1 variation [instances]`, `python -m benchmarks.l1 time [data set] [rivals]`, or both without
words; `python -m benchmarks.l1 optimum [kernels]`: how often the global optimum of small problems is found;
`python -m benchmarks.l1 linear [data set]`: all components of the linear kernel, from the rows and from a kernel matrix
that is given. The bounds: in the linear rows L1 above L2; times of L1 at most 0.8 (float64) and 0.6 (float32) of the
peer's; from the rows at most 2 times (musk) and 0.8 times (odds_mnist) as long as from the matrix.
"""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA as Peer
from sklearn.preprocessing import StandardScaler

from benchmarks.measure import best_of_rounds, row
from mercer import KernelPCA, L1KernelPCA, R1KernelPCA, datasets
from mercer.metrics import total_explained_variation

METHODS: dict[str, Callable[..., Any]] = {
    "L2": KernelPCA,
    "L1 fixed point": L1KernelPCA,
    "L1 best, flip": partial(L1KernelPCA, init="best", refine="flip"),
    "projection trick": partial(L1KernelPCA, algorithm="projection_trick"),
    "linear system": partial(L1KernelPCA, algorithm="linear_system"),
    "R1": R1KernelPCA,
}
SHARES = (5, 10, 15, 20, 25, 30)
N, D, RANK, P = 1000, 50, 10, 4


def normal_rows(rng: np.random.Generator) -> np.ndarray:
    """1000 x 50 of rank 10, standardised."""
    scales = np.linspace(2.0, 1.0, RANK)
    return np.asarray(
        StandardScaler().fit_transform((rng.standard_normal((N, RANK)) * scales) @ rng.standard_normal((RANK, D)))
    )


def perturbation(rng: np.random.Generator, share: int) -> np.ndarray:
    """Unit noise in a tenth of the entries of some rows."""
    noise = np.zeros((N, D))
    rows = rng.permutation(N)[: N * share // 100]
    noise[rows] = rng.standard_normal((len(rows), D)) * (rng.random((len(rows), D)) < 0.1)
    return noise


def explained(make: Callable[..., Any], clean: np.ndarray, dirty: np.ndarray, reference: Any, **kernel: Any) -> float:
    return total_explained_variation(make(P, **kernel).fit(dirty), clean, reference)


def level_for(clean: np.ndarray, noise: np.ndarray, wanted: float, **kernel: Any) -> float:
    """Return the size of the noise at which L2 explains so many per cent, by bisection."""
    reference = KernelPCA(P, **kernel).fit(clean)
    low, high = 0.0, 200.0
    for _ in range(16):
        middle = 0.5 * (low + high)
        enough = explained(KernelPCA, clean, clean + middle * noise, reference, **kernel) > wanted
        low, high = (middle, high) if enough else (low, middle)
    return low


def variation(instances: int = 10, sigmas: tuple[float, ...] = (10.0, 15.0, 20.0, 25.0)) -> None:
    kernels: dict[str, dict[str, Any]] = {"linear": {"kernel": "linear"}}
    kernels |= {f"sigma {s:g}": {"kernel": "rbf", "gamma": 1 / (2 * s * s)} for s in sigmas}
    row("kernel", "corrupted %", *METHODS)
    for name, kernel in kernels.items():
        for share in SHARES:
            values = [list(_one(np.random.default_rng([share, i]), share, kernel)) for i in range(instances)]
            row(name, share, *np.mean(values, axis=0).round(2).tolist())


def _one(rng: np.random.Generator, share: int, kernel: dict[str, Any]) -> Iterator[float]:
    clean, noise = normal_rows(rng), perturbation(rng, share)
    dirty = clean + level_for(clean, noise, 90.0, **kernel) * noise
    reference = KernelPCA(P, **kernel).fit(clean)
    for make in METHODS.values():
        yield explained(make, clean, dirty, reference, **kernel)


def times(name: str, rivals: bool = False) -> None:
    X = StandardScaler().fit_transform(datasets.load(name).X.astype(np.float64))
    d = X.shape[1]
    kernel: dict[str, Any] = {"n_components": d, "kernel": "rbf", "gamma": 1 / (2 * d * d)}
    print(f"{name}: {len(X)} x {d}, all {d} components, Gaussian, sigma = {d}")
    row("precision", "method", "seconds", "of scikit-learn's")
    for dtype in (np.float64, np.float32):
        calls = _calls(X.astype(dtype), kernel)
        timed = best_of_rounds(calls, 3)
        if dtype == np.float64:  # several times slower than the other: once is enough
            timed["sklearn arpack"] = _once(lambda: Peer(**kernel, eigen_solver="arpack", random_state=0).fit(X))
        peer = min(seconds for method, (seconds, _) in timed.items() if method.startswith("sklearn"))
        for method, (seconds, _) in timed.items():
            row(np.dtype(dtype).name, method, seconds, seconds / peer)
        for method in METHODS if rivals and dtype == np.float64 else ():  # minutes, so each is told when it is done
            if method != "L1 fixed point":
                seconds = _once(lambda m=method: METHODS[m](**kernel).fit(X))[0]
                row(np.dtype(dtype).name, method, seconds, seconds / peer)
                sys.stdout.flush()


def _once(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def _calls(X: np.ndarray, kernel: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    return {
        "sklearn random": lambda: Peer(**kernel, eigen_solver="randomized", random_state=0).fit(X),
        "L1 fixed point": lambda: L1KernelPCA(**kernel).fit(X),
    }


def linear(name: str) -> None:
    X = StandardScaler().fit_transform(datasets.load(name).X.astype(np.float64))
    K, rank = X @ X.T, int(np.linalg.matrix_rank(X))
    print(f"{name}: {len(X)} x {X.shape[1]}, all {rank} components, linear")
    calls = {
        "rows": lambda: L1KernelPCA(rank, kernel="linear").fit(X),
        "matrix given": lambda: L1KernelPCA(rank, kernel="precomputed").fit(K),
    }
    timed = best_of_rounds(calls, 2)
    row("method", "seconds", "of the matrix's", "sum of objectives")
    for method, (seconds, model) in timed.items():
        row(method, seconds, seconds / timed["matrix given"][0], float(model.objective_.sum()))


def optimum(cases: int = 300) -> None:
    """Compare with all sign vectors, for centred kernels of 4 to 12 rows, half of them linear."""
    hits = {"Algorithm 1": [], "init='best', refine='flip'": []}
    for seed in range(cases):
        K = _small_kernel(np.random.default_rng(seed), linear=bool(seed % 2))
        C = np.array([(1, *rest) for rest in product((1, -1), repeat=len(K) - 1)])
        best = np.einsum("ij,ij->i", C @ K, C).max()
        for (_, found), options in zip(hits.items(), ({}, {"init": "best", "refine": "flip"}), strict=True):
            signs = L1KernelPCA(1, kernel="precomputed", center=False, **options).fit(K).signs_[0]
            found.append(signs @ K @ signs >= best * (1 - 1e-9))
    for name, found in hits.items():
        print(f"{name}: global optimum in {100 * np.mean(found):.1f} % of {cases}")


def _small_kernel(rng: np.random.Generator, linear: bool) -> np.ndarray:
    n = int(rng.integers(4, 13))
    X = rng.standard_normal((n, int(rng.integers(2, 8))))
    K = X @ X.T if linear else np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=-1))
    return np.asarray(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())


def main() -> None:
    what = sys.argv[1] if len(sys.argv) > 1 else "both"
    if what == "optimum":
        optimum(int(sys.argv[2]) if len(sys.argv) > 2 else 300)
    if what == "linear":
        for name in sys.argv[2:3] or ("musk", "odds_mnist"):
            linear(name)
    if what in ("variation", "both"):
        variation(int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    if what in ("time", "both"):
        for name in sys.argv[2:3] or ("musk", "odds_mnist"):
            times(name, "rivals" in sys.argv)


if __name__ == "__main__":
    main()
