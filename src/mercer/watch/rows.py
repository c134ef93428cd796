"""From lines and messages to rows of numbers. Whatever comes, there is no exception: what is wrong is counted."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.io.delimited import SEPARATOR_LINE
from mercer.io.dialect import number
from mercer.watch.clock import Clock, joined_time
from mercer.watch.headers import (
    MAX_COLUMNS,
    MISSING,
    NAME,
    TIME_NAMES,
    are_names,
    are_names_again,
    kind_of,
    made_names,
    names_in,
    separator_of,
)
from mercer.watch.sources.base import MAX_LINE, Batch, Item

LARGEST = 1e100  # squares of larger numbers, in small units, do not fit into floating point
_MOST_UNKNOWN = 1000  # names

Cells = Sequence[Any]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of numbers in the order of time."""

    times: Array  # (n,), Unix seconds
    values: Array  # (n, d), NaN where there is no number

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: slice) -> "Rows":
        return Rows(self.times[part], self.values[part])


@dataclass(frozen=True, eq=False)
class _Plan:
    """Where the columns of the model are in the cells of a line."""

    width: int
    time: int | None
    half: int | None  # the time of day beside a date, or the date beside a time of day
    places: tuple[int | None, ...]
    pick: Callable[[Cells], Cells] | None  # the cells of the columns, if all are there

    @classmethod
    def of(cls, header: Sequence[str], columns: Sequence[str], time: str | None, half: str | None) -> "_Plan":
        at = {name: i for i, name in reversed(list(enumerate(header)))}
        places = tuple(at.get(name) for name in columns)
        known = [place for place in places if place is not None]
        pick = itemgetter(*known) if len(known) == len(columns) > 1 else None
        time_at, half_at = (None if name is None else at.get(name) for name in (time, half))
        return cls(len(header), time_at, half_at, places, pick)


