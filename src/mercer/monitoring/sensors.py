"""Sensors that are missing or frozen for longer than the training rows explain: an alarm of its own kind.

A value is frozen while it equals the one before. If values repeat independently with the probability q, the longest run
of equal values among n rows is about R = log n / log(1 / q), and a run of 3 R begins with the probability n^-3 per row.
So a run counts as long from 3 times the longest one of the training rows, and from 5 rows. Columns that are discrete,
or that mostly keep their value, are not watched for this. Runs of missing values are treated alike.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray

_FACTOR = 3  # times the longest run of the training rows
_LEAST = 5  # rows
_DISCRETE = 10  # distinct values
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Runs:
    """What is remembered of the columns between two calls."""

    last: Array  # (d,), the last row
    equal: IntArray  # (d,), for how many rows the value has been the same
    absent: IntArray  # (d,), for how many rows it has been missing

    @classmethod
    def none(cls, d: int) -> "Runs":
        """Return the runs before the first row."""
        return cls(np.full(d, np.nan), np.zeros(d, np.int64), np.zeros(d, np.int64))


@dataclass(frozen=True, eq=False)
class Sensors:
    """From how many rows on a column counts as frozen or missing."""

    frozen: IntArray  # (d,)
    missing: IntArray  # (d,)

    @classmethod
    def of(cls, X: Array, starts: npt.NDArray[np.bool_]) -> "Sensors":
        """Return the limits from training rows, which may hold NaN; starts is true where a segment of time begins."""
        equal, absent = run_lengths(X, starts)
        frozen = np.maximum(_FACTOR * equal.max(axis=0), _LEAST)
        kept = (equal > 1).sum(axis=0) > 0.5 * np.maximum((equal > 0).sum(axis=0), 1)
        few = np.array([len(np.unique(column[~np.isnan(column)])) <= _DISCRETE for column in X.T])
        return cls(np.where(kept | few, _NEVER, frozen), np.maximum(_FACTOR * absent.max(axis=0), _LEAST))

    def watch(self, X: Array, runs: Runs) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_], Runs]:
        """Return rows without frozen values, which columns are frozen and which missing for long, and the runs."""
        starts = np.zeros(len(X), bool)
        equal, absent = run_lengths(X, starts, runs)
        frozen, missing = equal >= self.frozen, absent >= self.missing
        after = Runs(X[-1].copy(), equal[-1].copy(), absent[-1].copy())
        return (np.where(frozen, np.nan, X) if frozen.any() else X), frozen, missing, after


def run_lengths(X: Array, starts: npt.NDArray[np.bool_], before: Runs | None = None) -> tuple[IntArray, IntArray]:
    """Return for how many rows each value has been the same, 0 where it is missing, and been missing, both (n, d)."""
    n, d = X.shape
    before = Runs.none(d) if before is None else before
    absent = np.isnan(X)
    changed = np.vstack([before.last, X[:-1]]) != X
    changed[starts] = True
    number = np.arange(n)[:, None]
    first = np.maximum.accumulate(np.where(changed, number, -before.equal), axis=0)
    anew = np.where(starts[:, None], number - 1, -1 - before.absent)
    present = np.maximum.accumulate(np.where(absent, anew, number), axis=0)
    return np.where(absent, 0, number - first + 1), number - present


def in_words(frozen: npt.NDArray[np.bool_], missing: npt.NDArray[np.bool_], names: list[str]) -> list[str]:
    """Return a text such as "missing: T3, T4; frozen: T5" per row; empty where all sensors work."""
    texts = [""] * len(frozen)
    for i in np.flatnonzero((frozen | missing).any(axis=1)).tolist():
        kinds = (("missing", missing[i]), ("frozen", frozen[i]))
        parts = [f"{kind}: {', '.join(names[j] for j in np.flatnonzero(row))}" for kind, row in kinds if row.any()]
        texts[i] = "; ".join(parts)
    return texts
