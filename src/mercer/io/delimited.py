"""Rows from comma-, semicolon-, tab- or space-separated text, with errors that name line and column."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataFileError
from mercer.io.dialect import SAMPLE, Dialect, number, sniff
from mercer.io.table import Table, positions, rebatch

_PIECE = 1024  # lines converted at a time by the plain reader


def file_chunks(path: Path, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
    """Stream a text file in chunks, through pyarrow where it is installed."""
    with _text(path) as stream:
        head = list(islice(stream, SAMPLE))
    dialect, take = _plan(head, str(path), columns)
    yield from _tables(rebatch(_fast_pieces(path, dialect, take), rows), dialect, take)


def line_chunks(lines: Iterable[str], where: str, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
    """Stream lines that can be read only once, such as standard input."""
    lines = iter(lines)
    head = list(islice(lines, SAMPLE))
    dialect, take = _plan(head, where, columns)
    pieces = _plain_pieces(chain(head, lines), where, dialect, take)
    yield from _tables(rebatch(pieces, rows), dialect, take)


def _text(path: Path) -> TextIO:
    # Letters beyond UTF-8 can stand only in names or in cells that are wrong anyway.
    return path.open(encoding="utf-8-sig", errors="replace")


def _plan(head: Sequence[str], where: str, columns: Sequence[str] | None) -> tuple[Dialect, list[int]]:
    dialect = sniff(head)
    if dialect is None:
        raise DataFileError(f"{where} is empty; at least one row of numbers is needed.")
    if columns is None or dialect.names is None:
        return dialect, list(range(dialect.width))
    return dialect, positions(where, dialect.names, columns)


def _tables(chunks: Iterable[Array], dialect: Dialect, take: Sequence[int]) -> Iterator[Table]:
    names = None if dialect.names is None else tuple(dialect.names[i] for i in take)
    for values in chunks:
        yield Table(values, names)


def _fast_pieces(path: Path, dialect: Dialect, take: Sequence[int]) -> Iterator[Array]:
    """Let pyarrow parse; whatever it refuses, the plain reader reads on from there or explains."""
    done = 0
    try:
        for piece in _arrow_pieces(path, dialect, take):
            done += len(piece)
            yield piece
        return
    except (ImportError, ValueError):
        pass  # not installed, or pyarrow.ArrowInvalid
    with _text(path) as stream:
        for piece in _plain_pieces(stream, str(path), dialect, take):
            yield piece[max(0, done) :]
            done -= min(done, len(piece))


def _arrow_pieces(path: Path, dialect: Dialect, take: Sequence[int]) -> Iterator[Array]:
    import pyarrow as pa
    from pyarrow import csv as arrow

    keys = [f"c{i}" for i in range(dialect.width)]
    wanted = [keys[i] for i in take]
    reader = arrow.open_csv(
        path,
        arrow.ReadOptions(column_names=keys, skip_rows=0 if dialect.names is None else 1),
        arrow.ParseOptions(delimiter=dialect.delimiter),
        arrow.ConvertOptions(
            column_types=dict.fromkeys(wanted, pa.float64()),
            include_columns=wanted,
            null_values=[],  # an empty cell is an error to report, not a NaN to pass on
            decimal_point=dialect.decimal,
        ),
    )
    for batch in reader:
        yield np.column_stack([batch.column(key).to_numpy(zero_copy_only=False) for key in wanted])


def _plain_pieces(lines: Iterable[str], where: str, dialect: Dialect, take: Sequence[int]) -> Iterator[Array]:
    reader = csv.reader(lines, delimiter=dialect.delimiter, skipinitialspace=True)
    numbered = _records(reader, where)
    for _ in range(dialect.names is not None):
        next(numbered)
    while piece := list(islice(numbered, _PIECE)):
        yield np.array([_convert(row, line, where, dialect, take) for line, row in piece], dtype=np.float64)


def _records(reader: Any, where: str) -> Iterator[tuple[int, list[str]]]:
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise DataFileError(f"{where}, line {reader.line_num} cannot be split into cells ({error}).") from error


def _convert(row: Sequence[str], line: int, where: str, dialect: Dialect, take: Sequence[int]) -> list[float]:
    if len(row) != dialect.width:
        raise DataFileError(
            f"{where}, line {line} has {len(row)} cells, but the first line has {dialect.width}. "
            "Every row needs the same number of cells; mend or delete the line."
        )
    cells: list[Any] = [number(row[i], dialect.decimal) for i in take]
    if None in cells:
        raise _not_a_number(row, line, where, dialect, take[cells.index(None)])
    return cells


def _not_a_number(row: Sequence[str], line: int, where: str, dialect: Dialect, at: int) -> DataFileError:
    name = "" if dialect.names is None else f" ({dialect.names[at]})"
    found = f"holds {row[at]!r}, which is not a number" if row[at].strip() else "is empty"
    return DataFileError(
        f"{where}, line {line}, column {at + 1}{name} {found}. Mend the cell, drop the row, "
        "or leave the column out by naming the columns to use."
    )
