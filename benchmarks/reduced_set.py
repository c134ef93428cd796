"""Reduced sets of incremental kernel PCA [chin2007, IV-B]: time a call, heights (27), ablations, the whole chain.

Run with OPENBLAS_NUM_THREADS=1; data come from the folder named by MERCER_DATA, or `shared/data` beside the repository.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import eigh

from benchmarks.measure import row
from mercer.kernels import RBF, Kernel, Polynomial
from mercer.solvers import reduced_preimages
from mercer.solvers.reduced_set import ReducedSet, compress

VARIANTS: dict[str, dict[str, Any]] = {
    "subset": {"method": "subset"},
    "preimage": {},
    "library only": {"_steps": 0},
    "(a) own": {"_passes": "own"},
    "(b) sequential": {"_passes": "sequential"},
    "shared": {"_passes": "shared"},
    "(a) pure": {"_passes": "own", "_library": False},
    "(b) pure": {"_passes": "sequential", "_library": False},
    "(c) pure": {"_library": False},
    "shared, pure": {"_passes": "shared", "_library": False},
}
SIGMA_2000 = RBF(1.0 / (2.0 * 2000.0**2))


class Chain:
    """Incremental kernel PCA in its simplest form [chin2007, Table I]: an exact update, then a compression."""

    def __init__(self, kernel: Kernel, r: int, p: int, options: dict[str, Any]) -> None:
        self.kernel, self.r, self.size, self.options = kernel, r, (r + 1) * p, options
        self.library: tuple[np.ndarray, ...] = ()  # arguments of the last compression

    def feed(self, X: np.ndarray, i: int) -> "Chain":
        first = X[: self.size]
        n = len(first)
        self.points, self.gram, self.nu, self.n = first, self.kernel(first), np.full(n, 1.0 / n), n
        self.coef, self.sigma = self._leading(np.eye(n) - 1.0 / n)
        for start in range(n, len(X), i):
            self._update(X[start : start + i])
        return self

    def _update(self, C: np.ndarray) -> None:
        m, i = len(self.points), len(C)
        cross = self.kernel(self.points, C)
        self.gram = np.block([[self.gram, cross], [cross.T, self.kernel(C)]])
        self.points = np.vstack([self.points, C])
        old = np.pad(self.coef * self.sigma[:, None], ((0, 0), (0, i)))
        nu, omega = np.pad(self.nu, (0, i)), np.pad(np.full(i, 1.0 / i), (m, 0))
        new = np.eye(i, m + i, m) - omega  # (10)
        jump = np.sqrt(self.n * i / (self.n + i)) * (nu - omega)
        self.nu = (self.n * nu + i * omega) / (self.n + i)  # (9)
        self.n += i
        self.coef, self.sigma = self._leading(np.vstack([old, new, jump]))  # (11)
        self.library = (self.points, self.gram, np.vstack([self.coef, self.nu]), np.append(self.sigma, np.sqrt(self.n)))
        made = compress(*self.library, self.kernel, self.size, **self.options)
        self.points, self.gram, self.nu = made.points, made.gram, made.coef[-1]
        self.coef, self.sigma = self._leading(made.coef[:-1] * self.sigma[:, None])

    def _leading(self, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The leading left singular vectors of rows B of coefficients, and the singular values."""
        values, V = eigh(B @ self.gram @ B.T)
        values, V = values[::-1][: self.r], V[:, ::-1][:, : self.r]
        kept = values > 1e-13 * values[0]
        sigma = np.sqrt(values[kept])
        return (V[:, kept].T @ B) / sigma[:, None], sigma


