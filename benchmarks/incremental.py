"""Incremental kernel PCA on synthetic streams: accuracy, drift, time and merging [chin2007, sec. V-A1, V-B].

`python -m benchmarks.incremental parabola [data sets]`, `time`, or `merge [data sets]`; `-o FOLDER` draws the figures.
Real images are in `benchmarks.incremental_images`. The bounds: final distances at most .07 (Gaussian) and .08
(polynomial) with pre-images, .005 with "subset", no growing drift; slopes of time from .9 to 1.1; merged models within
1.2 times the distance of a single one.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.landmark_stream import parabola
from benchmarks.measure import row
from mercer import IncrementalKernelPCA, KernelPCA, LandmarkKernelPCA, datasets, plots
from mercer.apply.subspaces import orthonormal_basis, principal_angles
from mercer.expansion import Expansion
from mercer.metrics import subspace_distance

GAUSS = {"kernel": "rbf", "gamma": 0.5}
POLY = {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2}
R, P, I, SHOWN = 6, 10, 30, 3


def models(seed: int, kernel: dict[str, Any]) -> dict[str, Any]:
    shared = {"n_components": SHOWN, "rank": R, "preimages": P, "batch_size": I, "random_state": seed, **kernel}
    return {
        "IKPCA": IncrementalKernelPCA(compression=None, **shared),
        "IKPCA-RS, pre-images": IncrementalKernelPCA(compression="preimage", **shared),
        "IKPCA-RS, subset": IncrementalKernelPCA(compression="subset", **shared),
        "70 landmarks": LandmarkKernelPCA(SHOWN, landmarks=(R + 1) * P, random_state=seed, **kernel),
    }


# -- accuracy and drift ------------------------------------------------------------------------------


def distance(model: Expansion, basis: Expansion) -> float:
    """Return (36) to an orthonormal basis; `subspace_distance` would make that anew each time."""
    own = orthonormal_basis(model.truncated(basis.n_components))
    missing = basis.n_components - own.n_components
    return float(np.sqrt(np.sum(principal_angles(basis, own) ** 2) + missing * (np.pi / 2) ** 2))


def mean_angle(a: Expansion, b: Expansion) -> float:
    """Return the angle between two models' means."""
    product = float(b.combine(b.nu[None], a.points)[:, 0] @ a.nu)
    return float(np.arccos(np.clip(product / np.sqrt(a.mean_norm * b.mean_norm), -1.0, 1.0)))


