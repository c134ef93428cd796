"""What a fit has done so far, in files that are complete or not there: passes over a matrix, or sums of partitions."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
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
_LARGEST = 2**50  # bytes of a file


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


def _other_fit(path: Path) -> ValueError:
    return ValueError(
        f"The checkpoint {path} belongs to a fit with other rows or parameters. Give another path, or delete it."
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
        head = self.folder / "fit.json"
        if head.exists():
            if json.loads(head.read_text()).get("identity") != identity:
                raise _other_fit(self.folder)
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            if any(not path.name.startswith(".mercer-") for path in self.folder.iterdir()):
                raise _other_fit(self.folder)
            with whole_file(head) as file:
                file.write(json.dumps({"identity": identity}).encode())

    def known(self, factors: Sequence[Array]) -> list[Array] | None:
        """Return the results of the next pass if they are there."""
        self.passes += 1
        if not self._valid:
            return None
        try:
            _, arrays = read_model(self._file(self.passes), _LARGEST)
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


class MomentsFile:
    """The moments of the partitions so far, with the landmarks that they are on, in one file."""

    def __init__(self, path: str | PathLike[str], identity: str) -> None:
        self.path, self.identity = Path(path), identity

    def read(self) -> tuple[dict[str, Any], Moments | None, dict[str, Array]] | None:
        """Return numbers, moments and further arrays; None if there is no file."""
        if not self.path.exists():
            return None
        header, arrays = read_model(self.path, _LARGEST)
        if header.get("identity") != self.identity:
            raise _other_fit(self.path)
        sums = {name.removeprefix("moments."): a for name, a in arrays.items() if name.startswith("moments.")}
        values: dict[str, Any] = {**header["sums"], **sums}
        moments = Moments(**values) if sums else None
        return header["numbers"], moments, {n: a for n, a in arrays.items() if not n.startswith("moments.")}

    def write(self, numbers: Mapping[str, Any], moments: Moments | None, arrays: Mapping[str, Array]) -> None:
        """Replace the file."""
        values = {} if moments is None else asdict(moments)
        sums = {name: float(value) for name, value in values.items() if not isinstance(value, np.ndarray)}
        held = {f"moments.{name}": value for name, value in values.items() if isinstance(value, np.ndarray)}
        write_model(self.path, {"identity": self.identity, "numbers": numbers, "sums": sums}, {**arrays, **held})

    def remove(self) -> None:
        """Delete the file: the fit is complete."""
        self.path.unlink(missing_ok=True)
