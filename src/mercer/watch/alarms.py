"""The life of an alarm: k of the last m rows open it, quiet rows close it. Pure logic, without clock and files.

A row is loud if the model raises an alarm for it (p <= alpha). A row is quiet if p > 2 alpha. What lies between neither
opens nor closes an alarm: this is the hysteresis. An alarm is closed by `clear` quiet rows one after the other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array

QUIET = 2.0  # times alpha
_EXPLAINED_AT = (1, 10, 30, 100, 300, 1000)  # rows since the opening at which an alarm is explained again

Flags = npt.NDArray[np.bool_]


@dataclass
class OpenAlarm:
    """An alarm that is not closed."""

    number: int
    opened: float
    rows: int  # loud rows, those that opened it included
    least_p: float
    age: int = 0  # rows since the opening, that row included
    quiet: int = 0  # quiet rows one after the other


@dataclass(frozen=True)
class Change:
    """What happens to an alarm at a row."""

    kind: str  # "opened", "explained" or "closed"
    row: int  # place in the rows that were given
    number: int


@dataclass
class Tracker:
    """Opens and closes alarms, row by row."""

    k: int
    m: int
    alpha: float
    clear: int
    next_number: int = 1
    recent: list[bool] = field(default_factory=list)  # loud or not, at most m
    recent_p: list[float] = field(default_factory=list)  # their p-values where they are loud, otherwise 1
    alarm: OpenAlarm | None = None
    closed: list[tuple[OpenAlarm, float]] = field(default_factory=list)  # by the last call of `follow`, each with when

    def __post_init__(self) -> None:
        if not 1 <= self.k <= self.m:
            raise ValueError(f"An alarm needs k of the last m rows with 1 <= k <= m; got k={self.k}, m={self.m}.")
        if self.clear < 1:
            raise ValueError(f"An alarm is closed by at least one quiet row; got {self.clear}.")

    def state(self) -> dict[str, Any]:
        """Return what is remembered between rows, as plain JSON."""
        alarm = None if self.alarm is None else vars(self.alarm).copy()
        recent = {"recent": [int(loud) for loud in self.recent], "recent_p": self.recent_p}
        return {"next": self.next_number, **recent, "alarm": alarm}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Remember what was saved."""
        self.next_number = int(state["next"])
        self.recent = [bool(loud) for loud in state["recent"]][-self.m :]
        self.recent_p = [float(p) for p in state.get("recent_p", [1.0] * len(self.recent))][-self.m :]
        self.alarm = None if state["alarm"] is None else OpenAlarm(**state["alarm"])

    def follow(self, times: Array, p: Array, loud: Flags) -> list[Change]:
        """Return what happens to alarms in further rows."""
        self.closed = []
        if self.alarm is None and not loud.any():
            for _ in range(min(len(loud), self.m)):
                self._recall(False, 1.0)
            return []
        quiet = ~loud & ~(p <= QUIET * self.alpha)  # NaN, a row that was not judged, is quiet
        rows = zip(times.tolist(), p.tolist(), loud.tolist(), quiet.tolist(), strict=True)
        return [change for i, row in enumerate(rows) for change in self._step(i, *row)]

    def _recall(self, loud: bool, p: float) -> None:
        """Remember a row as the last of m; NaN, the p-value of a row that was not judged, counts as 1."""
        self.recent = [*self.recent, loud][-self.m :]
        self.recent_p = [*self.recent_p, p if loud and p < 1.0 else 1.0][-self.m :]

    def _step(self, i: int, time: float, p: float, loud: bool, quiet: bool) -> Iterator[Change]:
        self._recall(loud, p)
        if self.alarm is None:
            if loud and sum(self.recent) >= self.k:
                self.alarm = OpenAlarm(self.next_number, time, sum(self.recent) - 1, min(self.recent_p))
                self.next_number += 1
                yield Change("opened", i, self.alarm.number)
            else:
                return
        alarm = self.alarm
        alarm.age += 1
        if loud:
            alarm.rows, alarm.least_p = alarm.rows + 1, min(alarm.least_p, p)
        alarm.quiet = alarm.quiet + 1 if quiet else 0
        if alarm.age in _EXPLAINED_AT and loud:
            yield Change("explained", i, alarm.number)
        if alarm.quiet >= self.clear:
            self.closed.append((alarm, time))
            self.alarm, self.recent, self.recent_p = None, [], []
            yield Change("closed", i, alarm.number)


def state_of(closed: float | None, acknowledged: float | None, shelved_until: float | None, now: float) -> str:
    """Return the state of an alarm in one word."""
    if closed is not None:
        return "closed"
    if shelved_until is not None and shelved_until > now:
        return "shelved"
    return "open" if acknowledged is None else "acknowledged"
