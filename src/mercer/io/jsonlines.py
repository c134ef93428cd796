"""Rows from JSON lines: one list of numbers, or one object with numbers by name, per line."""

import json
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import DataFileError, MissingCellError
from mercer.io.dialect import SAMPLE
from mercer.io.selection import Pick, Selection, cut, distinct, shortened
from mercer.io.table import Table
from mercer.io.text import open_text

Row = list[Any] | dict[str, Any]
_ONE_PER_LINE = "is one JSON value over all rows; write JSON lines: one object per line, without brackets around them."


def json_file(path: Path, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream a file of JSON lines."""
    with open_text(path) as lines:
        yield from json_lines(lines, str(path), rows, selection)


def json_lines(lines: Iterable[str], where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream lines of JSON: lists or objects, as the first one; the first lines determine the names."""
    parsed = ((i, _parse(line, i, where)) for i, line in enumerate(lines, 1) if line.strip())
    head = list(islice(parsed, SAMPLE))
    if not head:
        return
    fields = _fields([row for _, row in head])
    names = fields if isinstance(fields[0], str) else None
    numeric = [_holds_numbers([_cell(row, field) for _, row in head]) for field in fields]
    pick = selection.pick(where, names, numeric)
    numbered = chain(head, parsed)
    known = {*fields, *selection.exclude}
    told = names is None or selection.columns is not None
    while piece := list(islice(numbered, rows)):
        told = told or _tell_new(piece, known, where)
        yield _table(piece, where, fields, pick, selection.fills)


def _fields(rows: list[Row]) -> list[Any]:
    """Return the names of the first objects in the order of their appearance, or the positions of the first list."""
    if not isinstance(rows[0], dict):
        return list(range(len(rows[0])))
    return list(dict.fromkeys(name for row in rows if isinstance(row, dict) for name in row))


def _tell_new(piece: list[tuple[int, Row]], known: set[Any], where: str) -> bool:
    """Warn of the first field that is not known, and tell whether there is one."""
    for i, row in piece:
        if isinstance(row, dict) and not row.keys() <= known:
            new = shortened([name for name in row if name not in known])
            warnings.warn(
                f"{where}, line {i} has the field {new}, which is not in the first {SAMPLE} lines. Fields that begin "
                "later are left out; to use one, write it in the first line, too, as null if need be.",
                stacklevel=2,
            )
            return True
    return False


def _table(piece: list[tuple[int, Row]], where: str, fields: list[Any], pick: Pick, fills: bool) -> Table:
    """Return some rows as a table."""
    for i, row in piece:
        _check_like_first(row, i, where, fields)
    wanted = [fields[i] for i in pick.take]
    values = [[_value(row, field, f"{where}, line {i}", fills) for field in wanted] for i, row in piece]
    kept = None
    if pick.keep:
        texts = [["" if (cell := _cell(row, fields[i])) is None else str(cell) for i in pick.keep] for _, row in piece]
        kept = np.array(texts, dtype=object)
    return pick.table(np.array(values, dtype=np.float64), kept)


def _parse(line: str, number: int, where: str) -> Row:
    """Return the list or the object of a line, or say that it holds neither."""
    if number == 1 and line.strip() in ("[", "{"):
        raise DataFileError(f"{where} {_ONE_PER_LINE}")
    try:
        row = json.loads(line, object_pairs_hook=lambda pairs: _object(pairs, where if number == 1 else None))
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at letter {error.pos + 1}"
        raise DataFileError(f"{where}, line {number} is not JSON ({problem}). Correct or delete the line.") from error
    except (ValueError, RecursionError) as error:  # Python reads no whole numbers of thousands of digits
        what = "is nested too deeply" if isinstance(error, RecursionError) else "holds a number of too many digits"
        raise DataFileError(f"{where}, line {number} {what}. Correct or delete the line.") from error
    if not row or not isinstance(row, list | dict):
        raise DataFileError(f"{where}, line {number} is {line.strip()[:40]}; a list or an object of numbers is needed.")
    if number == 1 and isinstance(row, list) and isinstance(row[0], dict):
        raise DataFileError(f"{where} {_ONE_PER_LINE}")
    return row


def _object(pairs: list[tuple[str, Any]], where: str | None) -> dict[str, Any]:
    """Create an object from its pairs; names that occur twice are made distinct."""
    return dict(zip(distinct([name for name, _ in pairs], where), (value for _, value in pairs), strict=True))


def _check_like_first(row: Row, number: int, where: str, fields: list[Any]) -> None:
    """Fail for a row that is not of the kind and length of the first."""
    named = isinstance(fields[0], str)
    if isinstance(row, dict) != named or (not named and len(row) != len(fields)):
        needed = "an object" if named else f"a list of {len(fields)} numbers"
        raise DataFileError(f"{where}, line {number} differs from the first line; {needed} is needed, as there.")


def _cell(row: Row, field: Any) -> Any:
    """Return the value of a field; None where the row does not have it."""
    if isinstance(row, dict):
        return row.get(field)
    return row[field] if isinstance(field, int) and field < len(row) else None


def _holds_numbers(cells: list[Any]) -> bool:
    """Tell whether a field holds numbers: at least one cell does, or all cells are missing."""
    return any(map(_is_number, cells)) or all(cell is None for cell in cells)


def _is_number(cell: Any) -> bool:
    """Tell whether a cell is a number."""
    return isinstance(cell, int | float)


def _value(row: Row, field: Any, place: str, fills: bool) -> float:
    """Return the number of a field, NaN for a missing cell where these are accepted, or say what is wrong."""
    cell = _cell(row, field)
    if cell is None and fills:
        return float("nan")
    name = f"'{cut(field)}'" if isinstance(field, str) else field
    if cell is None:
        raise MissingCellError(f"{place}, field {name} is missing.")
    try:
        if _is_number(cell):
            return float(cell)
        problem = "not a number"
    except OverflowError:  # a whole number of hundreds of digits
        problem = "too large a number"
    shown = f"'{cut(cell)}'" if isinstance(cell, str) else cut(repr(cell))
    raise DataFileError(f"{place}, field {name} holds {shown}, which is {problem}. Correct or delete the line.")
