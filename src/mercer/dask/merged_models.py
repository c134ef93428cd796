"""Models of groups of partitions, merged in a tree as they come; a checkpoint has a file for each of them."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.dask.checkpoints import LARGEST, start_folder
from mercer.errors import ModelFileError
from mercer.io.persist import load, read_model, save, write_model


class Levels:
    """Models that come one after the other, merged as soon as there are two of as many partitions each."""

    def __init__(self, folder: "ModelFolder | None" = None) -> None:
        self._held: list[tuple[int, int, Any]] = []  # first and last number, and the model of these
        self._folder = folder
        self.done = 0  # models that came so far
        if folder is not None:
            self._held = folder.models()
            self.done = self._held[-1][1] if self._held else 0

    def add(self, model: Any) -> None:
        """Take the next model; None stands for no rows."""
        self.done += 1
        if model is None:
            return
        first, last = self.done, self.done
        before = []
        while self._held and _size(*self._held[-1][:2]) <= last - first + 1:
            start, stop, older = self._held.pop()
            before.append((start, stop))
            model, first = older.merge(model), start
        self._held.append((first, last, model))
        if self._folder is not None:
            self._folder.keep(first, last, model, before)

    def result(self) -> Any:
        """Return one model of all rows; None if there were none."""
        return merged([model for _, _, model in self._held])


def _size(first: int, last: int) -> int:
    return last - first + 1


def merged(models: list[Any]) -> Any:
    """Return one model for the rows of all of them, merged two by two in their order."""
    found = [model for model in models if model is not None]
    while len(found) > 1:
        found = [found[i].merge(found[i + 1]) if i + 1 < len(found) else found[i] for i in range(0, len(found), 2)]
    return found[0] if found else None


class ModelFolder:
    """The models of a fit so far, in a folder: one file for each that is not merged yet, named by its groups.

    A merged model is written before its parts are deleted. So the files from the first group on, each time the one that
    reaches farthest, are always the models of all groups so far.
    """

    def __init__(self, path: Any, identity: str) -> None:
        self.path = Path(path)
        start_folder(self.path, identity)

    def settled(self) -> tuple[dict[str, Any], dict[str, str]] | None:
        """Return the parameters of all partitions, and digests of rows; None if they are not fixed yet."""
        try:
            header, arrays = read_model(self.path / "settled", LARGEST)
        except (FileNotFoundError, ModelFileError):
            return None
        return {**header["values"], **arrays}, header.get("digests", {})

    def settle(self, params: dict[str, Any], digests: dict[str, str]) -> None:
        """Write the parameters that are the same for all partitions, and digests of the rows of some of them."""
        for path in self.path.glob("groups-*"):
            path.unlink()  # a model from before, with parameters that are lost
        arrays: dict[str, Array] = {name: v for name, v in params.items() if isinstance(v, np.ndarray)}
        values = {name: v for name, v in params.items() if name not in arrays}
        write_model(self.path / "settled", {"values": values, "digests": digests}, arrays)

    def models(self) -> list[tuple[int, int, Any]]:
        """Return the models of all groups from the first on that are there, with their numbers."""
        found: list[tuple[int, int, Any]] = []
        ranges = [tuple(map(int, path.name.split("-")[1:])) for path in self.path.glob("groups-*")]
        first = 1
        for start, last in sorted(ranges, key=lambda pair: (pair[0], -pair[1])):
            if start == first:
                try:
                    found.append((start, last, load(self._file(start, last), LARGEST)))
                except ModelFileError:
                    continue
                first = last + 1
        return found

    def keep(self, first: int, last: int, model: Any, before: list[tuple[int, int]]) -> None:
        """Write a model, and delete those that it was merged from."""
        save(model, self._file(first, last))
        for pair in before:
            self._file(*pair).unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the files: the fit is complete."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _file(self, first: int, last: int) -> Path:
        return self.path / f"groups-{first:08}-{last:08}"
