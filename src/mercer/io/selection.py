"""Which columns of a file are read as numbers, which are kept as text, and how missing cells are treated."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataFileError, MissingCellError
from mercer.io.table import Table, Texts

MISSING = frozenset(
    ["", "-", "?", "#N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "na", "nan", "null", "none"]
)
"""Cells that mean that the value is not known."""


_SHOWN = 12  # names in a message
_LETTERS = 60  # of a name or cell that a message shows


@dataclass(frozen=True)
class Pick:
    """Positions of the columns to read as numbers and of those to keep, with their names."""

    take: tuple[int, ...]
    keep: tuple[int, ...]
    names: tuple[str, ...] | None  # of `take`, where the file has names
    kept_names: tuple[str, ...]
    left_out: tuple[str, ...]
    columns: tuple[str, ...]  # of `take`: names, or positions where the file has no names

    def table(self, values: Array, kept: Texts | None) -> Table:
        """Return the rows with these columns."""
        return Table(values, self.names, kept, self.kept_names, self.left_out, self.columns)


@dataclass(frozen=True)
class Selection:
    """What is wanted of a file. Columns are found by name; where a file has no names, by position, counted from 0.

    columns : the columns to take, in this order; None: all that hold numbers.
    exclude : columns to leave out.
    keep : columns to keep as text beside the numbers, such as ids and dates.
    missing : "as-is" keeps NaN and infinity, and refuses cells that hold no number; "error" refuses all of these;
        "drop" leaves out rows with missing cells; "mark" puts NaN where a cell is missing.
    by_position : `columns` are those of a model; a file without names is matched with them by position.
    """

    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    missing: str = "as-is"
    by_position: bool = False

    @property
    def fills(self) -> bool:
        """Tell whether missing cells are read as NaN."""
        return self.missing in ("drop", "mark")

    def pick(self, where: str, names: Sequence[str] | None, numeric: Sequence[bool]) -> Pick:
        """Choose among the columns of a file, where `numeric` says which of them hold numbers."""
        own = list(names) if names is not None else [str(i) for i in range(len(numeric))]
        keep = positions(where, own, self.keep)
        apart = {*keep, *positions(where, own, self.exclude)}
        left_out: list[int] = []
        if self.columns is None or (names is None and self.by_position):
            rest = [i for i in range(len(own)) if i not in apart]
            left_out = [i for i in rest if not numeric[i]]
            take = [i for i in rest if numeric[i]]
        else:
            self._check_apart(where, [own[i] for i in apart])
            take = positions(where, [own[i] if i not in apart else "" for i in range(len(own))], self.columns)
        if not take:
            raise DataFileError(
                f"{where} has no column of numbers to use; its columns are {shortened(own)}. "
                "At least one column of numbers is needed."
            )
        columns, kept_names, others = (tuple(own[i] for i in some) for some in (take, keep, left_out))
        return Pick(tuple(take), tuple(keep), None if names is None else columns, kept_names, others, columns)

    def _check_apart(self, where: str, apart: Sequence[str]) -> None:
        """Fail for columns that are to be taken, and kept as text or left out, too."""
        both = [name for name in self.columns or () if name in apart]
        if both:
            kind = "columns of the model" if len(both) > 1 else "a column of the model"
            role = kind if self.by_position else "among --columns"
            raise DataFileError(
                f"{where}: {_quoted(both)} {'are' if len(both) > 1 else 'is'} {role}, so leave "
                f"{'them' if len(both) > 1 else 'it'} out of --id, --time or --exclude."
            )


def positions(where: str, names: Sequence[str], columns: Iterable[str]) -> list[int]:
    """Find the wanted columns among the names of a file."""
    known = {name: i for i, name in reversed(list(enumerate(names)))}
    missing = [column for column in columns if column not in known]
    if missing:
        raise DataFileError(
            f"{where} has no column {_quoted(missing)}; it has {shortened([n for n in names if n])}. "
            "Add what is missing or name other columns."
        )
    return [known[column] for column in columns]


def distinct(names: Sequence[str], where: str | None = None) -> tuple[str, ...]:
    """Make equal names distinct as pandas does: the second `a` becomes `a.1`; warn about it where a file is given."""
    used, result, counts = set(names), [], dict.fromkeys(names, 0)
    seen: set[str] = set()
    for name in names:
        new = name
        while new in seen or (new != name and new in used):
            counts[name] += 1
            new = f"{name}.{counts[name]}"
        seen.add(new)
        result.append(new)
    changed = [new for old, new in zip(names, result, strict=True) if old != new]
    if changed and where is not None:
        warnings.warn(
            f"{where} has columns of the same name; the later ones are called {shortened(changed)}.", stacklevel=2
        )
    return tuple(result)


def shortened(names: Sequence[str], most: int = _SHOWN) -> str:
    """List names; only the first ones of many, and only the first letters of long ones."""
    shown = ", ".join(map(cut, names[:most]))
    return f"{shown}, ... ({len(names)} in all)" if len(names) > most else shown


def _quoted(names: Sequence[str]) -> str:
    """List names in quotes; only the first ones of many."""
    shown = ", ".join(f"'{cut(name)}'" for name in names[:_SHOWN])
    return f"{shown}, ..." if len(names) > _SHOWN else shown


def cut(text: str) -> str:
    """Return a text of a file as a message shows it: on one line, and only the first letters of a long one."""
    start = text[:_LETTERS]
    shown = start if start.isprintable() else repr(start)[1:-1]
    return f"{shown}..." if len(text) > _LETTERS else shown


def settled(table: Table, where: str, missing: str) -> Table:
    """Treat NaN and infinite values as `missing` of a `Selection` says."""
    if missing == "as-is":
        return table
    absent = np.isnan(table.values)
    infinite = np.isinf(table.values)
    if infinite.any():
        raise DataFileError(
            f"{_place(table, where, infinite)} holds an infinite value. Correct the cell or drop the row."
        )
    if not absent.any() or missing == "mark":
        return table
    if missing == "error":
        raise MissingCellError(f"{_place(table, where, absent)} is missing (NaN).")
    whole = ~absent.any(axis=1)
    return replace(table[whole], dropped=table.rows[~whole])


def _place(table: Table, where: str, wrong: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    """Return the position of the first wrong cell in words."""
    row, column = np.argwhere(wrong)[0]
    name = table.columns[column]
    shown = f"column {name} (both counted from 0)" if table.names is None else f"(counted from 0), column {name!r}"
    return f"{where}, row {table.rows[row]}{',' if table.names is None else ''} {shown}"
