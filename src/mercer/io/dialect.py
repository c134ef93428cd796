"""The format of a text table: separator, decimal point, names in the first line, and which columns hold numbers."""

import csv
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mercer.io.selection import MISSING, cut, distinct, shortened

SAMPLE = 100  # lines examined; enough to find the separator, and the columns of text and of numbers
_SHAPE_LINES, _SHAPE_CELLS = 20, 200  # lines, and cells per line, examined for the separator; an image has more
_GROUPED = re.compile(r"[+-]?\d{1,3}([,' \u00a0\u202f])\d{3}(\1\d{3})*(\.\d+)?")  # 1,037 or 20'000.5
_GROUPED_BEFORE_COMMA = re.compile(r"[+-]?[1-9]\d{0,2}([.' \u00a0\u202f])\d{3}(\1\d{3})*(,\d+)?")  # 1.037 or 20'000,5
_POINTS_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?")
TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
_YEARS = (1800, 2200)
_WAYS = ((",", "."), (";", "."), ("\t", "."), ("|", "."), (" ", "."), (";", ","), ("\t", ","), ("|", ","))


@dataclass(frozen=True)
class Dialect:
    """Separator, decimal point, column names if the first line has them, and which columns hold numbers."""

    delimiter: str
    decimal: str
    names: tuple[str, ...] | None
    numeric: tuple[bool, ...]
    truths: tuple[bool, ...] = ()  # which columns hold the words true and false only

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.numeric)


