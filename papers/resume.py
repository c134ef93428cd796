"""Support for runs that can be resumed: complete files, and fingerprints of settings, data and code."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from mercer.io.whole_file import whole_file
from mercer.version import __version__


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, and its folder if needed, so that a reader finds the complete file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(data)


def fingerprint(
    name: str, settings: Mapping[str, Any], data: Mapping[str, int | None], code: Callable[..., Any]
) -> str:
    """Return a short text that changes with settings, sizes of data files, version and the experiment's code.

    Its code is its own module and those beside it whose names begin with an underscore, which experiments share.
    """
    known = {"name": name, "settings": dict(settings), "data": dict(data), "version": __version__, "code": _code(code)}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:16]


def _code(function: Callable[..., Any]) -> list[str]:
    try:
        own = Path(inspect.getfile(inspect.unwrap(function)))  # not the module of a decorator
        return [path.read_text() for path in (own, *sorted(own.parent.glob("_[a-z]*.py")))]
    except (OSError, TypeError):  # installed without sources
        return []


class Stages:
    """Arrays that parts of an experiment have computed, kept in files until the experiment's settings change."""

    def __init__(self, folder: Path | None, mark: str = "") -> None:
        self._folder, self._mark = folder, mark

    def get(self, name: str, compute: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """Return the arrays of a stage, computed now or in an earlier run."""
        path = self._path(name)
        if path is not None and path.is_file():
            with np.load(path, allow_pickle=False) as arrays:
                return {key: arrays[key] for key in arrays.files}
        found = {key: np.asarray(value) for key, value in compute().items()}
        if path is not None:
            buffer = BytesIO()
            np.savez_compressed(buffer, **found)  # type: ignore[arg-type]
            write_whole(path, buffer.getvalue())
        return found

    def clear_others(self) -> None:
        """Remove the files of other settings."""
        for path in () if self._folder is None else self._folder.glob("*.npz"):
            if not path.name.startswith(self._mark):
                path.unlink()

    def _path(self, name: str) -> Path | None:
        plain = "".join(letter if letter.isalnum() else "_" for letter in name)
        return None if self._folder is None else self._folder / f"{self._mark}_{plain}.npz"
