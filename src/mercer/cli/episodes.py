"""Alarms that last: collected while rows are judged chunk by chunk."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.cli.timed import Times, timed
from mercer.io.readers import Table
from mercer.monitoring.monitor import ProcessMonitor
from mercer.monitoring.verdicts import Verdicts

_MEMORY = 3.0  # in units of 1 / smoothing: previous rows that contribute to a smoothed statistic


@dataclass(frozen=True, eq=False)
class Episode:
    """Consecutive rows with an alarm."""

    first: str
    last: str
    rows: int
    p: float
    which: str
    window: Any  # the rows up to the most unusual one, with their times

    @property
    def rank(self) -> tuple[float, int]:
        """The most unusual episodes first, and of equal ones the longest."""
        return self.p, -self.rows

    def joined(self, later: "Episode") -> "Episode":
        """Return one episode from two that follow each other."""
        peak = min((self, later), key=lambda one: one.p)
        return replace(peak, first=self.first, last=later.last, rows=self.rows + later.rows)


class Episodes:
    """The episodes of a stream: all are counted, and the most unusual ones are kept."""

    def __init__(self, monitor: ProcessMonitor, top: int) -> None:
        self._reach = monitor.lags_ + int(np.ceil(_MEMORY / monitor.smoothing_))
        self._top = top
        self._kept: list[Episode] = []
        self._open: Episode | None = None
        self._rows: Array | None = None  # the last ones
        self._times: Times | None = None
        self.count = self.alarms = self.seen = self.incomplete = 0

    def noting(self, table: Table, times: Times | None, labels: list[str], verdicts: Verdicts) -> None:
        """Take the verdicts on further rows, whose labels are their times or numbers."""
        before = 0 if self._rows is None else len(self._rows)
        rows = table.values if self._rows is None else np.vstack([self._rows, table.values])
        stamps = times if times is None or self._times is None else np.concatenate([self._times, times])
        edges = np.flatnonzero(np.diff(np.concatenate([[0], verdicts.alarm.astype(np.int8), [0]])))
        if not verdicts.alarm[0]:
            self._close()
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            peak = start + int(np.argmin(verdicts.p[start:stop]))
            part = slice(max(before + peak - self._reach, 0), before + peak + 1)
            window = timed(rows[part].copy(), None if stamps is None else stamps[part])
            p, which = float(verdicts.p[peak]), str(verdicts.which[peak])
            found = Episode(labels[start], labels[stop - 1], stop - start, p, which, window)
            self._open = found if self._open is None else self._open.joined(found)
            if stop < len(verdicts):
                self._close()
        self._rows, self._times = rows[-self._reach :], None if stamps is None else stamps[-self._reach :]
        self.alarms, self.seen = self.alarms + int(verdicts.alarm.sum()), self.seen + len(verdicts)
        self.incomplete += int(np.isnan(table.values).any(axis=1).sum())

    def _close(self) -> None:
        if self._open is not None:
            self._kept = sorted([*self._kept, self._open], key=lambda one: one.rank)[: self._top]
            self.count, self._open = self.count + 1, None

    @property
    def dated(self) -> bool:
        """Whether the rows have times."""
        return self._times is not None

    def most_unusual(self) -> list[Episode]:
        """Return the most unusual episodes after the last row."""
        self._close()
        return self._kept
