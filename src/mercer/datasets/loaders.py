"""One loader for all data sets: it looks for a local archive first, then for data that scikit-learn contains."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from mercer.datasets import openml
from mercer.datasets.sources import SOURCES, Source
from mercer.errors import DataFileError
from mercer.io.npy import DAMAGED

_VARIABLE = "MERCER_DATA"


def data_home() -> Path | None:
    """Return the folder with data archives: the one that the environment variable MERCER_DATA names.

    Returns
    -------
    pathlib.Path or None
        The folder. None: the variable is not set, or names no folder that exists.

    See Also
    --------
    load : Loads a data set by its name.
    archive : The file of a data set.

    Examples
    --------
    >>> from mercer import datasets
    >>> home = datasets.data_home()
    >>> home is None or home.is_dir()
    True
    """
    named = os.environ.get(_VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


def archive(name: str, home: str | Path | None = None) -> Path | None:
    """Return the path of the file of a data set.

    Parameters
    ----------
    name : str
        One of `mercer.datasets.NAMES`.
    home : str, path or None, default=None
        The folder with the archives. None: that of `data_home()`.

    Returns
    -------
    pathlib.Path or None
        The file. None: it is not in the folder.

    Raises
    ------
    ValueError
        If there is no data set of this name.

    See Also
    --------
    load : Loads a data set by its name.
    data_home : The folder of the data sets.

    Examples
    --------
    >>> from mercer import datasets
    >>> datasets.archive("usps", home="no such folder") is None
    True
    """
    folder = data_home() if home is None else Path(home)
    path = None if folder is None else folder / _source(name).file
    return path if path is not None and path.is_file() else None


def load(
    name: str, *, allow_substitute: bool = True, allow_download: bool = False, home: str | Path | None = None
) -> Bunch:
    """Return a data set as a `sklearn.utils.Bunch` with `X` and usually `y`.

    The archive in `home` is read if it is there. Otherwise, with `allow_download`, the set is fetched from OpenML
    through scikit-learn, where OpenML has it. Otherwise similar data that scikit-learn contains are used, with a
    warning.

    Parameters
    ----------
    name : str
        One of `mercer.datasets.NAMES`.
    allow_substitute : bool, default=True
        Whether similar data may be returned where the set itself is not found.
    allow_download : bool, default=False
        Whether the set may be downloaded from OpenML.
    home : str, path or None, default=None
        The folder with the archives. None: that of `data_home()`.

    Returns
    -------
    sklearn.utils.Bunch
        The arrays of the data set, and two more entries: `source` says what the data are, `substitute` whether they
        replace the set that was asked for.

    Raises
    ------
    ValueError
        If there is no data set of this name.
    FileNotFoundError
        If the set is not found, and there is nothing that may replace it.
    DataFileError
        If the file is damaged.

    See Also
    --------
    archive : The file of a data set.
    data_home : The folder of the data sets.

    Examples
    --------
    >>> import warnings
    >>> from mercer import datasets
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     digits = datasets.load("usps", home="no such folder")
    >>> digits.source, digits.substitute, digits.X.shape
    ("scikit-learn's 8 x 8 digits", True, (1500, 64))
    """
    source, path = _source(name), archive(name, home)
    if path is not None:
        return Bunch(source=source.what, substitute=False, **_arrays(path))
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


def _arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of an archive, or say that it is damaged."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}
    except DAMAGED as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise DataFileError(f"{path} cannot be read as an .npz file: {error}. Copy it again.") from error


def _missing(source: Source, failure: str) -> str:
    """Return the message for a data set that is not found."""
    return (
        f"{source.what} is not on this machine.{failure} {source.needed()} Name the folder with this file by the "
        f"environment variable {_VARIABLE} or by `home`; on the command line by --data."
    )


def _source(name: str) -> Source:
    """Return the description of a data set, or fail for an unknown name."""
    if name not in SOURCES:
        raise ValueError(f"There is no data set {name!r}; known are {', '.join(SOURCES)}.")
    return SOURCES[name]
