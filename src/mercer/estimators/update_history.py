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
    """Records of the updates of a stream, one per update, in bounded memory.

    With more than 10,000 records only every second one is kept, then every fourth, and so on, and always the newest.

    Parameters
    ----------
    columns : mapping of str to array-like or None, default=None
        Columns as `arrays` returns them, to continue from. None: no records yet.

    Examples
    --------
    >>> from mercer.estimators.update_history import UpdateHistory
    >>> history = UpdateHistory().extended([(30, 0.5, 0.1, 30, 0.2), (60, 0.4, 0.1, 50, 0.1)])
    >>> history.arrays()["n_seen"].tolist()
    [30, 60]
    """

    def __init__(self, columns: Mapping[str, Any] | None = None) -> None:
        columns = {name: [] for name in ("update", *_NAMES)} if columns is None else columns
        self._columns = {name: np.asarray(columns[name]).tolist() for name in ("update", *_NAMES)}
        self._stride = _stride_of(self._columns["update"])

    def extended(self, records: Iterable[Record]) -> "UpdateHistory":
        """Return the history with further records; this one stays as it is.

        Parameters
        ----------
        records : iterable of tuple
            Records (n_seen, residual, seconds, points, distance), in the order of the updates.

        Returns
        -------
        UpdateHistory
            A new history.
        """
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
        """Return the columns by name.

        Returns
        -------
        dict of ndarray
            The columns "update", "n_seen", "residual", "seconds", "points" and "distance", with one value per record.
        """
        return {name: np.asarray(values, int if name in _WHOLE else float) for name, values in self._columns.items()}


def _stride_of(numbers: list[int]) -> int:
    return int(numbers[0]) if numbers else 1  # the updates kept are the multiples of it
