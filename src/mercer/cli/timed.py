"""Rows with their times, as texts of a file tell them."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.errors import DataFileError
from mercer.io.readers import Table
from mercer.io.selection import cut

Times = npt.NDArray[Any]  # (n,), datetime64[ns]


class TimedRows(np.ndarray[Any, Any]):
    """Rows that have an index of times, as a data frame has, so that pandas is not needed."""

    index: Any


def timed(rows: Array, times: Times | None) -> Any:
    """Return rows that a monitor finds the times of."""
    if times is None:
        return rows
    found = np.asarray(rows).view(TimedRows)
    found.index = SimpleNamespace(values=times)
    return found


def times_of(table: Table, n_columns: int, before: str | None = None) -> Times | None:
    """Return the times of rows from their last kept columns; several columns, such as date and hour, are joined.

    `before` is the time of the row before the table, if there is one.
    """
    if not n_columns or table.kept is None:
        return None
    texts = [" ".join(cells) for cells in table.kept[:, -n_columns:].tolist()]
    read = [_time(text, int(row), table) for text, row in zip(texts, table.rows, strict=True)]
    if before is not None:
        texts, read = [before, *texts], [_time(before, int(table.rows[0]) - 1, table), *read]
    first = len(texts) - len(table)
    times = np.array(read, "datetime64[us]").astype("datetime64[ns]")
    earlier = np.flatnonzero(times[1:] < times[:-1])
    if len(earlier):
        at = int(earlier[0]) + 1
        raise DataFileError(
            f"Row {table.rows[at - first]} (counted from 0) has the time {cut(texts[at])}, but the row before it has "
            f"{cut(texts[at - 1])}. A monitor needs rows in the order of time. Sort the file by time first."
        )
    return times[first:]


def _time(text: str, row: int, table: Table) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise DataFileError(
            f"Row {row} (counted from 0) has the time '{cut(text)}' in column {table.kept_names[-1]!r}; times such as "
            "2024-05-31 or 2024-05-31 12:30:00 are needed. To copy the column only, use --id."
        ) from error
    return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
