"""The times of rows: what they say, what is late, what came twice."""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array

_AHEAD = 86_400.0  # seconds that a clock may be ahead of ours
_BACK = 100  # the late row with this number, one after the other, shows that the clock was set back: it is taken
_SHOWN = 40  # characters of an example
_UNITS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))  # numbers this large are in nano-, micro- and milliseconds


class Clock:
    """Gives every row a time, leaves out rows that are late or came twice, and remembers the last row.

    A row whose time cannot be read does not move the clock: it has the time of the row before it, plus what has passed
    since that came. Where no row has had a time yet, it has that of the next one, or of its arrival.
    """

    def __init__(self) -> None:
        self.last = -math.inf  # the largest time that was read
        self.shown = -math.inf  # the last time that a row was given
        self.row: list[float] | None = None  # the last one whose time was read
        self.late = 0  # rows one after the other
        self.unreadable: str | None = None  # a time that could not be read, as an example
        self._ahead: float | None = None  # seconds from our clock to that of the rows, as known in this process

    def state(self) -> dict[str, Any]:
        """Return what is remembered, as plain JSON."""
        row = None if self.row is None else [None if math.isnan(value) else value for value in self.row]
        return {"last": _finite(self.last), "shown": _finite(self.shown), "row": row, "late": self.late}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Remember what was saved."""
        last = -math.inf if state["last"] is None else float(state["last"])
        if "shown" in state:
            self.last, self.shown = last, -math.inf if state["shown"] is None else float(state["shown"])
        else:  # of a version that did not tell times that were read from times of arrival
            self.last, self.shown = -math.inf, last
        row, self.late = state["row"], int(state["late"])
        self.row = None if row is None else [math.nan if value is None else float(value) for value in row]

    def kept(
        self, given: Sequence[Any], table: Array, received: float, counts: Counter[str]
    ) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return which rows are kept, (n,), and the times of these, which fall only where the clock was set back."""
        read = np.array([self._seconds(value, received, counts) for value in given])
        parts: list[npt.NDArray[np.bool_]] = []
        times: list[Array] = []
        at = 0
        while at < len(read):
            kept, stamps = self._until_set_back(read[at:], table[at:], received, counts)
            parts.append(kept)
            times.append(stamps)
            at += len(kept)
        return np.concatenate([np.zeros(0, bool), *parts]), np.concatenate([np.zeros(0), *times])

    def _until_set_back(
        self, read: Array, table: Array, received: float, counts: Counter[str]
    ) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return which of the rows before the clock was set back are kept, and their times; forget the clock there."""
        self._begin(read, counts)
        timed = ~np.isnan(read)
        late = timed & (read < self._before(read))
        in_turn = self._late_in_turn(late, timed)
        back = np.flatnonzero(in_turn >= _BACK)
        if len(back):
            end = int(back[0])
            read, table, late, timed = read[:end], table[:end], late[:end], timed[:end]
        kept, stamps = self._taken(read, table, late, timed, received, counts)
        self.late = int(in_turn[-1])
        if len(back):
            counts["clock_set_back"] += 1
            self.last, self.shown, self.row, self.late = -math.inf, -math.inf, None, 0
        return kept, stamps

    def _begin(self, read: Array, counts: Counter[str]) -> None:
        """Let the clock of the rows begin with the first time that is read, though some came before it."""
        if math.isinf(self.last):
            first = read[~np.isnan(read)][:1]
            if len(first) and first[0] < self.shown:
                counts["clock_set_back"] += 1
                self.shown = -math.inf

    def _late_in_turn(self, late: npt.NDArray[np.bool_], timed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return how many rows one after the other were late up to each row, (n,); those without a time are skipped."""
        number = np.cumsum(timed)
        on_time = timed & ~late
        return number - np.maximum.accumulate(np.where(on_time, number, -self.late))

    def _taken(
        self,
        read: Array,
        table: Array,
        late: npt.NDArray[np.bool_],
        timed: npt.NDArray[np.bool_],
        received: float,
        counts: Counter[str],
    ) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return which rows are neither late nor there twice, and their times; remember the last one."""
        fit = timed & ~late
        twice = self._twice(read, table, fit)
        counts["late"] += int(late.sum())
        counts["duplicate"] += int(twice.sum())
        kept = ~late & ~twice
        stamps = self._stamps(read, fit, received)[kept]
        if len(stamps):
            self.shown = float(stamps[-1])
        if fit.any():
            last = np.flatnonzero(fit)[-1]
            self.last, self.row = float(read[last]), table[last].tolist()
            self._ahead = self.last - received
        return kept, stamps

    def _stamps(self, read: Array, fit: npt.NDArray[np.bool_], received: float) -> Array:
        """Return the times of rows, (n,), where those of the rows that fit were read."""
        begin = received
        if not math.isinf(self.last):
            begin = self.last if self._ahead is None else max(self.last, received + self._ahead)
        first = read[fit][:1]
        begin = min(begin, *first) if len(first) else begin
        return np.maximum.accumulate(np.maximum(np.where(fit, read, begin), self.shown))

    def _before(self, read: Array) -> Array:
        """Return the largest time before each row."""
        return np.fmax.accumulate(np.concatenate([[self.last], read]))[:-1]

    def _twice(self, read: Array, table: Array, fit: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return the rows that have time and values of the row before them."""
        found, at = np.zeros(len(read), bool), np.flatnonzero(fit)
        if not len(at):
            return found
        times = np.concatenate([[self.last], read[at]])
        same = times[1:] == times[:-1]
        for i in np.flatnonzero(same):
            before = self.row if i == 0 else table[at[i - 1]]
            found[at[i]] = before is not None and _equal(table[at[i]], before)
        return found

    def _seconds(self, value: Any, received: float, counts: Counter[str]) -> float:
        """Return a time in Unix seconds; NaN where the row says none."""
        if value is None:
            return math.nan
        found = seconds_of(value)
        if found is None or not 0.0 <= found <= max(received, time.time()) + _AHEAD:
            counts["bad_time"] += 1
            self.unreadable = str(value)[:_SHOWN]
            return math.nan
        return found


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


def seconds_of(value: Any) -> float | None:
    """Return Unix seconds from a number or from a text such as 2024-05-31T12:30:00; without a zone it is UTC."""
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        return seconds_of_text(value)
    for least, unit in _UNITS:
        if abs(number) >= least:
            return number * unit
    return number if math.isfinite(number) else None


def seconds_of_text(value: Any) -> float | None:
    """Return Unix seconds from a text such as 2024-05-31T12:30:00; None if it is no such text."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def joined_time(date: Any, clock: Any) -> str | None:
    """Return a date and a time of day that stand in two cells as one text; None if they are no such cells."""
    text = f"{date} {clock}"
    return None if seconds_of_text(text) is None else text


def _equal(row: Array, before: Any) -> bool:
    before = np.asarray(before, np.float64)
    if before.shape != row.shape:
        return False
    return bool(np.array_equal(row, before, equal_nan=True))
