"""Rows of a stream that wait until there are enough of them, each different row once."""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array, Points, n_rows, row_kinds, stack_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.solvers.exact.weighted import fit_weighted


@dataclass(frozen=True)
class WaitingRows:
    """Rows, and how often each of them has come."""

    rows: Points  # (n, d)
    counts: Array  # (n,)

    @property
    def total(self) -> int:
        """Return how many rows have come, with repetitions."""
        return int(self.counts.sum())

    def in_full(self) -> Points:
        """Return all rows that have come, equal ones together."""
        if self.total == len(self.counts):
            return self.rows
        return self.rows[np.repeat(np.arange(len(self.counts)), self.counts.astype(np.intp))]


def joined(before: WaitingRows | None, X: Points, *, merged: bool) -> WaitingRows:
    """Return the rows that waited and those of X; `merged`: each different row once, at its first place."""
    rows, counts = X, np.ones(n_rows(X))
    if before is not None:
        rows, counts = stack_rows(before.rows, X), np.concatenate([before.counts, counts])
    if not merged:
        return WaitingRows(rows, counts)
    kinds = row_kinds(rows)
    first = np.unique(kinds, return_index=True)[1]
    if len(first) == len(kinds):
        return WaitingRows(rows, counts)
    return WaitingRows(rows[first], np.bincount(kinds, weights=counts).astype(np.float64))


def exact_model(kernel: Kernel, waiting: WaitingRows, r: int, center: bool) -> Expansion:
    """Return exact kernel PCA of all rows that have come, on the different ones as points."""
    repeated = waiting.total > len(waiting.counts)
    return fit_weighted(kernel, waiting.rows, waiting.counts if repeated else None, r, center)
