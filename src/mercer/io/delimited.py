"""Rows from comma-, semicolon-, tab- or space-separated text, with errors that name line and column."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from gzip import BadGzipFile
from itertools import chain, islice
from operator import length_hint
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DataFileError, MissingCellError
from mercer.io.dialect import SAMPLE, is_grouped, is_missing, number, sniff
from mercer.io.selection import MISSING, Pick, Selection, cut
from mercer.io.table import Table, rebatch
from mercer.io.text import encoding_of, open_text

_PIECE = 1024  # lines converted at a time by the plain reader
SEPARATOR_LINE = re.compile('"?sep=."?', re.IGNORECASE)
_ARROW_ENCODINGS = ("utf-8", "utf-8-sig", "cp1252")


class _Plan:
    """How a text is read: its dialect, the columns to take, and the meaning of an empty cell."""

    def __init__(self, head: Sequence[str], where: str, selection: Selection) -> None:
        self.skip = _lines_before(head)
        table = head[self.skip :]
        dialect = sniff(table, where)
        if dialect is None:
            raise DataFileError(f"{where} is empty; at least one row of numbers is needed.")
        self.where, self.dialect, self.fills = where, dialect, selection.fills
        self.first = self.skip + (0 if dialect.names is None else _lines_of_names(table, dialect.delimiter))
        self.pick: Pick = selection.pick(where, dialect.names, dialect.numeric)

    def table(self, values: Any, kept: Any) -> Table:
        """Return the rows with the cells of the columns to keep."""
        width = len(self.pick.keep)
        return self.pick.table(values, np.asarray(kept, dtype=object).reshape(-1, width) if width else None)


def _lines_before(head: Sequence[str]) -> int:
    """Count the lines before the table: blank ones, and one such as `sep=;`, which names the separator for Excel."""
    named = False
    for at, line in enumerate(head):
        separator = not named and SEPARATOR_LINE.fullmatch(line.strip()) is not None
        if not separator and line.strip(" \r\n"):
            return at
        named = named or separator
    return len(head)


def _lines_of_names(table: Sequence[str], delimiter: str) -> int:
    """Count the lines that hold the names of the columns: more than one if there is a line break in quotes."""
    reader = csv.reader(table, delimiter=delimiter, skipinitialspace=True)
    next(reader)
    return reader.line_num


def file_chunks(path: Path, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream a text file in chunks, through pyarrow where it is installed."""
    with open_text(path) as stream:
        head = list(islice(stream, SAMPLE))
    plan = _Plan(head, str(path), selection)
    yield from rebatch(_fast_pieces(path, plan), rows)