def batch(kernel: Kernel, X: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the components of batch kernel PCA, and the singular values."""
    n = len(X)
    K = kernel(X)
    means = K.mean(axis=0)
    values, V = eigh(K - means - means[:, None] + means.mean(), subset_by_index=(n - r, n - 1))
    coef = (V / np.sqrt(values)).T[::-1]
    return coef - coef.mean(axis=1, keepdims=True), np.sqrt(values[::-1])


def distance(chain: Chain, coef: np.ndarray, X: np.ndarray) -> float:
    """(36), between as many components as there are rows in `coef`."""
    cosines = np.linalg.svd(chain.coef[: len(coef)] @ chain.kernel(chain.points, X) @ coef.T, compute_uv=False)
    return float(np.linalg.norm(np.arccos(np.clip(cosines, 0.0, 1.0))))


def share_lost(library: tuple[np.ndarray, ...], made: ReducedSet) -> float:
    """The weighted sum of squared distances between vectors and what stands for them, as a share of their squares."""
    _, gram, coef, weights = library
    own = np.einsum("ij,ij->i", coef @ gram, coef)
    lost = own - 2.0 * np.einsum("ij,ij->i", made.coef @ made.cross, coef)
    lost += np.einsum("ij,ij->i", made.coef @ made.gram, made.coef)
    return float(weights**2 @ lost / (weights**2 @ own))


def parabola(seed: int, n: int = 1000) -> np.ndarray:
    """[chin2007, V-A1]: x uniform in [-1, 1], y = x^2 + noise of standard deviation 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return np.column_stack([x, x**2 + 0.2 * rng.standard_normal(n)])


def threes(n: int = 1000) -> np.ndarray:
    """The first images of MNIST's digit 3, (n, 784), 0 to 255."""
    folder = os.environ.get("MERCER_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    X = np.load(Path(folder) / "mnist_digit3.npz")["X"][:n]
    return X.reshape(len(X), -1).astype(np.float64)


def calls(X: np.ndarray, repeats: int = 15) -> None:
    """Milliseconds a call, by the clock and of this thread's processor time, which other processes do not stretch."""
    row("kernel", "variant", "points", "ms", "ms processor", "share lost")
    kernels = {"gaussian": SIGMA_2000, "poly 2": Polynomial(1.0 / (784 * 255.0**2), 1.0, 2.0)}
    for (name, kernel), (r, p, i) in [(k, s) for k in kernels.items() for s in ((20, 10, 30), (5, 10, 5))]:
        size = (r + 1) * p
        library = Chain(kernel, r, p, {"method": "subset"}).feed(X[:600], i).library
        for variant in ("subset", "preimage", "(c) pure"):
            spent = []
            for _ in range(repeats + 1):
                start, own_start = time.perf_counter(), time.thread_time()
                made = compress(*library, kernel, size, **VARIANTS[variant])
                spent.append((time.perf_counter() - start, time.thread_time() - own_start))
            best = 1e3 * np.array(spent[1:]).min(axis=0)
            numbers = f"{len(library[0])} -> {len(made.points)}"
            row(name, variant, numbers, float(best[0]), float(best[1]), share_lost(library, made))


def heights(X: np.ndarray) -> None:
    """How (27) rises along climbs: median over all pre-images of one call, against the library's best point."""
    library = Chain(SIGMA_2000, 20, 10, {"method": "subset"}).feed(X[:600], 30).library
    climb, steps, seen = reduced_preimages.climb_gaussian, (0, 1, 2, 3, 5, 10, 30), []

    def noting(rows, half, coef, y, values, most, rise):
        seen.append([climb(rows, half, coef, y.copy(), values, count, 1e-6) for count in steps])
        return climb(rows, half, coef, y, values, most, rise)

    reduced_preimages.climb_gaussian = noting
    try:
        compress(*library, SIGMA_2000, 210, _library=False, _steps=2)
    finally:
        reduced_preimages.climb_gaussian = climb
    found = np.array(seen)
    row("(27) after steps", *[str(count) for count in steps])
    row("over the start", *[float(value) for value in np.median(found / found[:, :1], axis=0)])


def few_for_many(X: np.ndarray) -> None:
    """1000 images' components in one call: the share lost."""
    coef, sigma = batch(SIGMA_2000, X, 20)
    library = (X, SIGMA_2000(X), np.vstack([coef, np.full(len(X), 1.0 / len(X))]), np.append(sigma, np.sqrt(len(X))))
    names = ("subset", "preimage", "library only", "(c) pure", "shared")
    row("1000 images to", *names)
    for size in (210, 105, 42):
        lost = [share_lost(library, compress(*library, SIGMA_2000, size, **VARIANTS[name])) for name in names]
        row(str(size), *lost)


def chains(X: np.ndarray, count: int = 5) -> None:
    """Distance (36) to batch kernel PCA at the end, p=10, i=30: parabola (first 3 of 6), MNIST "3" (first 6 of 20)."""
    row("variant", "gaussian, mean", "largest", "poly 2, mean", "largest", "MNIST")
    images = batch(SIGMA_2000, X, 6)[0]
    sets = [parabola(seed) for seed in range(count)]
    truths = {kernel: [batch(kernel, P, 3)[0] for P in sets] for kernel in (RBF(0.5), Polynomial(1.0, 1.0, 2.0))}
    for name, options in VARIANTS.items():
        cells: list[float] = []
        for kernel, known in truths.items():
            found = [
                distance(Chain(kernel, 6, 10, options).feed(P, 30), t, P) for P, t in zip(sets, known, strict=True)
            ]
            cells += [float(np.mean(found)), max(found)]
        row(name, *cells, distance(Chain(SIGMA_2000, 20, 10, options).feed(X, 30), images, X))


def main() -> None:
    X = threes()
    calls(X)
    heights(X)
    few_for_many(X)
    chains(X)


if __name__ == "__main__":
    main()
