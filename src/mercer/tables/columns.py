"""Properties of the columns of a table, from one reading of its rows: means, spreads, and what a user should know."""

from collections.abc import Iterable, Sequence

import numpy as np

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.errors import DataFileError

_FEW = 8  # rows; among fewer than these a column of whole numbers can rise by chance
_MOST_OF_ALL = 0.9  # share of the variance of all columns; one column with more decides nearly alone


class ColumnSummary:
    """Counts, means, spreads and ranges of columns, computed by chunks of rows, without cells that are NaN."""

    def __init__(self) -> None:
        self._n = 0  # rows

    def update(self, X: Array) -> "ColumnSummary":
        """Add further rows, (n, d)."""
        X = np.asarray(X, np.float64)
        if not len(X):
            return self
        if not self._n:
            self._begin(X.shape[1])
        self._follow_order(X)
        self._n += len(X)
        self._add(X)
        return self

    def _begin(self, d: int) -> None:
        """Set all sums to zero for d columns."""
        self._count, self._mean, self._squares = np.zeros(d), np.zeros(d), np.zeros(d)
        self._low, self._high = np.full(d, np.inf), np.full(d, -np.inf)
        self._size = np.zeros(d)  # the largest absolute values: squares are in units of theirs, and do not overflow
        self._last: Array | None = None
        self._rises, self._falls = np.ones(d, bool), np.ones(d, bool)

    def _follow_order(self, X: Array) -> None:
        """Record which columns count up or down in whole numbers, without a repetition."""
        whole = (np.round(X) == X).all(axis=0)
        joined = X if self._last is None else np.vstack([self._last, X])
        self._rises &= whole & (joined[1:] > joined[:-1]).all(axis=0)
        self._falls &= whole & (joined[1:] < joined[:-1]).all(axis=0)
        self._last = X[-1:]

    def _add(self, X: Array) -> None:
        """Add rows to counts, means, squares and ranges."""
        there = ~np.isnan(X)
        count = there.sum(axis=0)
        low = np.where(there, X, np.inf).min(axis=0)
        high = np.where(there, X, -np.inf).max(axis=0)
        self._low, self._high = np.minimum(self._low, low), np.maximum(self._high, high)
        size = np.maximum(self._size, np.where(there, np.abs(X), 0.0).max(axis=0))
        unit = np.where(size > 0, size, 1.0)
        scaled = np.where(there, X, 0.0) / unit
        mean = scaled.sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(there, scaled - mean, 0.0) ** 2).sum(axis=0)
        total = np.maximum(self._count + count, 1)
        gap = mean - self._mean / unit
        self._squares = self._squares * (self._size / unit) ** 2 + squares + gap**2 * self._count * count / total
        self._mean = (self._mean / unit + gap * count / total) * unit
        self._count, self._size = self._count + count, size

    @property
    def n_rows(self) -> int:
        """The number of rows so far."""
        return self._n

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self._mean) if self._n else 0

    def filling(self, names: Sequence[str]) -> Array:
        """Return the mean of each column, which replaces missing cells; fail for a column without any value."""
        empty = [names[i] for i in map(int, np.flatnonzero(self._count == 0))]
        if empty:
            raise DataFileError(f"No row has a value in the column {', '.join(empty)}. Leave it out with --exclude.")
        return self._mean

    def scaling(self, kind: str | bool) -> Scaling:
        """Return the scaling of these columns: "variance", "soft", or False for none at all."""
        if not kind:
            return Scaling(np.zeros_like(self._mean), np.ones_like(self._mean))
        unit = np.sqrt(self._relative_variances()) * self._size
        if kind == "soft":
            half = 0.5 * (self._high / self._nonzero - self._low / self._nonzero)
            unit = np.sqrt(np.sqrt(self._relative_variances()) * half) * self._size
        rounding = 10 * np.finfo(np.float64).eps * np.abs(self._mean)
        return Scaling(self._mean, np.where(unit > rounding, unit, 1.0))

    @property
    def _nonzero(self) -> Array:
        """The largest absolute values, with 1 for columns of zeros."""
        return np.where(self._size > 0, self._size, 1.0)

    def _relative_variances(self) -> Array:
        """Return variances in units of the largest absolute values, squared."""
        return np.asarray(self._squares / np.maximum(self._count, 1))

    def constant(self) -> list[int]:
        """Return the columns that hold one value only."""
        return [] if not self._n else [int(i) for i in np.flatnonzero(self._low >= self._high)]

    def counting(self) -> list[int]:
        """Return the columns that count up or down in whole numbers from row to row, as row numbers and times do."""
        return [] if self._n < _FEW else [int(i) for i in np.flatnonzero(self._rises | self._falls)]

    def dominant(self) -> tuple[int, float] | None:
        """Return the column that has nearly all of the variance of three or more columns, and its share."""
        if not self._n or len(self._size) < 3 or not self._size.max() > 0:
            return None
        variances = self._relative_variances() * (self._size / self._size.max()) ** 2
        largest = int(np.argmax(variances))
        share = float(variances[largest] / max(variances.sum(), np.finfo(np.float64).tiny))
        return (largest, share) if share > _MOST_OF_ALL else None


def summary_of(chunks: Iterable[Array]) -> ColumnSummary:
    """Return the summary of all rows of some chunks."""
    summary = ColumnSummary()
    for X in chunks:
        summary.update(X)
    return summary