def paths(seed: int, kernel: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return, for every model, three values after each increment, (3, m).

    Distance and angle of the mean to batch kernel PCA of the whole set, as in the paper, and the distance to that of
    the rows so far, which only drift can make grow. It comes from exact updates with rank enough for these data.
    """
    X = parabola(seed)
    batch = KernelPCA(SHOWN, **kernel).fit(X).expansion_
    whole, followed = orthonormal_basis(batch), models(seed, kernel)
    so_far = IncrementalKernelPCA(SHOWN, rank=30, compression=None, **kernel)
    found: dict[str, list[Any]] = {name: [] for name in followed}
    for first in range(0, len(X), I):
        rows = X[first : first + I]
        present = orthonormal_basis(so_far.partial_fit(rows).expansion_)
        for name, model in followed.items():
            now = model.partial_fit(rows).expansion_
            found[name].append((distance(now, whole), mean_angle(now, batch), distance(now, present)))
    return {name: np.array(values).T for name, values in found.items()}


def parabolas(count: int, folder: Path | None) -> None:
    row("kernel", "model", "mean distance", "largest", "slope, 2nd half", "angle of mean", "from so far", "its slope")
    steps = np.minimum(np.arange(I, 1000 + I, I), 1000)
    for label, kernel in (("Gaussian", GAUSS), ("polynomial", POLY)):
        runs = [paths(seed, kernel) for seed in range(count)]
        curves = {name: np.array([run[name] for run in runs]) for name in runs[0]}  # (count, 3, m)
        for name, values in curves.items():
            final, mean = values[:, :, -1], values.mean(axis=0)
            slopes = [float(np.polyfit(steps[len(steps) // 2 :], mean[k, len(steps) // 2 :], 1)[0]) for k in (0, 2)]
            middle = [float(final[:, k].mean()) for k in range(3)]
            row(label, name, middle[0], float(final[:, 0].max()), slopes[0], middle[1], middle[2], slopes[1])
        if folder is not None:
            draw(curves, steps, label, folder)
            contours(kernel, folder / f"contours_{label}.png")


def draw(curves: dict[str, np.ndarray], steps: np.ndarray, label: str, folder: Path) -> None:
    """Draw figure 2 of the paper, the angle of the mean, and the distance to batch of the rows so far."""
    for k, quantity in enumerate(("distance to batch", "angle of the mean", "distance to batch of the rows so far")):
        shown = {name: np.maximum(values[:, k], 1e-8) for name, values in curves.items()}
        figure = plots.distance_curves(shown, steps, title=f"{label} kernel", quantity=quantity)
        figure.savefig(folder / f"parabola_{label}_{k}.png", dpi=120)


def contours(kernel: dict[str, Any], path: Path) -> None:
    X = parabola(0)
    shown = {"KPCA": KernelPCA(SHOWN, **kernel)} | models(0, kernel)
    fitted = {name: model.fit(X) for name, model in shown.items() if name != "70 landmarks"}
    plots.score_contours(fitted, X).savefig(path, dpi=120)


# -- time --------------------------------------------------------------------------------------------


def seconds(fit: Callable[[], Any]) -> float:
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def times(folder: Path | None, sizes: tuple[int, ...] = (500, 1000, 2000, 4000, 6131)) -> None:
    digits = datasets.load("mnist3").X.reshape(-1, 784).astype(np.float64)
    digits = digits[np.random.default_rng(0).permutation(len(digits))]
    gauss = {"kernel": "rbf", "gamma": 1 / (2 * 2000.0**2)}
    poly = {"kernel": "poly", "gamma": 1 / 255.0**2, "coef0": 1, "degree": 2}
    cases = {
        "2-D, Gaussian, r=3": (parabola(0, sizes[-1]), GAUSS, 3),
        "2-D, polynomial, r=3": (parabola(0, sizes[-1]), POLY, 3),
        **{f"digits, Gaussian, r={r}": (digits, gauss, r) for r in (3, 5, 20)},
        **{f"digits, polynomial, r={r}": (digits, poly, r) for r in (3, 5, 20)},
    }
    row(
        "data", "model", *[f"n={n}" for n in sizes], "slope", "beyond (r+1)p"
    )  # rows that first fill the library are free
    curves: dict[str, list[float]] = {}
    for label, (X, kernel, r) in cases.items():
        for method in ("subset", "preimage"):
            shared = {"n_components": min(r, 6), "rank": r, "compression": method, "random_state": 0, **kernel}
            IncrementalKernelPCA(**shared).fit(X[:300])  # compiles
            spent = [seconds(lambda n=n, s=shared, X=X: IncrementalKernelPCA(**s).fit(X[:n])) for n in sizes]
            slopes = [
                float(np.polyfit(np.log(np.array(sizes) - free), np.log(spent), 1)[0]) for free in (0, (r + 1) * 10)
            ]
            row(label, method, *spent, *slopes)
            curves[f"{label}, {method}"] = spent
    KernelPCA(20, **gauss).fit(digits[:300])
    curves["batch"] = [seconds(lambda n=n: KernelPCA(20, **gauss).fit(digits[:n])) for n in sizes]
    row("digits, Gaussian", "batch, 20", *curves["batch"])
    rates(digits, gauss)
    if folder is not None:
        for group in ("2-D", "digits, Gaussian", "digits, polynomial"):
            draw_times(
                {name: c for name, c in curves.items() if name.startswith((group, "batch"))}, sizes, group, folder
            )


def draw_times(curves: dict[str, list[float]], sizes: tuple[int, ...], group: str, folder: Path) -> None:
    figure = plots.distance_curves(curves, sizes, title=f"Time, {group}", quantity="seconds")
    figure.axes[0].set_xscale("log")
    figure.axes[0].set_xticks(sizes, [str(n) for n in sizes])
    figure.axes[0].minorticks_off()
    figure.savefig(folder / f"time_{group.replace(', ', '_')}.png", dpi=120)


def rates(X: np.ndarray, kernel: dict[str, Any], updates: int = 200) -> None:
    """Print updates a second at r=5, p=10, i=5."""
    for method in ("subset", "preimage"):
        model = IncrementalKernelPCA(5, rank=5, batch_size=5, compression=method, **kernel).partial_fit(X[:100])

        def feed(model: IncrementalKernelPCA = model) -> None:
            for first in range(100, 100 + 5 * updates, 5):
                model.partial_fit(X[first : first + 5])

        row("r=5, p=10, i=5", method, f"{updates / seconds(feed):.0f} updates a second")


# -- merging -----------------------------------------------------------------------------------------


def tree(parts: list[IncrementalKernelPCA]) -> IncrementalKernelPCA:
    """Merge models two by two, and the results again."""
    while len(parts) > 1:
        parts = [a.merge(b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def merging(count: int) -> None:
    digits = datasets.load("mnist3").X.reshape(-1, 784).astype(np.float64)
    wide = {"kernel": "rbf", "gamma": 1 / (2 * 2000.0**2)}
    row("data", "model", "single", "8 merged", "ratio")
    for label, kernel, shown, rank, draw in (
        ("2-D, Gaussian", GAUSS, 3, 6, lambda seed: parabola(seed, 2000)),
        ("2-D, polynomial", POLY, 3, 6, lambda seed: parabola(seed, 2000)),
        ("digits, Gaussian", wide, 6, 20, lambda seed: np.random.default_rng(seed).permutation(digits)[:2000]),
    ):
        for method in (None, "subset", "preimage"):
            found = []
            for seed in range(count if label.startswith("2-D") else min(count, 3)):
                X = draw(seed)
                batch = KernelPCA(shown, **kernel).fit(X)
                params = {"rank": rank, "compression": method, "random_state": 0, **kernel}
                single = IncrementalKernelPCA(shown, **params).fit(X)
                merged = tree([IncrementalKernelPCA(shown, **params).fit(part) for part in np.split(X, 8)])
                found.append((subspace_distance(single, batch), subspace_distance(merged, batch)))
            one, many = np.mean(found, axis=0)
            row(label, str(method), float(one), float(many), float(many / one))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["parabola", "time", "merge"])
    parser.add_argument("count", nargs="?", type=int)
    parser.add_argument("-o", dest="folder", type=Path)
    given = parser.parse_args()
    if given.folder is not None:
        given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "parabola":
        parabolas(given.count or 100, given.folder)
    elif given.what == "time":
        times(given.folder)
    else:
        merging(given.count or 10)


if __name__ == "__main__":
    main()
