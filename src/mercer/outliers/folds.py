"""Parts of the rows that are held out one after the other; in a series, with a distance to the rows learned from."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.outliers.dependence import correlation_times

_TIMES = 2.0  # autocorrelation times after which rows count as independent
_SHARE = 0.2  # of all rows: the longest gap
SPLIT = 0.5  # share of the rows that "split" keeps for the limits
_ENOUGH = 200  # rows that tell well what a large value of a statistic is


def held_out_parts(X: Array, order: IntArray, n_folds: int, calibration: str) -> list[tuple[IntArray, IntArray]]:
    """Return for every fold its rows, and the rows that its model is fitted to; `order` is one at random.

    The calibration is "cv+", "blocked" (contiguous parts) or "split" (one part).
    """
    everything = np.arange(len(X))
    n_folds = min(n_folds, len(X))
    if calibration == "blocked":
        return [(everything[held], rest) for held, rest in contiguous_folds(len(X), n_folds, gap_of(X))]
    one = [order[: _split_size(len(X))]]
    parts = one if calibration == "split" else np.array_split(order, n_folds)
    return [(held, np.delete(everything, held)) for held in parts]


def inner_parts(order: IntArray, n_folds: int) -> list[tuple[IntArray, IntArray]]:
    """Return parts, as `held_out_parts` does, of the rows that the model of "split" is fitted to; `order` is the same.

    As many as hold the rows that units need; none where there are fewer than 2 rows to divide.
    """
    rows = order[_split_size(len(order)) :]
    if len(rows) < 2:
        return []
    parts = np.array_split(np.arange(len(rows)), min(n_folds, len(rows)))
    used = parts[: -(-_ENOUGH // len(parts[0]))]
    return [(rows[held], np.delete(rows, held)) for held in used]


def _split_size(n: int) -> int:
    """Return how many of n rows "split" keeps for the limits."""
    return max(1, int(SPLIT * n))


def gap_of(X: Array) -> int:
    """Return how many rows to leave out on both sides of a held-out part: as many as the dependence lasts."""
    typical = float(np.median(correlation_times(X))) if X.shape[1] else 1.0
    return int(min(np.ceil(_TIMES * typical), _SHARE * len(X)))


def contiguous_folds(n: int, n_folds: int, gap: int) -> Iterator[tuple[slice, IntArray]]:
    """Yield the held-out rows and the rows to learn from; at least half of all rows are learned from."""
    edges = np.linspace(0, n, n_folds + 1).round().astype(int)
    for first, last in pairwise(edges):
        least = min(n // 2, n - (last - first))
        margin = gap
        while margin and max(first - margin, 0) + max(n - last - margin, 0) < least:
            margin -= 1
        learned = np.concatenate([np.arange(max(first - margin, 0)), np.arange(min(last + margin, n), n)])
        yield slice(int(first), int(last)), learned
