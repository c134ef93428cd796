"""Rows of a stream that the model learns from, so that it follows slow drift, and those that it must not learn from.

All rows of the stream wait for a while. At every refresh those that have waited long enough are sorted:

- rows without an alarm, and without one soon after, are learned from and count for the limits;
- rows without an alarm, but with one soon after, count for the limits only: a fault may have begun with them;
- where at least a quarter of the rows near them have an alarm, rows do not count at all: there is a fault;
- of the rows with an alarm, as many as the rate of false alarms lets expect count for the limits: those with the
  largest p-values. Without them the limits would shrink with every refresh, as the largest normal scores would never
  be seen. One with a p-value of less than a thousandth of the rate is hardly false, and does not count.
"""

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.monitoring.reference import Rows

_REFRESHES = 10  # per window
_FEWEST = 5  # rows between two refreshes
_PATIENCE = 2.0  # times that a smoothed value needs to respond, for which rows wait
_FREQUENT = 0.25  # share of alarms among the rows near a row
_CLEAR = 1e-3  # p-value in units of the rate: an alarm below it is no false one


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows of a stream and what was said of them."""

    lagged: Array  # (n, D)
    others: Array  # (n, c)
    scores: Array  # (n, 2)
    p: Array  # (n,)
    alarm: npt.NDArray[np.bool_]  # (n,)

    @classmethod
    def none(cls, D: int, c: int) -> "Seen":
        """Return no rows."""
        return cls(np.empty((0, D)), np.empty((0, c)), np.empty((0, 2)), np.empty(0), np.empty(0, bool))

    def followed_by(self, *more: "Seen") -> "Seen":
        """Return these rows and further ones."""
        parts = (self, *more)
        return Seen(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(self)))

    def __len__(self) -> int:
        return len(self.p)

    def __getitem__(self, at: slice | IntArray) -> "Seen":
        return Seen(*(getattr(self, field.name)[at] for field in fields(self)))

    @property
    def complete(self) -> npt.NDArray[np.bool_]:
        """Whether all values are there, and all previous rows that are needed, (n,)."""
        known = ~np.isnan(self.scores[:, 0])
        return np.asarray(known & ~np.isnan(self.lagged).any(axis=1) & ~np.isnan(self.others).any(axis=1))


@dataclass(frozen=True)
class Pace:
    """How fast a monitor adapts, in rows."""

    window: int  # that model and limits rest on
    refresh: int  # between two new models
    soon: int  # that an alarm may follow the fault that causes it
    wait: int  # until a row is learned from; rows not further apart are near each other

    @classmethod
    def of(cls, window: int, weight: float, m: int, spacing: int) -> "Pace":
        """Return the pace for a window, the weight of new rows in smoothed values, and m of "k of the last m".

        spacing is the number of rows after which values hardly depend on each other.
        """
        soon = min(int(np.ceil(_PATIENCE / weight)) + m, window)
        return cls(window, max(window // _REFRESHES, _FEWEST), soon, min(max(soon, spacing), window))


@dataclass(frozen=True, eq=False)
class Waiting:
    """Rows that may be learned from later."""

    seen: Seen
    before: npt.NDArray[np.bool_]  # (at most `wait`,), the alarms of the rows before these
    rows: int = 0  # since the last refresh
    credit: float = 0.0  # alarms that may count for the limits

    @classmethod
    def none(cls, D: int, c: int) -> "Waiting":
        """Return no rows."""
        return cls(Seen.none(D, c), np.empty(0, bool))

    def sorted_out(self, pace: Pace, alpha: float, segment: int) -> tuple[Rows, Array, "Waiting"]:
        """Return the rows that count from now on, their scores, and those that go on waiting."""
        count = max(len(self.seen) - pace.wait, 0)
        seen, complete = self.seen[:count], self.seen.complete[:count]
        near = self._alarms(pace.wait, pace.wait)[:count]
        accepted = complete & ~seen.alarm & (near < _FREQUENT * (2 * pace.wait + 1))
        counts = accepted.copy()
        credit = min(self.credit + alpha * float(counts.sum()), max(alpha * pace.window, 1.0))
        alarms = np.flatnonzero(complete & seen.alarm & (seen.p >= _CLEAR * alpha))
        expected = alarms[np.argsort(-seen.p[alarms], kind="stable")][: int(credit)]
        counts[expected] = True
        learned = (accepted & (self._alarms(0, pace.soon)[:count] == 0))[counts]
        place = np.flatnonzero(counts)
        rows = Rows(seen.lagged[counts], seen.others[counts], np.full(len(learned), segment), learned, place)
        before = np.concatenate([self.before, seen.alarm])[-pace.wait :]
        return rows, seen.scores[counts], Waiting(self.seen[count:], before, 0, credit - len(expected))

    def _alarms(self, back: int, ahead: int) -> IntArray:
        """Return how many alarms there are from so many rows before each row to so many rows after it, (n,)."""
        alarm = np.concatenate([self.before, self.seen.alarm])
        sums, n = np.concatenate([[0], np.cumsum(alarm)]), len(alarm)
        row = np.arange(len(self.before), n)
        return np.asarray(sums[np.minimum(row + ahead + 1, n)] - sums[np.maximum(row - back, 0)])
