"""The judgement of a stream: rows in, verdicts out, and what must be remembered between two calls."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.monitoring.adaptation import Seen
from mercer.monitoring.charts import STATISTICS
from mercer.monitoring.drift import Evidence
from mercer.monitoring.lags import ages, with_lags
from mercer.monitoring.patterns import Book, Pattern
from mercer.monitoring.persistence import kth_largest
from mercer.monitoring.sensors import Runs, Sensors, in_words
from mercer.monitoring.slow_means import SlowMeans
from mercer.monitoring.verdicts import Verdicts

# Rows are judged in blocks of this size, filled up, so that a row alone gives the same bits as among others. It is a
# multiple of the 4, 6, 8, 12, 16 and 24 rows at a time in which matrix products are computed: rows that are left over
# at the end of a block, as 4 of 64 are, can have other rounding errors.
_BLOCK = 48
_HELD = 4.0  # times its limit: a smoothed value rises no higher, so that an alarm ends soon after its cause


@dataclass(frozen=True, eq=False)
class Memory:
    """What a stream remembers of its past."""

    rows: Array  # (at most lags, d): the last rows of the segment
    smoothed: Array  # (2,)
    recent: Array  # (at most m - 1, 2): what decided, by T2 or SPE and by slow means, for alarms that need several rows
    runs: Runs  # of equal and of missing values
    evidence: Evidence  # that the model no longer fits
    levels: Array  # (width,): deviations of the slow means
    count: int = 0  # rows so far
    time: int | None = None  # of the last row, in nanoseconds

    @classmethod
    def fresh(cls, d: int, kept: int, spacing: int, slow: int) -> "Memory":
        """Return the memory of a stream of d columns, of which the model takes some, before the first row."""
        evidence = Evidence.none(spacing)
        return cls(np.empty((0, kept)), np.zeros(2), np.empty((0, 2)), Runs.none(d), evidence, np.zeros(slow))

    def restarted(self) -> "Memory":
        """Return the memory after a gap in time: only the number of rows and the evidence are kept."""
        return replace(self, rows=self.rows[:0], runs=Runs.none(len(self.runs.last))).unsmoothed()

    def unsmoothed(self) -> "Memory":
        """Return the memory without what earlier values left in smoothed ones and in alarms that need several rows."""
        return replace(self, smoothed=np.zeros(2), recent=self.recent[:0], levels=np.zeros_like(self.levels))


@dataclass(frozen=True, eq=False)
class Course:
    """The fixed parts of a stream's judgement."""

    book: Book  # the model, its limits, and those for rows with missing columns
    slow: SlowMeans
    sensors: Sensors
    names: list[str]  # of the columns
    kept: IntArray  # the columns that are judged by the model
    others: IntArray  # the columns that drift, which are judged by their levels only
    alpha: float
    lags: int
    spacing: int  # rows between two looks at p-values for drift

    @property
    def model_share(self) -> float:
        """The share of the rate of false alarms that T2 and SPE have; slow means have the rest."""
        return 1.0 - self.slow.share

    def segment(self, X: Array, memory: Memory) -> tuple[dict[str, Any], Seen, Memory]:
        """Return the columns of the verdicts for rows without a gap in time, what was seen, and the memory after."""
        chart = self.book.calibration.chart
        watched, frozen, missing, runs = self.sensors.watch(X, memory.runs)
        rows = watched[:, self.kept]
        lagged, known = self._lagged(rows, memory.rows)
        scores, patterns = self._scores(lagged, known)
        smoothed, comparable = self._smoothed(scores, patterns, memory.smoothed)
        deciding = np.where(known, chart.decisive(comparable), -np.inf)
        deviations, levels = self.slow.followed(watched, memory.levels, self.alpha, in_blocks)
        values = np.column_stack([deciding, -self.slow.p_values(deviations)])
        p = self._p_values(values, memory.recent)
        shown = np.where(known[:, None], chart.as_scores(comparable), np.nan)
        causes = self._causes(p, comparable, deviations)
        which = _which(p.min(axis=1) <= self.alpha, causes, in_words(frozen, missing, self.names))
        columns = {"t2": shown[:, 0], "spe": shown[:, 1], "p": p.min(axis=1), "alarm": which != "", "which": which}
        seen = Seen(lagged, watched[:, self.others], scores, columns["p"], columns["p"] <= self.alpha)
        evidence = memory.evidence.after(p[:, 0], known, self.spacing, memory.count)
        after = replace(self._after(rows, smoothed, values, memory), runs=runs, evidence=evidence, levels=levels)
        return columns, seen, after

    def _smoothed(self, scores: Array, patterns: list[tuple[IntArray, Pattern]], start: Array) -> tuple[Array, Array]:
        """Return smoothed values, (n, 2), and the same on the scale of complete rows, where columns are missing."""
        chart, limits = self.book.calibration.chart, self.book.calibration.limits
        z = chart.standardised(scores)
        for at, pattern in patterns:
            z[at] = pattern.chart.standardised(scores[at])
        held = _HELD * limits.at(self.model_share * self.alpha) * chart.unit
        smoothed = chart.run(z, chart.weight, start, held)
        comparable = smoothed.copy()
        for at, pattern in patterns:
            comparable[at] = chart.unit * limits.equivalent(smoothed[at] / pattern.chart.unit, pattern.limits)
        return smoothed, comparable

    def _causes(self, p: Array, comparable: Array, deviations: Array) -> npt.NDArray[Any]:
        """Return what makes each row unusual in words, (n,): T2 or SPE, or slow means where these raise an alarm."""
        causes = np.array(STATISTICS)[self.book.calibration.chart.deciding(comparable)].astype(object)
        slow = (p[:, 1] < p[:, 0]) & (p[:, 1] <= self.alpha)
        causes[slow] = self.slow.in_words(deviations[slow], self.alpha, self.names)
        return causes

    def _p_values(self, values: Array, recent: Array) -> Array:
        """Return p by T2 and SPE and p by slow means, (n, 2), each with regard to its share of the rate."""
        k, m = self.book.plan.persist
        lasting = kth_largest(values[:, 0], k, m, recent[:, 0])
        of_model = self.book.calibration.limits.p_values(lasting) / self.model_share
        of_means = -kth_largest(values[:, 1], k, m, recent[:, 1])
        return np.minimum(np.column_stack([of_model, of_means]), 1.0)

    def _after(self, X: Array, smoothed: Array, values: Array, memory: Memory) -> Memory:
        rows = np.vstack([memory.rows, X])
        recent = np.vstack([memory.recent, values])
        kept = self.book.plan.persist[1] - 1
        return replace(
            memory,
            rows=rows[len(rows) - min(self.lags, len(rows)) :].copy(),
            smoothed=smoothed[-1].copy(),
            recent=recent[len(recent) - min(kept, len(recent)) :].copy(),
            count=memory.count + len(X),
        )

    def _lagged(self, X: Array, before: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Return rows with their lags, and which have previous rows enough and at least one value, (n,)."""
        starts = np.zeros(len(before) + len(X), bool)
        starts[0] = True
        rows = with_lags(np.vstack([before, X]), self.lags, starts)[len(before) :]
        return rows, (ages(starts)[len(before) :] >= self.lags) & ~np.isnan(X).all(axis=1)

    def _scores(self, lagged: Array, known: npt.NDArray[np.bool_]) -> tuple[Array, list[tuple[IntArray, Pattern]]]:
        """Return T2 and SPE, (n, 2), NaN for rows that cannot be judged, and the patterns of missing columns."""
        missing = np.isnan(lagged)
        complete = known & ~missing.any(axis=1)
        scores = np.full((len(lagged), 2), np.nan)
        scores[complete] = in_blocks(self.book.judge, lagged[complete], 2)
        some = np.flatnonzero(known & ~complete)
        found: list[tuple[IntArray, Pattern]] = []
        for at, pattern in grouped(missing[some], self.book):
            scores[some[at]] = in_blocks(pattern.scores, lagged[some[at]], 2)
            found.append((some[at], pattern))
        return scores, found


def grouped(missing: npt.NDArray[np.bool_], book: Book) -> list[tuple[IntArray, Pattern]]:
    """Return the numbers of the rows that have the same missing columns, with the pattern of each group."""
    if not len(missing):
        return []
    kinds, number = np.unique(missing, axis=0, return_inverse=True)
    return [(np.flatnonzero(number.ravel() == i), book(kind)) for i, kind in enumerate(kinds)]


def filled(lagged: Array, book: Book) -> Array:
    """Return rows with lags whose missing values are replaced by what is expected given the others."""
    missing, found = np.isnan(lagged), lagged.copy()
    some = np.flatnonzero(missing.any(axis=1))
    for at, pattern in grouped(missing[some], book):
        found[some[at]] = in_blocks(pattern.filled, lagged[some[at]], lagged.shape[1])
    return found


def _which(alarm: npt.NDArray[np.bool_], causes: npt.NDArray[Any], sensors: list[str]) -> npt.NDArray[np.str_]:
    """Return what raises the alarm of each row, (n,): a statistic, sensors, both or nothing."""
    found = np.where(alarm, causes, "").astype(np.str_)
    if not any(sensors):
        return found
    return np.array(["; ".join(filter(None, pair)) for pair in zip(found.tolist(), sensors, strict=True)])


def in_blocks(function: Callable[[Array], Array], X: Array, width: int) -> Array:
    """Return a function of rows, (n, width), which does not depend on the number of rows that are given together."""
    found = np.empty((len(X), width))
    for first in range(0, len(X), _BLOCK):
        rows = X[first : first + _BLOCK]
        block = np.empty((_BLOCK, X.shape[1]))  # of one memory order, whatever the rows have
        block[: len(rows)], block[len(rows) :] = rows, rows[-1]
        found[first : first + _BLOCK] = function(block)[: len(rows)]
    return found


def follow(
    course: Course,
    X: Array,
    times: Any,  # (n,), int64 in nanoseconds, or None
    longest: float,  # step between rows of one segment
    memory: Memory,
) -> tuple[Verdicts, Seen, Memory]:
    """Return the verdicts on rows that continue a stream, what was seen, and the memory after them."""
    edges = _segments(times, longest, memory.time, len(X))
    count, parts, traces = memory.count, [], []
    for first, last in pairwise(edges):
        if first:  # not the first row, or a gap before it
            memory = memory.restarted()
        columns, seen, memory = course.segment(X[max(first, 0) : last], memory)
        parts.append(columns)
        traces.append(seen)
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    seen = traces[0].followed_by(*traces[1:])
    if times is None:
        return Verdicts(time=np.arange(count, count + len(X)), **found), seen, memory
    stamps = times.astype("datetime64[ns]")
    return Verdicts(time=stamps, **found), seen, replace(memory, time=int(times[-1]))


def _segments(times: Any, longest: float, before: int | None, n: int) -> list[int]:
    """Return the edges of the segments; the first edge is -1 where there is a gap before the first row."""
    if times is None:
        return [0, n]
    steps = np.diff(times)
    gaps = (np.flatnonzero(steps > longest) + 1).tolist()
    first = -1 if before is not None and times[0] - before > longest else 0
    return [first, *gaps, n]
