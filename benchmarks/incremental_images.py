"""Incremental kernel PCA of images: distance and residual beside batch [chin2007, V-A2], and faces by name [V-C1].

`python -m benchmarks.incremental_images images` or `faces [repeats]`; `-o FOLDER` draws the figures. The widths of the
paper, 250 and 100 on grey values from 0 to 255, make the kernel matrix nearly the identity: next to nothing can be
learned there, and no residual can be 1.12, as Table III says, where k(x, x) = 1. They are run as printed; sigma = 2000
and 1000 are judged: residuals of IKPCA within 1 %, of IKPCA-RS within 3 % of batch. For faces: equal on the same rows
within two points, and more rows beat fewer.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import zoom
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.incremental import distance
from benchmarks.measure import row
from mercer import IncrementalKernelPCA, KernelPCA, datasets, plots
from mercer.apply.subspaces import orthonormal_basis

R, P, I, COMPARED = 20, 10, 30, 6
METHODS = {"IKPCA": None, "IKPCA-RS, pre-images": "preimage", "IKPCA-RS, subset": "subset"}


def gauss(sigma: float) -> dict[str, Any]:
    return {"kernel": "rbf", "gamma": 1 / (2 * sigma**2)}


POLY = {"kernel": "poly", "gamma": 1, "coef0": 1, "degree": 2}


def cases() -> dict[str, tuple[np.ndarray, dict[str, Any]]]:
    digits, frey, yale = (
        datasets.load(name).X.reshape(-1, d).astype(np.float64)
        for name, d in (("mnist3", 784), ("frey", 560), ("yaleb", 1024))
    )
    rng = np.random.default_rng(0)
    digits, frey, yale = rng.permutation(digits)[:1000], rng.permutation(frey), rng.permutation(yale)
    return {
        "digit 3, sigma 250": (digits, gauss(250.0)),
        "digit 3, sigma 2000": (digits, gauss(2000.0)),
        "Frey, sigma 100": (frey, gauss(100.0)),
        "Frey, sigma 1000": (frey, gauss(1000.0)),
        "Yale B, degree 2": (yale, POLY),
    }


def mean_distance(model: Any, X: np.ndarray, n_components: int) -> float:
    """Return the mean distance of the rows from the first components."""
    return float(np.sqrt(model.expansion_.truncated(n_components).residual(X)).mean())


def images(folder: Path | None) -> None:
    row("data", "model", "distance of 6", "residual, 6", "of KPCA's", "residual, 20", "of KPCA's", "points")
    for label, (X, kernel) in cases().items():
        batch = KernelPCA(R, **kernel).fit(X)
        basis, curves, steps = orthonormal_basis(batch.expansion_.truncated(COMPARED)), {}, []
        own = [mean_distance(batch, X, r) for r in (COMPARED, R)]
        row(label, "KPCA", 0.0, own[0], 1.0, own[1], 1.0, len(X))
        for name, method in METHODS.items():
            model = IncrementalKernelPCA(R, rank=R, preimages=P, compression=method, random_state=0, **kernel)
            curve, steps = [], []
            for first in range(0, len(X), I):
                model.partial_fit(X[first : first + I])
                if first % (3 * I) == 0 or first + I >= len(X):
                    curve.append(distance(model.expansion_, basis))
                    steps.append(model.n_samples_seen_)
            left = [mean_distance(model, X, r) for r in (COMPARED, R)]
            ratios = [a / b for a, b in zip(left, own, strict=True)]
            row(label, name, curve[-1], left[0], ratios[0], left[1], ratios[1], model.expansion_.n_points)
            curves[name] = np.maximum(curve, 1e-8)
        if folder is not None:
            figure = plots.distance_curves(curves, steps, title=label, log=False)
            figure.savefig(folder / f"images_{label.replace(' ', '_').replace(',', '')}.png", dpi=120)


# -- faces -------------------------------------------------------------------------------------------


def faces() -> tuple[np.ndarray, np.ndarray]:
    """Return Yale B faces as 20 x 20 images in [0, 1], and who they show."""
    data = datasets.load("yaleb")
    small = zoom(data.X.reshape(-1, 32, 32).astype(np.float64), (1, 20 / 32, 20 / 32), order=1)
    return small.reshape(len(small), -1) / 255.0, data.y


def error(model: Any, X: np.ndarray, y: np.ndarray, test: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the percentage of test faces that the 10 nearest training faces name wrongly."""
    model.fit(X)
    votes = KNeighborsClassifier(10).fit(model.transform(X), y)
    return 100.0 * float(np.mean(votes.predict(model.transform(test[0])) != test[1]))


def recognition(repeats: int) -> None:
    X, y = faces()
    row("kernel", "model", "training faces", "error, %", "standard error")
    for label, kernel in (("Gaussian, sigma 1", gauss(1.0)), ("polynomial", POLY)):
        found: dict[tuple[str, int], list[float]] = {}
        for seed in range(repeats):
            order = np.random.default_rng(seed).permutation(len(X))
            n_test = len(X) * 760 // 5760
            test, rest = (X[order[:n_test]], y[order[:n_test]]), order[n_test:]
            for n in (1000, len(rest)):
                for name, model in recognisers(kernel, seed).items():
                    found.setdefault((name, n), []).append(error(model, X[rest[:n]], y[rest[:n]], test))
        for (name, n), errors in found.items():
            row(label, name, n, float(np.mean(errors)), float(np.std(errors) / np.sqrt(repeats)))


def recognisers(kernel: dict[str, Any], seed: int) -> dict[str, Any]:
    shared = {"n_components": 36, "rank": 36, "preimages": P, "random_state": seed, **kernel}
    incremental = {name: IncrementalKernelPCA(compression=m, **shared) for name, m in METHODS.items() if m}
    return {"KPCA": KernelPCA(36, **kernel)} | incremental


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["images", "faces"])
    parser.add_argument("repeats", nargs="?", type=int, default=3)
    parser.add_argument("-o", dest="folder", type=Path)
    given = parser.parse_args()
    if given.folder is not None:
        given.folder.mkdir(parents=True, exist_ok=True)
    if given.what == "images":
        images(given.folder)
    else:
        recognition(given.repeats)


if __name__ == "__main__":
    main()
