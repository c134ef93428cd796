"""Training rows that are judged again: by the model that was not fitted to them.

All models but one have learned a training row, and a model with many components explains every row that it has learned.
So a row with exactly the numbers of a training row gets the scores of the model of its own fold. Rows that occur more
than once in training are judged like new ones, because every model has learned one of their copies.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray

_CELLS_AT_ONCE = 2**20
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # constants of SplitMix64

Marks = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Training rows, each as one number that is made of all its bits, and their scores by models without them."""

    marks: Marks  # (m,), ascending
    scores: Array  # (m, 2 or 3)

    @classmethod
    def of(cls, X: Array, held: IntArray, scores: Array) -> "KnownRows":
        """Return the rows X[held] with their scores; those that occur once in X."""
        marks, first, counts = np.unique(_marks(X), return_index=True, return_counts=True)
        place = np.full(len(X), -1)
        place[held] = np.arange(len(held))
        place = place[first]
        kept = (counts == 1) & (place >= 0)
        return cls(marks[kept], scores[place[kept]])

    def in_place_of(self, each: Array, X: Array) -> Array:
        """Return scores by every model, (models, n, 2 or 3), with those of rows that are known replaced."""
        if not len(self.marks):
            return each
        marks = _marks(X)
        place = np.minimum(np.searchsorted(self.marks, marks), len(self.marks) - 1)
        known = self.marks[place] == marks
        return np.where(known[:, None], self.scores[place], each) if known.any() else each

    def state(self) -> list[Any]:
        """Return plain arrays for a file."""
        return [self.marks.view(np.int64), self.scores]

    @classmethod
    def from_state(cls, state: list[Any]) -> "KnownRows":
        """Return what `state` described."""
        return cls(np.asarray(state[0], np.int64).view(np.uint64), np.asarray(state[1]))


def _marks(X: Array) -> Marks:
    """Return one number of 64 bits per row; rows that differ have different ones, except by a chance of 2^-64."""
    marks = np.empty(len(X), np.uint64)
    keys = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(_STEP)
    at_once = max(1, _CELLS_AT_ONCE // X.shape[1])
    for start in range(0, len(X), at_once):
        cells = np.ascontiguousarray(X[start : start + at_once] + 0.0, np.float64).view(np.uint64)  # no -0.0
        marks[start : start + at_once] = _mixed(cells + keys).sum(axis=1, dtype=np.uint64)
    return marks


def _mixed(numbers: Marks) -> Marks:
    """Return numbers in which every bit depends on every bit of the given ones, as SplitMix64 does."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(_FIRST)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(_SECOND)
    return numbers ^ (numbers >> np.uint64(31))