def line_chunks(lines: Iterable[str], where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream lines that can be read only once, such as standard input."""
    lines = iter(lines)
    head = list(islice(lines, SAMPLE))
    yield from rebatch(_plain_pieces(chain(head, lines), _Plan(head, where, selection)), rows)


def _fast_pieces(path: Path, plan: _Plan) -> Iterator[Table]:
    """Read by pyarrow; where it fails, the plain reader continues from there or reports what is wrong."""
    done = 0
    try:
        for piece in _arrow_pieces(path, plan):
            done += len(piece)
            yield piece
        return
    except (ImportError, ValueError):
        pass  # not installed, or pyarrow.ArrowInvalid
    except OSError as error:
        if error.errno is not None:  # of the system; damaged compressed bytes have no number
            raise
        raise BadGzipFile(str(error)) from error
    with open_text(path) as stream:
        for piece in _plain_pieces(stream, plan):
            yield piece[max(0, done) :]
            done -= min(done, len(piece))


def _arrow_pieces(path: Path, plan: _Plan) -> Iterator[Table]:
    """Read by pyarrow, batch by batch."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    dialect, encoding = plan.dialect, encoding_of(path)
    if encoding not in _ARROW_ENCODINGS:
        raise ValueError(f"pyarrow is not asked to read {encoding}.")
    keys = [f"c{i}" for i in range(dialect.width)]
    numbers, texts = [keys[i] for i in plan.pick.take], [keys[i] for i in plan.pick.keep]
    last = [keys[-1]] if keys[-1] not in numbers else []
    kinds = {keys[i]: pa.bool_() if dialect.truths[i] else pa.float64() for i in plan.pick.take}
    reader = arrow.open_csv(
        path,
        arrow.ReadOptions(
            column_names=keys,
            skip_rows=plan.first,
            encoding="utf8" if encoding.startswith("utf-8") else encoding,
        ),
        arrow.ParseOptions(delimiter=dialect.delimiter),
        arrow.ConvertOptions(
            column_types={**dict.fromkeys(last, pa.binary()), **kinds, **dict.fromkeys(texts, pa.string())},
            include_columns=list(dict.fromkeys([*numbers, *texts, *last])),  # a column may be wanted twice
            null_values=sorted(MISSING) if plan.fills else [],  # else an empty cell is an error to report
            decimal_point=dialect.decimal,
        ),
    )
    ending: list[bytes] = []
    for batch in reader:
        floats = [batch.column(key).cast(pa.float64()) for key in numbers]  # true and false become 1 and 0
        values = np.column_stack([column.to_numpy(zero_copy_only=False) for column in floats])
        yield plan.table(values, [*zip(*(batch.column(key).to_pylist() for key in texts), strict=True)])
        ending = [bytes(cell) for key in last for cell in batch.column(key)[-1:].cast(pa.binary()).to_pylist()]
    if any(b"\n" in cell or b"\r" in cell for cell in ending):  # pyarrow ends a quote at the end of the file
        raise ValueError("The last cell has several lines, so its quote may not be closed.")


def _plain_pieces(lines: Iterable[str], plan: _Plan) -> Iterator[Table]:
    """Read by the csv module of Python."""
    numbered = _records(lines, plan)
    for _ in range(plan.dialect.names is not None):
        next(numbered)
    while piece := list(islice(numbered, _PIECE)):
        values = np.array([_convert(row, line, plan) for line, row in piece], dtype=np.float64)
        yield plan.table(values, [[row[i] for i in plan.pick.keep] for _, row in piece])


def _records(lines: Iterable[str], plan: _Plan) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of cells with the numbers of their lines, without empty lines."""
    blank = iter(["\n"])  # it is a row of its own, except where a quote is still open
    text = chain(islice(lines, plan.skip, None), blank)
    reader = csv.reader(text, delimiter=plan.dialect.delimiter, skipinitialspace=True)
    line = plan.skip
    try:
        for row in reader:
            if row and not length_hint(blank):
                raise DataFileError(
                    f"{plan.where}, line {line + 1}: a quote that is opened there is not closed. Correct the line."
                )
            line = reader.line_num + plan.skip
            if row:
                yield line, row
    except csv.Error as error:
        raise DataFileError(
            f"{plan.where}, line {line + 1} cannot be split into cells ({error}). Is a quote closed there?"
        ) from error


def _convert(row: Sequence[str], line: int, plan: _Plan) -> list[float]:
    """Return the numbers of one row, or say which cell is wrong."""
    dialect = plan.dialect
    if len(row) != dialect.width:
        raise DataFileError(
            f"{plan.where}, line {line} has {len(row)} cells, but the first line has {dialect.width}. "
            "Every row needs the same number of cells; correct or delete the line."
        )
    cells: list[Any] = [number(row[i], dialect.decimal) for i in plan.pick.take]
    for at, cell in enumerate(cells):
        if cell is None:
            cells[at] = _no_number(row, line, plan, plan.pick.take[at])
    return cells


def _no_number(row: Sequence[str], line: int, plan: _Plan, at: int) -> float:
    """Return NaN for a missing cell where missing cells are accepted; otherwise say what is wrong."""
    missing = is_missing(row[at])
    if missing and plan.fills:
        return float("nan")
    name = "" if plan.dialect.names is None else f" ({cut(plan.dialect.names[at])})"
    place = f"{plan.where}, line {line}, column {at + 1}{name}"
    if missing:
        raise MissingCellError(f"{place} is {'empty' if not row[at].strip() else f'missing ({row[at].strip()})'}.")
    remedy = "Correct the cell, drop the row, or leave the column out."
    if is_grouped(row[at]):
        remedy = "Write numbers without thousands separators, or leave the column out."
    raise DataFileError(f"{place} holds '{cut(row[at])}', which is not a number. {remedy}")
