"""What a fit has done so far, in files that are complete or not there: passes over a matrix, or sums of partitions."""

import hashlib
import json
import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.engine.moments import Moments
from mercer.errors import ModelFileError
from mercer.io.persist import read_model, write_model
from mercer.io.whole_file import whole_file

_SAME = 1e-8  # relative difference of sketches of the same vectors, computed on other processors
LARGEST = 2**50  # bytes of a file


def digest(*parts: Any) -> str:
    """Return a short text that differs where arrays or values differ."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            found.update(repr((part.shape, part.dtype.str)).encode())
            found.update(np.ascontiguousarray(part).view(np.uint8).data)
        else:
            found.update(repr(part).encode())
    return found.hexdigest()


_ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+")


def same_text(value: Any) -> str:
    """Return the text of a value without addresses in memory, which differ from process to process."""
    return _ADDRESS.sub("", repr(value))


def fit_identity(params: Mapping[str, Any], neutral: Collection[str], *more: Any) -> str:
    """Return a text that is the same for fits with the same parameters, except those that change no result."""
    kept = {name: value for name, value in sorted(params.items()) if name not in neutral}
    arrays = [value for value in kept.values() if isinstance(value, np.ndarray)]
    plain = {name: same_text(value) for name, value in kept.items() if not isinstance(value, np.ndarray)}
    return digest(plain, *more, *arrays)


def start_folder(folder: Path, identity: str) -> None:
    """Make the folder of a fit; fail if it belongs to another fit, or holds other files."""
    head = folder / "fit.json"
    if head.exists():
        if _identity(head) != identity:
            raise other_fit(folder)
        return
    if folder.exists() and not folder.is_dir():
        raise other_fit(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if any(not path.name.startswith(".mercer-") for path in folder.iterdir()):
        raise other_fit(folder)
    with whole_file(head) as file:
        file.write(json.dumps({"identity": identity}).encode())


def _identity(head: Path) -> Any:
    """Return what a file says of the fit that it belongs to; None if it says nothing."""
    try:
        found = json.loads(head.read_text())
    except ValueError:
        return None
    return found.get("identity") if isinstance(found, dict) else None


def other_fit(path: Path) -> ValueError:
    """Return the error for a checkpoint of another fit."""
    return ValueError(
        f"The checkpoint {path} belongs to a fit with other rows or parameters, or is no checkpoint of this class. "
        "Give another path, or delete it."
    )


class Journal:
    """The results of all passes so far, one file each: a solver that starts again gets them instead of computing.

    Solvers are deterministic, so the same passes come in the same order. A small sketch of the vectors of each pass is
    kept with its result; if it does not match, the rest of the journal is not used.
    """

    def __init__(self, folder: str | PathLike[str], identity: str) -> None:
        self.folder = Path(folder)
        self.passes = 0  # asked for so far
        self.replayed = 0  # answered from the files
        self._valid = True
        start_folder(self.folder, identity)

    def known(self, factors: Sequence[Array]) -> list[Array] | None:
        """Return the results of the next pass if they are there."""
        self.passes += 1
        if not self._valid:
            return None
        try:
            _, arrays = read_model(self._file(self.passes), LARGEST)
        except (FileNotFoundError, ModelFileError):
            self._valid = False
            return None
        sketches = [arrays[f"sketch{i}"] for i in range(len(factors)) if f"sketch{i}" in arrays]
        if len(sketches) != len(factors) or not all(map(_alike, sketches, map(_sketch, factors))):
            self._valid = False
            return None
        self.replayed += 1
        return [arrays[f"result{i}"] for i in range(len(factors))]

    def keep(self, factors: Sequence[Array], results: Sequence[Array]) -> None:
        """Write the results of this pass."""
        arrays = {f"sketch{i}": _sketch(V) for i, V in enumerate(factors)}
        arrays |= {f"result{i}": np.ascontiguousarray(R) for i, R in enumerate(results)}
        write_model(self._file(self.passes), {"pass": self.passes}, arrays)

    def remove(self) -> None:
        """Delete the files: the fit is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, number: int) -> Path:
        return self.folder / f"pass-{number:05}"


def _sketch(V: Array) -> Array:
    """Return sums of the entries of each vector with fixed random signs, (b,)."""
    signs = np.random.default_rng(len(V)).choice([-1.0, 1.0], len(V))
    return np.asarray(signs @ V.astype(np.float64, copy=False))


def _alike(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=_SAME, atol=_SAME * float(np.abs(b).max(initial=0.0))))


def read_checked(path: Path, identity: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays of a checkpoint; fail if it belongs to another fit."""
    try:
        header, arrays = read_model(path, LARGEST)
    except ModelFileError as error:
        raise other_fit(path) from error
    if header.get("identity") != identity:
        raise other_fit(path)
    return header, arrays


def encoded_moments(moments: Moments | None, prefix: str) -> tuple[dict[str, float], dict[str, Array]]:
    """Return the numbers and the arrays of moments, these with a prefix."""
    values = {} if moments is None else asdict(moments)
    sums = {name: float(value) for name, value in values.items() if not isinstance(value, np.ndarray)}
    return sums, {f"{prefix}{name}": value for name, value in values.items() if isinstance(value, np.ndarray)}


def decoded_moments(sums: Mapping[str, float], arrays: Mapping[str, Array], prefix: str) -> Moments | None:
    """Return the moments of numbers and arrays; None if there are none."""
    held = {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
    values: dict[str, Any] = {**sums, **held}
    return Moments(**values) if held else None


class MomentsFile:
    """The moments of the partitions so far, with the landmarks that they are on, in one file."""

    def __init__(self, path: str | PathLike[str], identity: str) -> None:
        self.path, self.identity = Path(path), identity

    def read(self) -> tuple[dict[str, Any], Moments | None, dict[str, Array]] | None:
        """Return numbers, moments and further arrays; None if there is no file."""
        if not self.path.exists():
            return None
        header, arrays = read_checked(self.path, self.identity)
        moments = decoded_moments(header["sums"], arrays, "moments.")
        return header["numbers"], moments, {n: a for n, a in arrays.items() if not n.startswith("moments.")}

    def write(self, numbers: Mapping[str, Any], moments: Moments | None, arrays: Mapping[str, Array]) -> None:
        """Replace the file."""
        sums, held = encoded_moments(moments, "moments.")
        write_model(self.path, {"identity": self.identity, "numbers": numbers, "sums": sums}, {**arrays, **held})

    def remove(self) -> None:
        """Delete the file: the fit is complete."""
        self.path.unlink(missing_ok=True)
