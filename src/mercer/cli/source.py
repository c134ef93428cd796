"""The rows that a command reads, with one message for each change that is made to them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.cli import console
from mercer.cli.options import Missing, MonitorMissing, split_names
from mercer.errors import DataFileError
from mercer.events import Channel, Observer
from mercer.io import readers
from mercer.io.selection import Selection, distinct, shortened
from mercer.io.table import joined
from mercer.io.writers import Labelled
from mercer.monitoring.monitor import ProcessMonitor
from mercer.outliers.detector import KernelOutlierDetector
from mercer.tables.columns import ColumnSummary
from mercer.tables.prepared import PreparedModel, filled, training_means

CHUNK_ROWS = 4096
_MODES = {"error": "error", "drop": "drop", "mean": "mark", "keep": "mark"}  # what readers do


@dataclass(frozen=True)
class Reading:
    """How files are to be read, as the options of a command say it; names of columns are separated by commas."""

    columns: str | None = None  # that are used; None: all that hold numbers
    exclude: str | None = None
    kept: tuple[str | None, ...] = ()  # columns that are only copied to the output
    missing: Missing | MonitorMissing | None = None
    limit: int | None = None  # number of rows to read, from the start

    def selection(self, columns: tuple[str, ...] | None, missing: str, *, by_position: bool = False) -> Selection:
        """Return what readers select, with these columns and this handling of missing cells."""
        keep = tuple(name for text in self.kept for name in split_names(text))
        return Selection(columns, split_names(self.exclude), keep, _MODES[missing], by_position=by_position)

    @property
    def named(self) -> tuple[str, ...] | None:
        """The columns that are used; an error if one is named twice, since a model finds columns by their names."""
        if self.columns is None:
            return None
        names = split_names(self.columns)
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise ValueError(f"--columns names '{twice[0]}' twice; name every column once.")
        return names


@dataclass
class Source:
    """Rows of a file, as chosen by the options of a command."""

    data: str
    selection: Selection
    observers: tuple[Observer, ...] = ()
    fills: bool = False  # whether means replace missing cells,
    means: Array | None = None  # which are these, if they are known already
    quiet: bool = False  # to read the file again
    held: readers.Table | None = None  # the rows, if they are already in memory
    limit: int | None = None  # number of rows of the file to read
    width: int | None = None  # number of columns that the model needs
    more: tuple[str, ...] = ()  # further files with the same columns
    _told: list[str] = field(default_factory=list)

    def chunks(self, rows: int) -> Iterator[readers.Table]:
        """Read chunk by chunk; chunks of which all rows were dropped do not appear."""
        channel = Channel(self.observers)
        if self.held is not None:
            for start in range(0, len(self.held), rows):
                yield self.held[start : start + rows]
                channel.emit("rows judged", min(start + rows, len(self.held)), len(self.held))
            return
        total = self._total() if self.observers else None
        dropped: list[IntArray] = []
        done = used = 0
        for table in self._tables(rows):
            self._tell_left_out(table)
            self._check_width(table)
            dropped.append(table.dropped)
            done, used = done + len(table) + len(table.dropped), used + len(table)
            if len(table):
                yield self._filled(table)
            channel.emit("rows", done, total)
        self._tell_dropped(np.concatenate(dropped), done)
        if not used:
            raise DataFileError(
                f"All {done:,} rows have missing cells, so no row is left. Exclude columns, or fill in the cells."
            )

    def read(self, rows: int | None = None, seed: int = 0) -> readers.Table:
        """Read all rows into memory, or this number of them, drawn at random."""
        if rows is None:
            return joined(list(self.chunks(65_536)))
        return readers.drawn(self.chunks(max(rows, CHUNK_ROWS)), rows, seed)

    def _tables(self, rows: int) -> Iterator[readers.Table]:
        """Read the file, or its first rows if there is a limit."""
        if self.limit is None:
            selection = self.selection
            for file in (self.data, *self.more):
                for table in readers.chunks(file, rows, selection=selection):
                    if table.names is not None and selection.columns is None:
                        selection = replace(selection, columns=table.names, exclude=())
                    yield table
            return
        read = 0
        for table in readers.chunks(self.data, min(rows, self.limit), selection=self.selection):
            read += len(table) + len(table.dropped)
            yield replace(table[table.rows < self.limit], dropped=table.dropped[table.dropped < self.limit])
            if read >= self.limit:
                return

    def _total(self) -> int | None:
        counts = [readers.row_count(file) for file in (self.data, *self.more)]
        total = sum(count or 0 for count in counts) if all(count is not None for count in counts) else None
        return min(total, self.limit) if total is not None and self.limit is not None else total

    def _filled(self, table: readers.Table) -> readers.Table:
        if self.means is None:
            return table
        return replace(table, values=filled(table.values, self.means))

    def _check_width(self, table: readers.Table) -> None:
        found = table.values.shape[1]
        if self.width is None or found == self.width:
            return
        if self.selection.by_position:
            advice = " Leave the others out by their positions, such as --exclude 0." if found > self.width else ""
            raise DataFileError(
                f"{self.data} has no names of columns and {found} columns of numbers; the model needs {self.width} "
                f"({shortened(self.selection.columns or ())}).{advice}"
            )
        raise DataFileError(
            f"The model was fitted on {self.width} columns, which have no names to find them by; {self.data} has "
            f"{found} columns of numbers. Name the others with --exclude."
        )

    def _tell_left_out(self, table: readers.Table) -> None:
        if table.left_out and not self.quiet and "left out" not in self._told:
            note = "" if table.names else " (counted from 0; the first line is taken as a row, not as names)"
            console.say(f"Left out, not numbers: {shortened(table.left_out)}{note}.")
            self._told.append("left out")

    def _tell_dropped(self, rows: IntArray, total: int) -> None:
        if len(rows) and not self.quiet:
            which = shortened([str(row) for row in rows])
            console.say(f"Dropped {len(rows):,} of {total:,} rows, which have missing cells: {which}, counted from 0.")


def to_learn(data: str, observers: tuple[Observer, ...], reading: Reading, more: tuple[str, ...] = ()) -> Source:
    """Return the rows that a model is to learn from; `more` are further files."""
    selection = reading.selection(reading.named, reading.missing or Missing.error)
    return Source(data, selection, observers, reading.missing == Missing.mean, limit=reading.limit, more=more)


def to_judge(
    model: Any, data: str, observers: tuple[Observer, ...], reading: Reading, means: Array | None = None
) -> Source:
    """Return the rows to apply a model to, with its columns found by name; means are the model's, or those given."""
    names = getattr(model, "feature_names_in_", None)
    wanted = reading.named if names is None else tuple(str(name) for name in names)
    missing = reading.missing or _own_rule(model)
    fills = missing == Missing.mean
    if fills and means is None:
        means = training_means(model)
    if fills and means is None:
        raise ValueError(_no_means(model))
    selection = reading.selection(wanted, missing, by_position=names is not None)
    width = getattr(model, "n_features_in_", None) if names is None else len(names)
    return Source(data, selection, observers, fills, means, limit=reading.limit, width=width)