class RowReader:
    """Reads rows, finds their columns by name, and counts what is wrong with them.

    While the columns are not fixed, every new name becomes a column.
    """

    def __init__(self, columns: Sequence[str] = (), *, fixed: bool = False, time: str | None = None) -> None:
        self.columns, self.fixed = list(columns), fixed
        self.asked_time, self.time_name = time, time
        self.half_name: str | None = None  # of a second column, where one has the date and the other the time of day
        self.counts: Counter[str] = Counter()
        self.ignored: set[str] = set()  # columns that were left out when the model was learned
        self.unknown: dict[str, None] = {}  # names that the model does not have, in the order of their coming
        self.header: list[str] | None = None
        self.separator = ","
        self.clock = Clock()
        self._known = set(self.columns)
        self._plan: _Plan | None = None
        self._fresh = True
        self._pending: list[str] | None = None  # a line that may name the columns anew: the next one tells
        self._time_came = False  # the column of times
        self._texts: Counter[str] = Counter()  # cells with text by column, until it is known which columns count
        self._commas = False  # whether a comma marked decimals in this text: 1.234 is then no little more than one

    # -- what is saved ---------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that reading goes on with, as plain JSON."""
        return {
            "columns": self.columns, "fixed": self.fixed, "time": self.time_name, "header": self.header,
            "separator": self.separator, "fresh": self._fresh, "ignored": sorted(self.ignored),
            "unknown": list(self.unknown), "clock": self.clock.state(), "pending": self._pending,
            "time_came": self._time_came, "half": self.half_name, "commas": self._commas, "texts": dict(self._texts),
        }  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as a reader that was saved."""
        self.columns, self.fixed = list(state["columns"]), bool(state["fixed"])
        self.time_name = state["time"] if self.asked_time is None else self.asked_time
        self.half_name = state.get("half") if self.asked_time is None else None
        came = self.time_name == state["time"] and bool(state.get("time_came", True))
        self._pending, self._time_came = state.get("pending"), came or self.time_name in (state["header"] or ())
        self.header, self.separator, self._fresh = state["header"], state["separator"], bool(state["fresh"])
        self._commas, self._texts = bool(state.get("commas", False)), Counter(state.get("texts", {}))
        self.ignored, self.unknown = set(state["ignored"]), dict.fromkeys(state["unknown"])
        self.clock.restore(state["clock"])
        self._known, self._plan = set(self.columns), None

    def fix(self, columns: Sequence[str]) -> None:
        """Take these columns from now on; the others that were seen are left out without being counted."""
        self.ignored |= set(self.columns) - set(columns)
        if self.clock.row is not None:
            last = dict(zip(self.columns, self.clock.row, strict=False))
            self.clock.row = [last.get(name, np.nan) for name in columns]
        self.columns, self.fixed = list(columns), True
        self._known, self._plan = set(columns), None
        self.counts["text"] += sum(self._texts[name] for name in columns)
        self._texts.clear()

    @property
    def strange(self) -> bool:
        """Whether the names in the first line of a text are all unknown to the model."""
        return self.fixed and self.header is not None and self._known.isdisjoint(self.header)

    @property
    def time_missed(self) -> bool:
        """Whether a column of times was asked for, and rows came without it."""
        return self.asked_time is not None and not self._time_came and bool(self.names_that_came)

    @property
    def names_that_came(self) -> list[str]:
        """The names of the columns in the text, or of all that came so far."""
        return list(self.header or [*self.columns, *self.unknown])

    # -- reading ---------------------------------------------------------------------------------------------------

    def read(self, batch: Batch) -> Rows:
        """Return the rows of a batch that can be used."""
        self.counts.update(batch.counts)
        if batch.fresh:
            self._give_up_names()
            self.header, self._plan, self._fresh, self._commas = None, None, True, False
        times: list[Any] = []
        values: list[Cells] = []
        for item in batch.items:
            for time, cells in self._rows_of(item):
                times.append(time)
                values.append(cells)
        table = _table(values, len(self.columns))
        self.counts["text"] += self._without_large(table)
        self.counts["missing"] += int(np.isnan(table).sum()) if self.fixed else 0
        kept, stamps = self.clock.kept(times, table, batch.received, self.counts)
        return Rows(stamps, table[kept])

    def _rows_of(self, item: Item) -> Iterable[tuple[Any, Cells]]:
        if not isinstance(item, str):
            return self._named(item)
        text = item.strip("\r\n \ufeff")
        if not text:
            return ()
        if len(text) > MAX_LINE:
            return self._malformed()
        return self._json(text) if text[0] in "{[" else self._line(text)

    def _malformed(self) -> tuple[()]:
        self.counts["malformed"] += 1
        return ()

    @staticmethod
    def _without_large(table: Array) -> int:
        """Replace infinity and numbers that cannot be squared by NaN; return how many there were."""
        large = np.abs(table) > LARGEST
        table[large] = np.nan
        return int(large.sum())

    # -- text lines ------------------------------------------------------------------------------------------------

    def _line(self, text: str) -> Iterable[tuple[Any, Cells]]:
        if self.header is None:
            text = text.lstrip("# ")  # numpy.savetxt marks its header with a hash
            if not text or SEPARATOR_LINE.fullmatch(text):
                return ()
            self.separator = separator_of(text)
        cells = self._cells(text)
        if cells is None:
            return self._malformed()
        if self._fresh or self.header is None:
            self._fresh = False
            if self._begin(cells):
                return ()
        elif cells == self.header or are_names_again(cells, self.separator, len(self.header), self._is_known):
            self._give_up_names()  # those of the line before
            self._pending = None if names_in(cells) == self.header else cells
            return ()
        elif self._pending is not None:
            self._settle_names(cells)
        return self._positional(cells)

    def _is_known(self, name: str) -> bool:
        seen = name in self._known or name in self.ignored or name in self.unknown
        return seen or name in (self.time_name, self.half_name) or name in (self.header or ())

    def _settle_names(self, cells: Cells) -> None:
        """Take the line before as the names of the columns, if it is as wide as this one."""
        if self._pending is not None and len(self._pending) == len(cells):
            self.header, self._pending, self._plan = names_in(self._pending), None, None
            self._meet(self.header)
        self._give_up_names()

    def _give_up_names(self) -> None:
        """Count a line that might have named the columns, but did not."""
        if self._pending is not None:
            self._pending = None
            self._malformed()

    def _cells(self, text: str) -> list[str] | None:
        if '"' not in text:
            return text.split(self.separator)
        try:
            return next(csv.reader([text], delimiter=self.separator, skipinitialspace=True), None)
        except csv.Error:
            return None

    def _begin(self, cells: list[str]) -> bool:
        """Take the names of the columns from the first line, or make them; tell whether the line held names."""
        kinds = [kind_of(cell, self.separator) for cell in cells]
        named = are_names(kinds)
        if named:
            self.header = names_in(cells)
        else:
            self.header = made_names(kinds, self.columns if self.fixed else None, self._name_of_times())
        self._meet(self.header)
        self._plan = None
        return named

    def _name_of_times(self) -> str | None:
        """Return what the only column of times is called in a text without names; None where the user named one."""
        name = self.time_name or TIME_NAMES[0]
        return None if self.asked_time is not None or name in self._known else name

    def _positional(self, cells: Cells) -> Iterable[tuple[Any, Cells]]:
        if self._plan is None:
            assert self.header is not None
            self._plan = _Plan.of(self.header, self.columns, self.time_name, self.half_name)
        plan = self._plan
        if len(cells) != plan.width:
            return self._malformed()
        time = None if plan.time is None else cells[plan.time]
        if plan.half is not None:
            time = self._whole_time(time, cells[plan.half])
        if plan.pick is not None and not self._commas:
            try:
                return ((time, [float(cell) for cell in plan.pick(cells)]),)
            except (ValueError, TypeError, OverflowError):
                pass
        return ((time, self._numbers([None if at is None else cells[at] for at in plan.places])),)

    # -- JSON and values by name -----------------------------------------------------------------------------------

    def _json(self, text: str) -> Iterable[tuple[Any, Cells]]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return self._malformed()
        if isinstance(found, dict):
            return self._named(found)
        if found and all(isinstance(one, dict) for one in found):  # several rows in one message
            return [row for one in found for row in self._named(one)]
        if self.header is None and found and not any(isinstance(one, str | list | dict) for one in found):
            self._begin([str(one) for one in found])
        return self._malformed() if self.header is None else self._positional(found)

    def _named(self, cells: Mapping[str, Any]) -> Iterable[tuple[Any, Cells]]:
        if not cells or len(cells) > 2 * MAX_COLUMNS:
            return self._malformed()
        if self.time_name is None or not self.fixed or len(cells) != len(self.columns) + (self.time_name in cells):
            self._meet(cells)
        time = None
        if self.time_name is not None and self.time_name in cells:
            time, self._time_came = cells[self.time_name], True
            if self.half_name is not None and self.half_name in cells:
                time = self._whole_time(time, cells[self.half_name])
        found: list[Any] = [cells.get(name) for name in self.columns]
        try:
            return ((time, [float(cell) for cell in found]),)
        except (ValueError, TypeError, OverflowError):
            self._meet(cells)
            return ((time, self._numbers([cells.get(name) for name in self.columns])),)

    def _meet(self, names: Iterable[str]) -> None:
        """Find the column of time, and what to do with names that are not known yet."""
        for name in (given[:NAME] for given in names):
            self._time_came |= name == self.time_name
            if name in self._known or name in self.ignored or name == self.time_name or name in self.unknown:
                continue
            if self._is_half(name):
                self.half_name, self._plan = name, None
                continue
            if self.time_name is None and name.strip().lower() in TIME_NAMES and name not in self._known:
                self.time_name, self._plan, self._time_came = name, None, True
            elif not self.fixed and len(self.columns) < MAX_COLUMNS:
                self.columns.append(name)
                self._known.add(name)
                self._plan = None
            elif len(self.unknown) < _MOST_UNKNOWN:
                self.unknown[name] = None
                self.counts["unknown_column"] += 1

    def _is_half(self, name: str) -> bool:
        """Tell whether a column, and that of the times, are called date and time."""
        if self.asked_time is not None or self.time_name is None or self.half_name not in (None, name):
            return False
        return {name.strip().lower(), self.time_name.strip().lower()} == {"date", "time"}

    def _whole_time(self, first: Any, half: Any) -> Any:
        """Return the time that two cells give together; the first of them if they are no date and time of day."""
        is_date = (self.time_name or "").strip().lower() == "date"
        joined = joined_time(first, half) if is_date else joined_time(half, first)
        return first if joined is None else joined

    def _numbers(self, cells: Cells) -> Cells:
        return [self._number(cell, name) for cell, name in zip(cells, self.columns, strict=True)]

    def _number(self, cell: Any, column: str) -> float:
        """Return a number, 1 for true, 0 for false, or NaN; a text that is no mark of a missing value is counted."""
        if cell is None:
            return np.nan
        if not (self._commas and isinstance(cell, str)):
            try:
                return float(cell)
            except (ValueError, TypeError, OverflowError):
                pass
        text = cell if isinstance(cell, str) else repr(cell)[:NAME]
        found = number(text, "." if self.separator == "," else ",")
        if found is not None:
            self._commas |= "," in text
            return found
        if text.strip().lower() not in MISSING:
            counts, kind = (self.counts, "text") if self.fixed else (self._texts, column)
            counts[kind] += 1
        return np.nan


def _table(values: list[Cells], width: int) -> Array:
    """Return rows as a matrix; rows that came before a column was known have NaN there."""
    if all(len(cells) == width for cells in values):
        return np.array(values, np.float64).reshape(len(values), width)
    table = np.full((len(values), width), np.nan)
    for i, cells in enumerate(values):
        table[i, : len(cells)] = cells
    return table