def split(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """Split lines into cells, with respect to quotes; blank lines are left out."""
    try:
        return [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if row]
    except csv.Error:  # with a wrong separator a wide row is one cell, longer than the parser allows
        return []


def number(cell: str, decimal: str) -> float | None:
    """Return the number in a cell, 1 for true and 0 for false, or None if there is none.

    Where a comma marks the decimals, 1.234 is none: it can be one thousand or about one.
    """
    try:
        found = float(cell if decimal == "." else cell.replace(decimal, "."))
    except ValueError:
        return TRUTHS.get(cell.strip())
    if "_" in cell or (decimal == "," and _points_group(cell)):
        return None
    return found


def is_missing(cell: str) -> bool:
    """Tell whether a cell means that the value is not known."""
    return cell.strip() in MISSING


def is_grouped(cell: str) -> bool:
    """Tell whether a cell holds a number whose thousands are separated, such as 1,037 or 1.037,5."""
    return any(form.fullmatch(cell.strip()) for form in (_GROUPED, _GROUPED_BEFORE_COMMA))


def _points_group(cell: str) -> bool:
    """Tell whether points separate the thousands of a number, if a comma marks the decimals."""
    return "." in cell and _POINTS_GROUP.fullmatch(cell.strip()) is not None


def sniff(lines: Sequence[str], where: str) -> Dialect | None:
    """Find the format of a table from its first lines; None if they hold nothing."""
    # numpy.savetxt marks its header with a hash
    lines = [line.lstrip("# ") if i == 0 else line for i, line in enumerate(lines)]
    delimiter, decimal = max(_WAYS, key=lambda way: _fitness(lines, *way))
    rows = split(lines, delimiter)
    if not rows:
        return None
    first, body = rows[0], rows[1:]
    below = [_kinds(body, i, decimal) for i in range(len(first))]
    if not (_is_header(first, [number_there for number_there, _ in below], decimal) or _is_counted(first, body)):
        kinds = [_kinds(rows, i, decimal) for i in range(len(first))]
        numeric = [number_there or not text for number_there, text in kinds]
        _tell_grouped(numeric, None, rows, where)
        return Dialect(delimiter, decimal, None, tuple(numeric), _truths(rows, len(first)))
    numeric = [
        number_there or not (text or (body and not cell.strip()))  # many exported files end with an empty column
        for cell, (number_there, text) in zip(first, below, strict=True)
    ]
    if all(cell.strip().isdecimal() for cell in first):
        warnings.warn(
            f"The first line of {where}, {shortened([cell.strip() for cell in first], 3)}, is taken as names of "
            "columns, not as a row: it counts, and the lines below hold decimals.",
            stacklevel=2,
        )
    names = _names(first, where)
    _tell_grouped(numeric, names, body, where)
    return Dialect(delimiter, decimal, names, tuple(numeric), _truths(body, len(first)))


def _kinds(rows: Sequence[Sequence[str]], column: int, decimal: str) -> tuple[bool, bool]:
    """Tell whether a column holds a number in these rows, and whether it holds text."""
    text = False
    for row in rows:
        if column < len(row) and not is_missing(row[column]):
            if number(row[column], decimal) is not None:
                return True, text
            text = True
    return False, text


def _is_header(first: Sequence[str], numbers: Sequence[bool], decimal: str) -> bool:
    """Tell whether the first row holds names: words above numbers. Columns of text are not considered."""
    cells = [cell for cell, below in zip(first, numbers, strict=True) if below] or first
    words = sum(not (is_missing(cell) or is_grouped(cell)) and number(cell, decimal) is None for cell in cells)
    # Half the cells, not one: a single word among numbers is a wrong cell to report, not a header.
    return 2 * words >= len(cells)


def _is_counted(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row holds names that count: 0, 1, 2, ... of a data frame, or years.

    Rows of whole numbers look the same. So the numbers below must have decimals, or the first cell, above an index,
    must be empty, or years must stand beside a word while no row below counts.
    """
    at = _counting(first)
    if not at or not body:
        return False
    below = [row[i].strip() for row in body for i in at if i < len(row)]
    if all(is_missing(cell) or not cell.lstrip("+-").isdigit() for cell in below):
        return True
    years = len(at) < len(first) and int(first[at[0]]) >= _YEARS[0] and int(first[at[-1]]) <= _YEARS[1]
    return not first[0].strip() or (years and not any(_counting(row) for row in body))


def _counting(row: Sequence[str]) -> list[int]:
    """Return the positions of the whole numbers of a row if there are two or more and each is one more than the last.

    Cells beside them must be words or empty.
    """
    at = [i for i, cell in enumerate(row) if cell.strip().isdecimal()]
    others = (cell for cell in row if not cell.strip().isdecimal())
    if len(at) < 2 or any(number(cell, ".") is not None for cell in others):
        return []
    return at if all(int(row[j]) - int(row[i]) == 1 for i, j in pairwise(at)) else []


def _filled_cells(rows: Sequence[Sequence[str]], column: int) -> Iterator[str]:
    """Return the cells of a column that are not missing."""
    return (row[column] for row in rows if column < len(row) and not is_missing(row[column]))


def _truths(rows: Sequence[Sequence[str]], width: int) -> tuple[bool, ...]:
    """Tell which columns hold nothing but true and false."""
    columns = (_filled_cells(rows, i) for i in range(width))
    return tuple(
        next(cells, "").strip() in TRUTHS and all(cell.strip() in TRUTHS for cell in cells) for cells in columns
    )


def _tell_grouped(
    numeric: Sequence[bool], names: Sequence[str] | None, rows: Sequence[Sequence[str]], where: str
) -> None:
    """Warn of columns that hold numbers, but are left out as text because of their thousands separators."""
    for at in (i for i, used in enumerate(numeric) if not used):
        cells = list(_filled_cells(rows, at))
        if cells and all(map(is_grouped, cells)):
            name = f"{at} (counted from 0)" if names is None else cut(names[at])
            warnings.warn(
                f"Column {name} of {where} holds numbers with thousands separators, such as {cells[0]}, and is taken "
                "as text. Write them without separators to use the column.",
                stacklevel=2,
            )


def _names(cells: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the names of the columns, made distinct, with positions for empty names."""
    cleaned = [cell.strip() for cell in cells]
    return distinct([name or f"column{i}" for i, name in enumerate(cleaned)], where)


def _fitness(lines: Sequence[str], delimiter: str, decimal: str) -> tuple[float, bool, float, int]:
    """Rate a separator by the share of cells that become numbers; the other values decide between equal shares."""
    rows = split(lines[:_SHAPE_LINES], delimiter)
    if not rows or (decimal == "," and any(len(row) < 2 for row in rows)):
        return 0.0, False, 0.0, 0  # without another separator in every row, commas separate
    body = [cell for row in (rows[1:] or rows) for cell in row[:_SHAPE_CELLS]]
    numeric = sum(number(cell, decimal) is not None or (decimal == "," and _points_group(cell)) for cell in body)
    separates = len(rows[0]) > 1 and delimiter != " "  # a blank can be part of a name
    even = sum(len(row) == len(rows[0]) for row in rows)
    # A cell that contains another separator, as in `m1;1,5` split at the comma, was split at the wrong places.
    uncut = sum(any(sign in cell for sign in ";\t|") for cell in body)
    return (numeric - uncut) / len(body), separates, even / len(rows), numeric
