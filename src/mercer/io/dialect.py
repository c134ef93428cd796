"""How a text table is written: its separator, its decimal point, and whether its first line holds names."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass

SAMPLE = 20  # lines looked at; enough to tell separators apart
SAMPLE_CELLS = 200  # of each of them; a picture has thousands
_WAYS = ((",", "."), (";", "."), ("\t", "."), ("|", "."), (" ", "."), (";", ","), ("\t", ","))


@dataclass(frozen=True)
class Dialect:
    """Separator, decimal point, column names if the first line has them, and number of columns."""

    delimiter: str
    decimal: str
    names: tuple[str, ...] | None
    width: int


def split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells, honouring quotes; blank lines vanish."""
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
    except csv.Error:  # a wrong separator can make one cell of a wide row, longer than the parser allows
        return []


def number(cell: str, decimal: str) -> float | None:
    """Return the number in a cell, or None if there is none."""
    try:
        return float(cell if decimal == "." else cell.replace(decimal, "."))
    except ValueError:
        return None


def sniff(lines: Sequence[str]) -> Dialect | None:
    """Find out how a table is written from its first lines; None if they hold nothing."""
    # numpy.savetxt marks its header with a hash
    lines = [line.lstrip("# ") if i == 0 else line for i, line in enumerate(lines)]
    delimiter, decimal = max(_WAYS, key=lambda way: _fitness(lines, *way))
    rows = split(lines, delimiter)
    if not rows:
        return None
    first = rows[0]
    words = sum(bool(cell.strip()) and number(cell, decimal) is None for cell in first)
    # Half the cells, not one: a lone word among numbers is a bad cell to report, not a header.
    names = _names(first) if 2 * words >= len(first) else None
    return Dialect(delimiter, decimal, names, len(first))


def _names(cells: Sequence[str]) -> tuple[str, ...]:
    cleaned = [cell.strip() for cell in cells]
    return tuple(name or f"column{i}" for i, name in enumerate(cleaned))


def _fitness(lines: Sequence[str], delimiter: str, decimal: str) -> tuple[float, bool, float, int]:
    """Rate a separator by the share of cells that become numbers; the rest decides between equals."""
    rows = split(lines, delimiter)
    if not rows or (decimal == "," and any(len(row) < 2 for row in rows)):
        return 0.0, False, 0.0, 0  # without another separator in every row, commas separate
    body = [cell for row in (rows[1:] or rows) for cell in row[:SAMPLE_CELLS]]
    numeric = sum(number(cell, decimal) is not None for cell in body)
    separates = len(rows[0]) > 1 and delimiter != " "  # a blank can be part of a name
    even = sum(len(row) == len(rows[0]) for row in rows)
    return numeric / len(body), separates, even / len(rows), numeric
