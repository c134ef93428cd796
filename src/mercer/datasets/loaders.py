"""One loader for all data sets: a local archive first, then what ships with scikit-learn."""

import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from mercer.datasets import openml
from mercer.datasets.sources import SOURCES, Source

_VARIABLE = "MERCER_DATA"
NAMES = tuple(SOURCES)


def data_home() -> Path | None:
    """Return the folder that the environment variable MERCER_DATA names; None if it names none that exists."""
    named = os.environ.get(_VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


def archive(name: str, home: str | Path | None = None) -> Path | None:
    """Return the file of a data set, in `home` or in `data_home()`; None if it is not there."""
    folder = data_home() if home is None else Path(home)
    path = None if folder is None else folder / _source(name).file
    return path if path is not None and path.is_file() else None


def load(
    name: str, *, allow_substitute: bool = True, allow_download: bool = False, home: str | Path | None = None
) -> Bunch:
    """Return a data set as a Bunch with `X` and usually `y`.

    Its `source` says what it really is, its `substitute` whether other data stand in for the set that was asked for.
    `home` is the folder with the archives instead of `data_home()`. With `allow_download`, sets that OpenML has are
    fetched through scikit-learn where there is no archive.

    >>> from mercer import datasets
    >>> digits = datasets.load("usps")  # doctest: +SKIP
    """
    source, path = _source(name), archive(name, home)
    if path is not None:
        with np.load(path, allow_pickle=False) as arrays:
            return Bunch(source=source.what, substitute=False, **{key: arrays[key] for key in arrays.files})
    failure = ""
    if allow_download and name in openml.SETS:
        try:
            found = openml.fetch(openml.SETS[name])
            return Bunch(source=f"{source.what}, from OpenML", substitute=False, **found)
        except OSError as error:
            failure = f" OpenML could not be reached ({error})."
    if source.substitute is None or not allow_substitute:
        raise FileNotFoundError(_missing(source, failure))
    warnings.warn(f"{source.what}: not on this machine; using {source.substitute_name}.", UserWarning, stacklevel=2)
    return Bunch(source=source.substitute_name, substitute=True, **source.substitute())


def _missing(source: Source, failure: str) -> str:
    return (
        f"{source.what} is not on this machine.{failure} {source.needed()} Name the folder with this file by the "
        f"environment variable {_VARIABLE} or by `home`; on the command line by --data."
    )


def _source(name: str) -> Source:
    if name not in SOURCES:
        raise ValueError(f"There is no data set {name!r}; known are {', '.join(NAMES)}.")
    return SOURCES[name]
