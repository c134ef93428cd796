"""Rows from JSON lines: one list of numbers, or one object with numbers by name, a line."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DataFileError
from mercer.io.table import Table, positions


def json_file(path: Path, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
    """Stream a file of JSON lines."""
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        yield from json_lines(lines, str(path), rows, columns)


def json_lines(lines: Iterable[str], where: str, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
    """Stream lines of JSON; the first one tells whether rows are lists or objects, and their names."""
    numbered = ((i, line) for i, line in enumerate(lines, 1) if line.strip())
    keys: list[str] | None = None
    width = 0
    while piece := list(islice(numbered, rows)):
        parsed = [(i, _parse(line, i, where)) for i, line in piece]
        if not width:
            keys = _keys(parsed[0][1], where, columns)
            width = len(keys or parsed[0][1])
        values = [_cells(row, i, where, keys, width) for i, row in parsed]
        yield Table(np.array(values, dtype=np.float64), None if keys is None else tuple(keys))


def _keys(first: Any, where: str, columns: Sequence[str] | None) -> list[str] | None:
    if not isinstance(first, dict):
        return None
    own = list(first)
    return own if columns is None else [own[i] for i in positions(where, own, columns)]


def _parse(line: str, number: int, where: str) -> Any:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataFileError(f"{where}, line {number} is not JSON ({error}). Mend or delete the line.") from error
    if not row or not isinstance(row, list | dict):
        raise DataFileError(f"{where}, line {number} is {line.strip()[:40]}; a list or an object of numbers is needed.")
    return row


def _cells(row: Any, number: int, where: str, keys: list[str] | None, width: int) -> list[float]:
    named = isinstance(row, dict)
    if named != (keys is not None) or (not named and len(row) != width):
        needed = f"a list of {width} numbers" if keys is None else "an object"
        raise DataFileError(f"{where}, line {number} differs from the first line; {needed} is needed, as there.")
    fields = list(keys) if keys is not None else list(range(width))
    cells = [row.get(field) if named else row[field] for field in fields]
    for field, cell in zip(fields, cells, strict=True):
        if not isinstance(cell, int | float):
            found = "is missing" if cell is None else f"holds {cell!r}, which is not a number"
            raise DataFileError(f"{where}, line {number}, field {field!r} {found}. Mend or delete the line.")
    return cells
