"""What the updates of a stream did, in a record whose size is bounded."""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np

from mercer.arrays import Array

_NAMES = ("n_seen", "residual", "seconds", "points", "distance")
_WHOLE = ("update", "n_seen", "points")
_MOST = 10_000

Record = tuple[int, float, float, int, float]


class UpdateHistory:
    """One record an update; of very many only every second, fourth, ... and always the newest."""

    def __init__(self, columns: Mapping[str, Any] | None = None) -> None:
        columns = {name: [] for name in ("update", *_NAMES)} if columns is None else columns
        self._columns = {name: np.asarray(columns[name]).tolist() for name in ("update", *_NAMES)}
        self._stride = _stride_of(self._columns["update"])

    def extended(self, records: Iterable[Record]) -> "UpdateHistory":
        """Return the history with further records, in the order of the columns; this one stays as it is."""
        longer = copy(self)
        longer._columns = {name: values.copy() for name, values in self._columns.items()}
        longer._append(records)
        return longer

    def _append(self, records: Iterable[Record]) -> None:
        for record in records:
            numbers = self._columns["update"]
            last = numbers[-1] if numbers else 0
            if last % self._stride:  # it was there only as the newest
                self._keep(slice(None, -1))
            if len(numbers) >= _MOST:
                self._stride *= 2
                self._keep(slice(1, None, 2))
            for column, value in zip(self._columns.values(), (last + 1, *record), strict=True):
                column.append(value)

    def _keep(self, part: slice) -> None:
        for column in self._columns.values():
            column[:] = column[part]

    def arrays(self) -> dict[str, Array]:
        """Return the columns by name."""
        return {name: np.asarray(values, int if name in _WHOLE else float) for name, values in self._columns.items()}


def _stride_of(numbers: list[int]) -> int:
    return int(numbers[0]) if numbers else 1  # the updates kept are the multiples of it