def learning_only(saved: Any, parameters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parameters that a saved detector or monitor has no use for: columns, too, if it knows their names."""
    return (*parameters, "columns") if hasattr(saved, "feature_names_in_") else parameters


def ready(known: readers.Table, learning: Source) -> tuple[readers.Table, Array | None]:
    """Return rows to learn from, and the means that fill their missing cells; say what is unusual about columns."""
    summary = ColumnSummary().update(known.values)
    means = summary.filling(known.columns) if learning.fills else None
    for hint in hints(summary, known.columns):
        console.say(hint)
    return (known if means is None else replace(known, values=filled(known.values, means))), means


def fit(judge: Any, known: readers.Table, X: Any, observers: tuple[Observer, ...]) -> None:
    """Fit a detector or monitor to the rows X of a table, with progress, and let it know the names of the columns."""
    judge.observers, judge.names_in_messages = observers, known.names
    judge.fit(X)
    del judge.observers, judge.names_in_messages
    if known.names:
        judge.feature_names_in_ = np.array(known.names, object)  # to find the columns in later files


def hints(summary: ColumnSummary, columns: tuple[str, ...]) -> Iterator[str]:
    """Return messages about unusual columns that a model learns from."""
    if summary.n_rows and len(summary.constant()) == summary.n_columns:
        yield "Warning: all columns are constant, so there is nothing to learn from these rows."
    for column in summary.counting():
        yield (
            f"Column {columns[column]} rises or falls by whole numbers from row to row, as a row number or a time "
            f"does. If it is one, leave it out: --exclude {columns[column]}"
        )


def _no_means(model: Any) -> str:
    """Return why missing cells cannot be filled for a model, and what can be done."""
    if isinstance(model, ProcessMonitor):
        return (
            "A saved monitor does not know the means of its training rows. Use --missing keep or drop, or learn and "
            "judge in one command, with NORMAL and NEW."
        )
    if isinstance(model, KernelOutlierDetector):
        return (
            "A detector that was learned with --scale none does not know the means of its training rows. Learn it with "
            "--scale soft, or use --missing drop."
        )
    return (
        "This model does not know the means of its training rows. Fit it with --missing mean or --scale, or use "
        "--missing drop."
    )


def _own_rule(model: Any) -> Missing:
    return Missing(model.missing) if isinstance(model, PreparedModel) else Missing.error


def labels(source: Source, table: readers.Table) -> tuple[list[str], tuple[npt.NDArray[Any], ...]]:
    """Return the labels of each row: its number, if rows can be dropped, and the kept columns."""
    names, columns = list(table.kept_names), [] if table.kept is None else list(table.kept.T)
    if source.selection.missing == "drop":
        names, columns = ["row", *names], [table.rows, *columns]
    return names, tuple(columns)


def labelled(
    source: Source, tables: Iterable[readers.Table], results: Any, names: list[str]
) -> tuple[list[str], Iterator[Labelled]]:
    """Return names and chunks to write: labels, then `results(table)` for each table."""
    tables = iter(tables)
    first = next(tables)
    before, _ = labels(source, first)

    def chunks() -> Iterator[Labelled]:
        yield Labelled(labels(source, first)[1], results(first))
        for table in tables:
            yield Labelled(labels(source, table)[1], results(table))

    return list(distinct([*before, *names])), chunks()
