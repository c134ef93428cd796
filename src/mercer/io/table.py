"""Rows read from a file, and the shape and number type that every reader brings them to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.errors import DataFileError


@dataclass(frozen=True)
class Table:
    """Rows of numbers, and the names of their columns where the file has them."""

    values: Array  # (n, d)
    names: tuple[str, ...] | None = None


def positions(where: str, names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """Find the wanted columns among the names of a file."""
    missing = [column for column in columns if column not in names]
    if missing:
        raise DataFileError(
            f"{where} has no column {', '.join(map(repr, missing))}; it has {', '.join(names)}. "
            "Add what is missing or name other columns."
        )
    return [list(names).index(column) for column in columns]


def as_rows(values: npt.NDArray[Any], where: str) -> Array:
    """Return the values as a matrix in native floating point: float32 stays, other numbers become float64."""
    if values.ndim != 2:
        raise DataFileError(
            f"{where} has the shape {values.shape}; a matrix with one sample a row is needed. "
            "Save X.reshape(len(X), -1) instead."
        )
    if values.dtype.kind not in "fiub":
        raise DataFileError(f"{where} holds values of type {values.dtype}; numbers are needed. Convert it first.")
    # A copy even where none seems needed: mapped files and buffers are read-only and can vanish.
    return np.array(values, dtype=float_type(values.dtype), order="C")


def float_type(dtype: npt.DTypeLike) -> type[np.floating[Any]]:
    """Choose the floating point type that numbers of this type are read as."""
    return np.float32 if np.dtype(dtype).newbyteorder("=") == np.float32 else np.float64


def rebatch(pieces: Iterable[Array], rows: int) -> Iterator[Array]:
    """Cut pieces of any length into chunks of the given number of rows; only the last may be shorter."""
    kept: list[Array] = []
    count = 0
    for piece in pieces:
        start = 0
        while len(piece) - start >= rows - count:
            stop = start + rows - count
            yield np.concatenate([*kept, piece[start:stop]]) if kept else piece[start:stop]
            kept, count, start = [], 0, stop
        if start < len(piece):
            kept.append(piece[start:])
            count += len(piece) - start
    if kept:
        yield np.concatenate(kept)
