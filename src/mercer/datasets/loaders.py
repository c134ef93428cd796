"""One loader for all data sets: a local archive first, then what ships with scikit-learn or can be generated."""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as bundled
from sklearn.utils import Bunch

from mercer.datasets import openml

_HERE = Path(__file__).resolve()
_WAYS = ("MERCER_DATA", "../shared/data")


@dataclass(frozen=True)
class _Source:
    """Where a data set is looked for, and what stands in for it."""

    file: str
    what: str
    substitute: Callable[[], Mapping[str, Any]] | None = None
    substitute_name: str = ""


def _digits() -> Mapping[str, Any]:
    X, y = bundled.load_digits(return_X_y=True)
    X = X / 8.0 - 1.0  # the range of USPS
    return {"X": X[:1500], "y": y[:1500], "X_test": X[1500:], "y_test": y[1500:]}


def _breast_cancer() -> Mapping[str, Any]:
    X, benign = bundled.load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    kept = np.concatenate([np.flatnonzero(benign == 1), np.flatnonzero(benign == 0)[:21]])
    return {"X": X[kept], "y": 1 - benign[kept]}


_SOURCES: dict[str, _Source] = {
    "usps": _Source("usps.npz", "USPS digits, 7291 x 256", _digits, "scikit-learn's 8 x 8 digits"),
    "mnist": _Source("mnist_train10k.npz", "MNIST, first 10,000 images"),
    "mnist3": _Source("mnist_digit3.npz", 'MNIST, the digit "3"'),
    "frey": _Source("frey_faces.npz", "Frey faces, 1965 x 560"),
    "phoneme": _Source("phoneme_nfda.npz", "phoneme log-periodograms, 2000 x 150"),
    "mocap": _Source("mocap_cmu35_01_walk.npz", "a walk from the CMU motion capture database"),
    "yaleb": _Source("yaleb_32x32.npz", "Extended Yale B faces, 32 x 32"),
    "david": _Source("track_david_indoor.npz", "the David indoor tracking sequence"),
    "camera": _Source("camera_512.npz", "the camera test image, 512 x 512"),
    "wbc": _Source(
        "odds_wbc.npz",
        "ODDS wbc",
        _breast_cancer,
        "the same cases from scikit-learn, other choice of outliers",
    ),
    "ionosphere": _Source("odds_ionosphere.npz", "ODDS ionosphere"),
    "breastw": _Source("odds_breastw.npz", "ODDS breastw"),
    "cardio": _Source("odds_cardio.npz", "ODDS cardio"),
    "musk": _Source("odds_musk.npz", "ODDS musk"),
    "odds_mnist": _Source("odds_mnist.npz", "ODDS mnist"),
}
NAMES = tuple(_SOURCES)


def data_home() -> Path | None:
    """Return the folder with the archives: $MERCER_DATA, or shared/data beside the project; None if neither exists."""
    named = os.environ.get(_WAYS[0])
    candidates = [Path(named)] if named else [base / _WAYS[1] for base in (Path.cwd(), _HERE.parents[3])]
    return next((folder for folder in candidates if folder.is_dir()), None)


def archive(name: str, home: Path | None = None) -> Path | None:
    """Return the file of a data set, in `home` or in `data_home()`; None if it is not there."""
    folder = data_home() if home is None else home
    path = None if folder is None else folder / _source(name).file
    return path if path is not None and path.is_file() else None


def load(name: str, *, allow_substitute: bool = True, allow_download: bool = False, home: Path | None = None) -> Bunch:
    """Return a data set as a Bunch with `X`, usually `y`, and `source`, which says what it really is.

    `home` is the folder with the archives instead of `data_home()`. With `allow_download`, sets that OpenML has are
    fetched through scikit-learn where there is no archive.

    >>> from mercer import datasets
    >>> digits = datasets.load("usps")  # doctest: +SKIP
    """
    source, path = _source(name), archive(name, home)
    if path is not None:
        with np.load(path, allow_pickle=False) as arrays:
            return Bunch(source=source.what, **{key: arrays[key] for key in arrays.files})
    failure = ""
    if allow_download and name in openml.SETS:
        try:
            return Bunch(source=f"{source.what}, from OpenML", **openml.fetch(openml.SETS[name]))
        except OSError as error:
            failure = f" OpenML could not be reached ({error})."
    if source.substitute is None or not allow_substitute:
        raise FileNotFoundError(
            f"{source.what} is not on this machine.{failure} "
            f"Put {source.file} into a folder and set {_WAYS[0]} to that folder."
        )
    warnings.warn(f"{source.what}: not on this machine; using {source.substitute_name}.", UserWarning, stacklevel=2)
    return Bunch(source=source.substitute_name, **source.substitute())


def _source(name: str) -> _Source:
    if name not in _SOURCES:
        raise ValueError(f"There is no data set {name!r}; known are {', '.join(NAMES)}.")
    return _SOURCES[name]
