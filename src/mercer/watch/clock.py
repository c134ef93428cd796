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
_UNITS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))  # numbers this large are in nano-, micro- and milliseconds


class Clock:
    """Gives every row a time, leaves out rows that are late or came twice, and remembers the last row."""

    def __init__(self) -> None:
        self.last = -math.inf
        self.row: list[float] | None = None
        self.late = 0  # rows one after the other

    def state(self) -> dict[str, Any]:
        """Return what is remembered, as plain JSON."""
        row = None if self.row is None else [None if math.isnan(value) else value for value in self.row]
        return {"last": None if math.isinf(self.last) else self.last, "row": row, "late": self.late}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Remember what was saved."""
        self.last = -math.inf if state["last"] is None else float(state["last"])
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
        timed = ~np.isnan(read)
        read = np.where(timed, read, max(received, self.last))
        late = timed & (read < self._before(read))
        in_turn = self._late_in_turn(late)
        back = np.flatnonzero(in_turn >= _BACK)
        if len(back):
            end = int(back[0])
            read, table, late, timed = read[:end], table[:end], late[:end], timed[:end]
        kept, stamps = self._taken(read, table, late, timed, counts)
        self.late = int(in_turn[-1])
        if len(back):
            counts["clock_set_back"] += 1
            self.last, self.row, self.late = -math.inf, None, 0
        return kept, stamps

    def _late_in_turn(self, late: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return how many rows one after the other were late up to each row, (n,)."""
        number = np.arange(1, len(late) + 1)
        return np.where(late, number - np.maximum.accumulate(np.where(late, -self.late, number)), 0)

    def _taken(
        self,
        read: Array,
        table: Array,
        late: npt.NDArray[np.bool_],
        timed: npt.NDArray[np.bool_],
        counts: Counter[str],
    ) -> tuple[npt.NDArray[np.bool_], Array]:
        """Return which rows are neither late nor there twice, and their times; remember the last one."""
        twice = self._twice(read, table, ~late & timed)
        counts["late"] += int(late.sum())
        counts["duplicate"] += int(twice.sum())
        kept = ~late & ~twice
        if kept.any():
            self.last, self.row = max(self.last, float(read[kept].max())), table[np.flatnonzero(kept)[-1]].tolist()
        return kept, np.maximum.accumulate(read[kept])

    def _before(self, read: Array) -> Array:
        """Return the largest time before each row."""
        return np.maximum.accumulate(np.concatenate([[self.last], read]))[:-1]

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
            return math.nan
        return found


def seconds_of(value: Any) -> float | None:
    """Return Unix seconds from a number or from a text such as 2024-05-31T12:30:00; without a zone it is UTC."""
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        return _of_text(value)
    for least, unit in _UNITS:
        if abs(number) >= least:
            return number * unit
    return number if math.isfinite(number) else None


def _of_text(value: Any) -> float | None:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    try:
        found = datetime.fromisoformat(text.strip())
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def _equal(row: Array, before: Any) -> bool:
    before = np.asarray(before, np.float64)
    if before.shape != row.shape:
        return False
    return bool(np.array_equal(row, before, equal_nan=True))
