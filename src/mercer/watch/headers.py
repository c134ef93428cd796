"""Which line of a text names its columns, what these are called, and what separates the cells."""

from collections.abc import Callable, Collection, Sequence
from enum import Enum

from mercer.io.dialect import TRUTHS
from mercer.io.selection import distinct
from mercer.watch.clock import seconds_of_text

MAX_COLUMNS = 1024
NAME = 120  # characters of a column's name that are kept
TIME_NAMES = ("time", "timestamp", "ts", "datetime", "date")
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
_SEPARATORS = (",", ";", "\t", "|")


class Kind(Enum):
    """What a cell holds."""

    NUMBER = "number"
    MISSING = "missing"
    TIME = "time"
    WORD = "word"


def separator_of(text: str) -> str:
    """Return what separates the cells of a first line."""
    for separator in _SEPARATORS[1:]:
        if separator in text and _has_decimal_commas(text.split(separator), separator):
            return separator
    return max(_SEPARATORS, key=text.count)


def _has_decimal_commas(cells: Sequence[str], separator: str) -> bool:
    """Tell whether some cells are numbers with a decimal comma, and none is a word."""
    kinds = [kind_of(cell, separator) for cell in cells]
    numbers = any(kind is Kind.NUMBER and "," in cell for cell, kind in zip(cells, kinds, strict=True))
    return numbers and Kind.WORD not in kinds


def is_number(cell: str, separator: str) -> bool:
    """Tell whether a cell is a number, true or false; also one with a decimal comma where commas do not separate."""
    try:
        float(cell if separator == "," else cell.replace(",", "."))
    except ValueError:
        return cell.strip() in TRUTHS
    return True


def kind_of(cell: str, separator: str) -> Kind:
    """Return what a cell holds."""
    if cell.strip().lower() in MISSING:
        return Kind.MISSING
    if is_number(cell, separator):
        return Kind.NUMBER
    return Kind.WORD if seconds_of_text(cell) is None else Kind.TIME


def are_names(kinds: Sequence[Kind]) -> bool:
    """Tell whether the first line of a text names the columns; names may be dates, where there are several."""
    many_dates = Kind.NUMBER not in kinds and kinds.count(Kind.TIME) > 1
    return many_dates or 2 * kinds.count(Kind.WORD) >= len(kinds)


def are_names_again(cells: Sequence[str], separator: str, width: int, is_known: Callable[[str], bool]) -> bool:
    """Tell whether a later line may name columns, where lines had some width so far.

    None of its cells is a number, and most are known names, or all are words, none of them twice. Words that are all
    unknown must be more or fewer than the cells before, as they may be a message in a row.
    """
    if any(is_number(cell, separator) for cell in reversed(cells)):  # almost every row ends here, at its last cell
        return False
    words = [cell.strip() for cell in cells if kind_of(cell, separator) is Kind.WORD]
    known = sum(map(is_known, words))
    if 2 * known > len(cells):
        return True
    return len(cells) == len(words) == len(set(words)) > 1 and (known > 0 or len(cells) != width)


def names_in(cells: Sequence[str]) -> list[str]:
    """Return the names of columns from a line, of all its cells; equal ones are made distinct as in other commands."""
    return list(distinct([cell.strip()[:NAME] or f"column{i}" for i, cell in enumerate(cells)]))


def made_names(kinds: Sequence[Kind], columns: Collection[str] | None, time: str | None) -> list[str]:
    """Return names for a text that has none: those of the model, if there are as many, or column0, column1, ...

    `time` is the name for the only column of times; None: it is a column like the others.
    """
    dated = kinds.index(Kind.TIME) if time is not None and kinds.count(Kind.TIME) == 1 else None
    if columns is not None and len(kinds) == len(columns) + (dated is not None):
        names = list(columns)
        return names if dated is None or time is None else [*names[:dated], time, *names[dated:]]
    names = [f"column{i}" for i in range(len(kinds))]
    if dated is not None and time is not None:
        names[dated] = time
    return names
