"""Rows read from a file, and the shape and number type that all readers convert them to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.errors import DataFileError

Texts = npt.NDArray[np.object_]


def _no_rows() -> IntArray:
    """Return an empty array of row numbers."""
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers, the names of their columns where the file has them, and further cells of each row."""

    values: Array  # (n, d)
    names: tuple[str, ...] | None = None
    kept: Texts | None = None  # (n, k): cells of the columns to keep, such as ids, as the file has them
    kept_names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # columns that hold no numbers
    columns: tuple[str, ...] = ()  # what a user calls the columns: their names, or their positions in the file
    rows: IntArray = field(default_factory=_no_rows)  # (n,): number of each row in the file, from 0
    dropped: IntArray = field(default_factory=_no_rows)  # numbers of the rows with missing cells that are not here

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, part: Any) -> "Table":
        """Return some of the rows with all their cells."""
        kept = None if self.kept is None else self.kept[part]
        return replace(self, values=self.values[part], kept=kept, rows=self.rows[part] if len(self.rows) else self.rows)


def joined(tables: Sequence[Table]) -> Table:
    """Return one table with the rows of tables of the same columns, one below the other."""
    if len(tables) == 1:
        return tables[0]
    kept = [table.kept for table in tables if table.kept is not None]
    return replace(
        tables[0],
        values=np.concatenate([table.values for table in tables]),
        kept=np.concatenate(kept) if kept else None,
        rows=np.concatenate([table.rows for table in tables]),
        dropped=np.concatenate([table.dropped for table in tables]),
    )


def as_rows(values: npt.NDArray[Any], where: str) -> Array:
    """Return the values as a matrix in native floating point: float32 stays, other numbers become float64."""
    if values.ndim != 2:
        raise DataFileError(
            f"{where} has the shape {values.shape}; a matrix with one sample per row is needed. "
            "Save X.reshape(len(X), -1) instead."
        )
    if values.dtype.kind not in "fiub":
        raise DataFileError(f"{where} holds values of type {values.dtype}; numbers are needed. Convert it first.")
    # A copy in all cases: mapped files and buffers are read-only and may be closed.
    return np.array(values, dtype=float_type(values.dtype), order="C")


def float_type(dtype: npt.DTypeLike) -> type[np.floating[Any]]:
    """Choose the floating point type that numbers of this type are read as."""
    return np.float32 if np.dtype(dtype).newbyteorder("=") == np.float32 else np.float64


def rebatch(pieces: Iterable[Table], rows: int) -> Iterator[Table]:
    """Divide pieces of any length into chunks of the given number of rows; only the last may be shorter."""
    kept: list[Table] = []
    count = 0
    for piece in pieces:
        start = 0
        while len(piece) - start >= rows - count:
            stop = start + rows - count
            yield joined([*kept, piece[start:stop]])
            kept, count, start = [], 0, stop
        if start < len(piece):
            kept.append(piece[start:])
            count += len(piece) - start
    if kept:
        yield joined(kept)
