"""`mercer transform`, `score` and `denoise`: apply a model to the rows of a file, chunk by chunk."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.arrays import Array
from mercer.cli import console, options, source, targets, waiting
from mercer.cli.source import labelled
from mercer.errors import ModelFileError
from mercer.io import writers
from mercer.io.persist import load
from mercer.io.readers import holds_rows
from mercer.io.table import Table, joined
from mercer.registry import DECOMPOSITIONS
from mercer.tables.prepared import PreparedModel

_OTHER_COMMANDS = {
    "KernelOutlierDetector": "use `mercer outliers DATA --detector {}`.",
    "ProcessMonitor": "use `mercer monitor NEW --monitor {}`.",
}
_QUANTILES = {"smallest": 0.0, "median": 0.5, "90 %": 0.9, "99 %": 0.99, "largest": 1.0}


def transform(
    model: options.Model,
    data: options.Data,
    out: options.Out = "-",
    exclude: options.Exclude = None,
    ids: options.Ids = None,
    times: options.Times = None,
    missing: options.MissingCells = None,
    rows: options.FirstRows = None,
    chunk_rows: options.ChunkRows = 4096,
    verbose: options.Verbose = False,
) -> None:
    """Project rows onto the components of a model."""
    targets.check_apart([model], out=out)  # rows may replace those of DATA: they are written once all are read
    estimator = open_model(model)
    with waiting.watch(verbose, out) as observers:
        reading = source.Reading(None, exclude, (ids, times), missing, rows)
        found = source.to_judge(estimator, data, observers, reading)
        names = [str(name) for name in estimator.get_feature_names_out()]
        tables = found.chunks(chunk_rows)
        _write(out, *labelled(found, tables, lambda table: np.asarray(estimator.transform(table.values)), names))


def denoise(model: Path, data: str, out: str, reading: source.Reading, chunk_rows: int, observers: Any) -> None:
    """Replace each row by its reconstruction from the components of a model."""
    targets.check_apart([model], out=out)
    estimator = open_model(model)
    found = source.to_judge(estimator, data, observers, reading)
    tables = found.chunks(chunk_rows)
    first = next(tables)  # its column names, if any, are those of the output too
    names, clean = labelled(
        found,
        chain([first], tables),
        lambda table: np.asarray(estimator.inverse_transform(estimator.transform(table.values))),
        list(first.names or [f"column{i}" for i in range(first.values.shape[1])]),
    )
    nameless = first.names is None and len(names) == first.values.shape[1]
    _write(out, None if nameless else names, clean)


def score(
    model: options.Model,
    data: options.Data,
    out: Annotated[str | None, typer.Option("--out", "-o", help="File for one value per row, or -.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of rows with the largest values to show.")] = 5,
    exclude: options.Exclude = None,
    ids: options.Ids = None,
    times: options.Times = None,
    missing: options.MissingCells = None,
    rows: options.FirstRows = None,
    chunk_rows: options.ChunkRows = 4096,
    verbose: options.Verbose = False,
) -> None:
    """Measure how far each row is from the subspace of a model (SPE: squared distance in feature space)."""
    targets.check_apart([model, data], out=out)
    estimator = open_model(model)
    with waiting.watch(verbose, out) as observers:
        reading = source.Reading(None, exclude, (ids, times), missing, rows)
        found = source.to_judge(estimator, data, observers, reading)
        seen = Largest(top)
        names, chunks = labelled(
            found,
            found.chunks(chunk_rows),
            lambda table: seen.noting(table, estimator.reconstruction_error(table.values))[:, None],
            ["spe"],
        )
        if out is None:
            for _ in chunks:
                pass
        else:
            _write(out, names, chunks)
    if out != "-":
        _summarise(seen)


@dataclass(frozen=True)
class Found:
    """One of the rows with the largest values."""

    row: int  # its number in the file
    kept: list[str]
    values: Array  # (d,)
    shown: float


class Largest:
    """The values of all rows, and the rows with the largest of them."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._all: list[Array] = []
        self._rows: Table | None = None  # the largest so far, and their values
        self._values, self._shown = np.empty(0), np.empty(0)

    def noting(self, table: Table, values: Array, shown: Array | None = None) -> Array:
        """Store further rows, with numbers to show if they differ from the values, and return the values."""
        self._all.append(values)
        self._rows = table if self._rows is None else joined([self._rows, table])
        self._values = np.concatenate([self._values, values])
        self._shown = np.concatenate([self._shown, values if shown is None else shown])
        best = np.argsort(-self._values, kind="stable")[: self._top]
        self._rows, self._values, self._shown = self._rows[best], self._values[best], self._shown[best]
        return values

    @property
    def values(self) -> Array:
        """The value of every row so far."""
        return np.concatenate(self._all)

    @property
    def kept_names(self) -> tuple[str, ...]:
        """The names of the kept cells."""
        return () if self._rows is None else self._rows.kept_names

    def __iter__(self) -> Iterator[Found]:
        """Iterate over the rows with the largest values, the largest first."""
        for i, shown in enumerate(self._shown):
            assert self._rows is not None
            kept = [] if self._rows.kept is None else [str(cell) for cell in self._rows.kept[i]]
            yield Found(int(self._rows.rows[i]), kept, self._rows.values[i], float(shown))


def open_model(path: Path) -> Any:
    """Load a kernel model, or fail if there is none at this path."""
    try:
        estimator = open_file(path)
    except ModelFileError as error:
        if not holds_rows(path):
            raise
        raise ModelFileError(f"{path} is a file of rows, not a model. The model comes first, then the rows.") from error
    if isinstance(estimator, PreparedModel) or type(estimator).__name__ in DECOMPOSITIONS:
        return estimator
    problem = f"{path} holds a model of the class {type(estimator).__name__}, which has no scores of rows"
    instead = _OTHER_COMMANDS.get(type(estimator).__name__, "give a model saved by `mercer fit`.")
    raise TypeError(f"{problem}; {instead.format(path)}")


def open_kind(path: Path, kind: type, name: str, maker: str) -> Any:
    """Load an object of this kind, or fail and say which command makes one."""
    found = open_file(path, f"{name} saved by `{maker}`")
    if not isinstance(found, kind):
        held = "model of `mercer fit`" if isinstance(found, PreparedModel) else type(found).__name__
        raise TypeError(f"{path} holds a {held}, not a {name}; make one with `{maker}`.")
    return found


def open_file(path: Path, needed: str = "model saved by `mercer fit`") -> Any:
    """Load a model, detector or monitor."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; give a {needed}.")
    return load(path)


def _write(out: str, names: list[str] | None, chunks: Iterator[writers.Labelled]) -> None:
    rows = writers.write(out, chunks, names)
    if out != "-":
        console.say(f"Wrote {rows:,} rows to {out}.")


def _summarise(seen: Largest) -> None:
    table = console.grid("", "spe")
    for name, value in zip(_QUANTILES, np.quantile(seen.values, list(_QUANTILES.values())), strict=True):
        table.add_row(name, f"{value:.4g}")
    console.show(f"Reconstruction error of {len(seen.values):,} rows", table)
    table = console.grid("row", *seen.kept_names, "spe")
    for one in seen:
        table.add_row(str(one.row), *one.kept, f"{one.shown:.4g}")
    if table.row_count:
        console.show("Rows with the largest error, counted from 0", table)
