"""What the engine tells the page: rows and alarms wait here until the server sends them."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.watch.numbers import plain_list, plain_times

_GROUPS = (
    20  # per message: where there are more rows, each group of neighbours is shown by its least and largest values
)
_HELD = 20_000  # rows that wait at most; the page reads the history where it missed some


@dataclass
class Hub:
    """Rows and alarms that were not sent yet; nothing is held while nobody listens."""

    listeners: int = 0
    _rows: list[Array] = field(default_factory=list)
    _alarms: dict[int, dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def rows(self, table: Array) -> None:
        """Add rows, (n, 5): time, T2, SPE, p and alarm."""
        with self._lock:
            if self.listeners and sum(map(len, self._rows)) < _HELD:
                self._rows.append(table)

    def alarm(self, alarm: dict[str, Any]) -> None:
        """Add an alarm that was opened, changed or closed."""
        with self._lock:
            if self.listeners:
                self._alarms[alarm["id"]] = alarm

    def taken(self) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        """Return the message about new rows, or None, and the alarms that changed."""
        with self._lock:
            rows, self._rows = self._rows, []
            alarms, self._alarms = list(self._alarms.values()), {}
        return (message_of(np.vstack(rows)) if rows else None), alarms


def message_of(table: Array) -> dict[str, Any]:
    """Return rows as the page wants them; many rows become pairs of least and largest values."""
    if len(table) > 2 * _GROUPS:
        starts = np.linspace(0, len(table), _GROUPS, endpoint=False).astype(np.int64)
        low, high = np.fmin.reduceat(table, starts), np.fmax.reduceat(table, starts)
        low[:, 4] = high[:, 4]  # an alarm is shown, however short
        table = np.stack([low, high], axis=1).reshape(-1, table.shape[1])
    times, t2, spe, p, alarm = table.T
    return {
        "time": plain_times(times),
        "t2": plain_list(t2),
        "spe": plain_list(spe),
        "p": plain_list(p),
        "alarm": [int(value) for value in alarm],
    }
