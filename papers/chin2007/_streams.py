"""Data, models and distances that several experiments of the paper share."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mercer import Expansion, IncrementalKernelPCA
from papers.experiment import Outcome, Run

GAUSS: dict[str, Any] = {"kernel": "rbf", "gamma": 0.5}  # sigma = 1
POLY: dict[str, Any] = {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2}
KERNELS = {"Gaussian": GAUSS, "polynomial": POLY}
PREIMAGES, BATCH = 10, 30  # p and i of the paper
EXACT, RS, SUBSET = "IKPCA", "IKPCA-RS, pre-images", "IKPCA-RS, subset"
COMPRESSIONS: dict[str, Any] = {EXACT: None, RS: "preimage", SUBSET: "subset"}


def one_blas_thread(run: Callable[[Run], Outcome]) -> Callable[[Run], Outcome]:
    """Return an experiment that uses one BLAS thread: its matrices are small, and times are easier to compare."""

    @wraps(run)
    def alone(given: Run) -> Outcome:
        with threadpool_limits(1, user_api="blas"):
            return run(given)

    return alone


def gauss(sigma: float) -> dict[str, Any]:
    """Return the parameters of a Gaussian kernel, k(x, y) = exp(-|x - y|^2 / (2 sigma^2))."""
    return {"kernel": "rbf", "gamma": 1.0 / (2.0 * sigma**2)}


def parabola(seed: int, n: int = 1000) -> Any:
    """Return rows (x, y) of section V-A1: x uniform in [-1, 1], y = x^2 + noise of standard deviation 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, n)
    return np.column_stack([x, x**2 + 0.2 * rng.standard_normal(n)])


def shuffled(images: Any, n: int | None = None, seed: int = 0) -> Any:
    """Return images as rows of float64 in random order, at most n of them."""
    rows = np.asarray(images).reshape(len(images), -1)
    return rows[np.random.default_rng(seed).permutation(len(rows))[:n]].astype(np.float64)


def incremental(shown: int, rank: int, kernel: dict[str, Any], batch: int = BATCH) -> dict[str, IncrementalKernelPCA]:
    """Return the paper's IKPCA and IKPCA-RS, and Mercer's own compression beside them."""
    return {
        name: IncrementalKernelPCA(
            shown,
            rank=rank,
            points_per_component=PREIMAGES,
            batch_size=batch,
            compression=method,
            **kernel,
        )
        for name, method in COMPRESSIONS.items()
    }


def distance(a: Expansion, b: Expansion, n_components: int) -> float:
    """Return (36) between the first components of two models, both with orthonormal components.

    The same as `mercer.metrics.subspace_distance`, but does not orthonormalise `b` again each time.
    """
    first, second = a.truncated(n_components), b.truncated(n_components)
    cosines = np.linalg.svd(first.orthonormalised().inner(second), compute_uv=False)
    missing = n_components - len(cosines)
    return float(np.sqrt(np.sum(np.arccos(np.clip(cosines, -1.0, 1.0)) ** 2) + missing * (np.pi / 2) ** 2))


def mean_angle(a: Expansion, b: Expansion) -> float:
    """Return the angle between the means of two centred models."""
    if a.nu is None or b.nu is None:
        raise ValueError("Both models must be centred to have a mean.")
    product = float(b.combine(b.nu[None], a.points)[:, 0] @ a.nu)
    return float(np.arccos(np.clip(product / np.sqrt(a.mean_norm * b.mean_norm), -1.0, 1.0)))


def told_apart(axes: Any) -> None:
    """Give lines that may coincide different widths and dashes."""
    for line, (style, width) in zip(axes.get_lines(), (("-", 4.0), ("--", 2.4), (":", 1.6), ("-.", 1.6)), strict=False):
        line.set_linestyle(style)
        line.set_linewidth(width)
    axes.legend(frameon=False, fontsize=8)


def late_slope(steps: Any, values: Any, per: float = 1000.0) -> float:
    """Return how much a curve rises in `per` rows, by a straight line through its second half."""
    half = len(steps) // 2
    return per * float(np.polyfit(steps[half:], values[half:], 1)[0])
