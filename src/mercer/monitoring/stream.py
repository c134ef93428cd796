"""The judgement of a stream: rows in, verdicts out, and what must be remembered between two calls."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.monitoring.charts import STATISTICS, Chart
from mercer.monitoring.lags import complete, with_lags
from mercer.monitoring.levels import SHARE, Levels
from mercer.monitoring.limits import Limits
from mercer.monitoring.persistence import kth_largest
from mercer.monitoring.verdicts import Verdicts
from mercer.outliers.panel import Judge

_BLOCK = 64  # rows are judged in blocks of this size, filled up: so a row alone gives the same bits as among others
_HELD = 4.0  # times its limit: a smoothed value rises no higher, so that an alarm ends soon after its cause


@dataclass(frozen=True, eq=False)
class Memory:
    """What a stream remembers of its past."""

    rows: Array  # (at most lags, d): the last rows of the segment
    smoothed: Array  # (2,)
    recent: Array  # (at most m - 1, 2): what decided, by T2 or SPE and by levels, for alarms that need several rows
    count: int = 0  # rows so far
    time: int | None = None  # of the last row, in nanoseconds

    @classmethod
    def fresh(cls, d: int) -> "Memory":
        """Return the memory of a stream that has not begun."""
        return cls(np.empty((0, d)), np.zeros(2), np.empty((0, 2)))

    def restarted(self) -> "Memory":
        """Return the memory after a gap in time: only the number of rows is kept."""
        return Memory(self.rows[:0], np.zeros(2), self.recent[:0], self.count, self.time)


@dataclass(frozen=True, eq=False)
class Course:
    """The fixed parts of a stream's judgement."""

    judge: Judge
    chart: Chart
    limits: Limits
    levels: Levels
    kept: IntArray  # the columns that are judged by the model
    others: IntArray  # the columns that drift, which are judged by their levels
    alpha: float
    lags: int
    persist: tuple[int, int]  # k of the last m rows

    @property
    def model_share(self) -> float:
        """The share of the rate of false alarms that T2 and SPE have; levels have the rest."""
        return 1.0 - SHARE if len(self.others) else 1.0

    def segment(self, X: Array, memory: Memory) -> tuple[dict[str, Any], Memory]:
        """Return the columns of the verdicts for rows without a gap in time, and the memory after them."""
        rows = X[:, self.kept]
        scores = self._scores(rows, memory.rows)
        held = _HELD * self.limits.at(self.model_share * self.alpha) * self.chart.unit
        smoothed = self.chart.run(self.chart.standardised(scores), self.chart.weight, memory.smoothed, held)
        known = ~np.isnan(scores[:, 0])
        deciding = np.where(known, self.chart.decisive(smoothed), -np.inf)
        values = np.column_stack([deciding, -self.levels.p_values(X[:, self.others])])
        p = self._p_values(values, memory.recent)
        shown = np.where(known[:, None], self.chart.as_scores(smoothed), np.nan)
        cause = np.where(p[:, 1] < p[:, 0], len(STATISTICS), self.chart.deciding(smoothed))
        alarm = p.min(axis=1) <= self.alpha
        columns = {"t2": shown[:, 0], "spe": shown[:, 1], "p": p.min(axis=1), "alarm": alarm}
        names = np.where(alarm, np.array([*STATISTICS, "level"])[cause], "")
        return {**columns, "which": names}, self._after(rows, smoothed, values, memory)

    def _p_values(self, values: Array, recent: Array) -> Array:
        """Return p by T2 and SPE and p by levels, (n, 2), each with regard to its share of the rate."""
        k, m = self.persist
        of_model = self.limits.p_values(kth_largest(values[:, 0], k, m, recent[:, 0])) / self.model_share
        of_levels = np.ones(len(values))
        if len(self.others):
            of_levels = np.minimum(-kth_largest(values[:, 1], k, m, recent[:, 1]) / SHARE, 1.0)
        return np.minimum(np.column_stack([of_model, of_levels]), 1.0)

    def _after(self, X: Array, smoothed: Array, values: Array, memory: Memory) -> Memory:
        rows = np.vstack([memory.rows, X])
        recent = np.vstack([memory.recent, values])
        kept = self.persist[1] - 1
        return Memory(
            rows[len(rows) - min(self.lags, len(rows)) :].copy(),
            smoothed[-1].copy(),
            recent[len(recent) - min(kept, len(recent)) :].copy(),
            memory.count + len(X),
            memory.time,
        )

    def _scores(self, X: Array, before: Array) -> Array:
        """Return T2 and SPE, (n, 2); NaN for rows without all their lags."""
        starts = np.zeros(len(before) + len(X), bool)
        starts[0] = True
        rows = with_lags(np.vstack([before, X]), self.lags, starts)[len(before) :]
        known = complete(rows)
        scores = np.full((len(X), 2), np.nan)
        scores[known] = in_blocks(self.judge, rows[known])
        return scores


def in_blocks(judge: Judge, X: Array) -> Array:
    """Return T2 and SPE of rows, (n, 2), which do not depend on the number of rows that are judged together."""
    found = np.empty((len(X), 2))
    for first in range(0, len(X), _BLOCK):
        rows = X[first : first + _BLOCK]
        block = np.empty((_BLOCK, X.shape[1]))  # of one memory order, whatever the rows have
        block[: len(rows)], block[len(rows) :] = rows, rows[-1]
        found[first : first + _BLOCK] = judge(block)[: len(rows)]
    return found


def follow(
    course: Course,
    X: Array,
    times: Any,  # (n,), int64 in nanoseconds, or None
    longest: float,  # step between rows of one segment
    memory: Memory,
) -> tuple[Verdicts, Memory]:
    """Return the verdicts on rows that continue a stream, and the memory after them."""
    edges = _segments(times, longest, memory.time, len(X))
    count, parts = memory.count, []
    for first, last in pairwise(edges):
        if first:  # not the first row, or a gap before it
            memory = memory.restarted()
        columns, memory = course.segment(X[max(first, 0) : last], memory)
        parts.append(columns)
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if times is None:
        return Verdicts(time=np.arange(count, count + len(X)), **found), memory
    stamps = times.astype("datetime64[ns]")
    now = Memory(memory.rows, memory.smoothed, memory.recent, memory.count, int(times[-1]))
    return Verdicts(time=stamps, **found), now


def _segments(times: Any, longest: float, before: int | None, n: int) -> list[int]:
    """Return the edges of the segments; the first edge is -1 where there is a gap before the first row."""
    if times is None:
        return [0, n]
    steps = np.diff(times)
    gaps = (np.flatnonzero(steps > longest) + 1).tolist()
    first = -1 if before is not None and times[0] - before > longest else 0
    return [first, *gaps, n]
