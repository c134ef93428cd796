"""Data sets with outliers for several objectives."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn import datasets as bundled

from benchmarks.suite.data import load
from mercer import KernelPCA
from mercer.engine.scaling import Scaling
from mercer.kernels.resolve import median_gamma

ODDS = ("wbc", "ionosphere", "breastw", "cardio", "musk", "odds_mnist")
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0)  # times the gamma of the median distance
MOST_ROWS = 1500  # most rows of a data set that are used, to limit the time
Case = tuple[np.ndarray, np.ndarray]  # rows, and 1 for outliers


def outlier_set(name: str, most: int = MOST_ROWS) -> Case:
    """Return some rows of a data set, in random order."""
    found = load(name)
    rows = np.random.default_rng(0).permutation(len(found.X))[:most]
    return found.X[rows].astype(np.float64), found.y[rows].astype(int)


def one_class_sets() -> Iterator[tuple[str, Case]]:
    """Return sets of one class as inliers, and a tenth as many rows of the others."""
    tables: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "digits": bundled.load_digits(return_X_y=True),
        "wine": bundled.load_wine(return_X_y=True),
        "iris": bundled.load_iris(return_X_y=True),
        "cancer": bundled.load_breast_cancer(return_X_y=True),
        "phoneme": (load("phoneme").X, load("phoneme").y),
    }
    rng = np.random.default_rng(0)
    for name, (X, y) in tables.items():
        for kind in np.unique(y):
            inliers = np.flatnonzero(y == kind)
            others = rng.permutation(np.flatnonzero(y != kind))[: max(5, len(inliers) // 10)]
            rows = rng.permutation(np.concatenate([inliers, others]))
            yield f"{name} {kind}", (X[rows].astype(np.float64), (y[rows] != kind).astype(int))


def fresh_sets() -> Iterator[tuple[str, Case]]:
    """Return digits of USPS and MNIST, 300 of one kind and 30 others; they were not used to choose the defaults."""
    rng = np.random.default_rng(1)
    for name in ("usps", "mnist"):
        data = load(name)
        X, y = data.X.reshape(len(data.X), -1).astype(np.float64), data.y.astype(int)
        for kind in range(10):
            inliers = rng.permutation(np.flatnonzero(y == kind))[:300]
            rows = rng.permutation(np.concatenate([inliers, rng.permutation(np.flatnonzero(y != kind))[:30]]))
            yield f"{name} {kind}", (X[rows], (y[rows] != kind).astype(int))


def groups() -> dict[str, Callable[[], list[Case]]]:
    """Return the sets on which defaults were chosen, and fresh ones, by name."""
    return {
        **{name: partial(lambda name: [outlier_set(name)], name) for name in ODDS},
        "one class of digits, wine, iris, cancer, phoneme": lambda: [case for _, case in one_class_sets()],
        "fresh: one digit of USPS, MNIST": lambda: [case for _, case in fresh_sets()],
    }


def with_width(X: np.ndarray, width: float, n_components: int = 20) -> KernelPCA:
    """Return kernel PCA with `width` times the gamma of the median distance between soft-scaled rows."""
    gamma = width * median_gamma(Scaling.of(X, "soft")(X))
    return KernelPCA(n_components, kernel="rbf", gamma=gamma)
