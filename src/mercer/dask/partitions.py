"""The rows of a fit as partitions: delayed pieces that are checked where they are, with errors that name the place."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

from mercer.arrays import Array, is_sparse
from mercer.dask.allocation import memory_used_again
from mercer.errors import warn_user

_NUMBERS = "fiub"
_FEWEST_ROWS = 1000  # rows of a partition, where an ordinary array is divided
_ENCODE = "Every feature must be a number: encode text and categories first."


@dataclass(frozen=True)
class Partitions:
    """Delayed pieces of the rows, in order, with the names of the columns where they have any."""

    parts: list[Delayed]
    names: tuple[str, ...] | None = None
    here: list[Any] | None = None  # the pieces themselves, where all of them are in this process

    def checked(self) -> list[Delayed]:
        """Return the pieces as checked matrices of floats."""
        check = delayed(checked_rows, pure=False)
        return [check(part, number, self.names) for number, part in enumerate(self.parts)]

    def checked_here(self) -> Iterator[Array]:
        """Yield the checked pieces of this process, which then need not be sent to workers and back."""
        for number, piece in enumerate(self.here or ()):
            yield checked_rows(piece, number, self.names)

    def calls(self, function: Callable[..., Any], more: Iterable[tuple[Any, ...]]) -> list[Delayed]:
        """Return function(rows, *more) of the checked rows of each piece, each as one task."""
        task = delayed(_on_checked, pure=False)
        shared = delayed(function, pure=False, traverse=False)
        pieces = zip(self.parts, more, strict=True)
        return [task(shared, part, number, self.names, own) for number, (part, own) in enumerate(pieces)]


def is_stream(X: Any) -> bool:
    """Tell whether X is an iterator, whose chunks can be read once only."""
    return isinstance(X, Iterator)


def partitions_of(X: Any, pieces: int) -> Partitions:
    """Return the partitions of a Dask array or DataFrame, a sequence of delayed pieces or chunks, or an array.

    An array that is in memory already is divided into at most so many pieces.
    """
    if isinstance(X, da.Array):
        return Partitions(_blocks(X))
    if is_dask_collection(X) and hasattr(X, "dtypes"):
        _check_types(X)
        return Partitions(list(X.to_delayed()), _names(X))
    if isinstance(X, Delayed):
        return Partitions([X])
    if is_stream(X) or is_pieces(X):
        hold = delayed(_itself, pure=False, traverse=False)
        given = list(X)
        if not given:
            raise ValueError("The iterator gave no rows to learn from.")
        here = None if any(isinstance(piece, Delayed) for piece in given) else given
        return Partitions([piece if isinstance(piece, Delayed) else hold(piece) for piece in given], here=here)
    return _divided(X, pieces)


def _blocks(X: da.Array) -> list[Delayed]:
    if X.ndim != 2:
        raise ValueError(
            f"X must be a Dask array with 2 dimensions; it has {X.ndim}. Rows are samples and columns are features."
        )
    if X.dtype.kind not in _NUMBERS:
        raise ValueError(f"X is a Dask array of type {X.dtype}. {_ENCODE}")
    return [row[0] for row in whole_rows(X).to_delayed()]


def whole_rows(X: da.Array) -> da.Array:
    """Return the array with all columns of a row in one chunk; warn if they were not."""
    if X.numblocks[1] == 1:
        return X
    warn_user(
        f"The columns of X are in {X.numblocks[1]} chunks and are brought together: kernel values need whole rows. "
        "Use X.rechunk({1: -1}) before, or read the data by rows."
    )
    return X.rechunk({1: -1})


def _check_types(X: Any) -> None:
    texts = [str(name) for name, dtype in X.dtypes.items() if getattr(dtype, "kind", "O") not in _NUMBERS]
    if texts:
        raise ValueError(f"Columns of X hold no numbers: {', '.join(texts)}. {_ENCODE}")


def _names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns if all of them are texts."""
    names = tuple(X.columns)
    return names if all(isinstance(name, str) for name in names) else None


def is_pieces(X: Any) -> bool:
    """Tell whether X is a sequence of delayed pieces, or of matrices."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(map(_is_piece, X))


def _is_piece(piece: Any) -> bool:
    return isinstance(piece, Delayed) or len(getattr(piece, "shape", ())) == 2


def _itself(piece: Any) -> Any:
    return piece


def _divided(X: Any, pieces: int) -> Partitions:
    """Return an array in memory, or what can be made one, as some pieces."""
    if is_sparse(X):
        raise TypeError(_SPARSE)
    names = _names(X) if hasattr(X, "columns") else None
    rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"Expected 2D array, got {rows.ndim}D array. Rows are samples and columns are features.")
    step = max(_FEWEST_ROWS, -(-len(rows) // max(1, pieces)))
    hold = delayed(_itself, pure=False, traverse=False)
    here = [rows[i : i + step] for i in range(0, max(len(rows), 1), step)]
    return Partitions([hold(piece) for piece in here], names, here)


_SPARSE = "Sparse rows were passed; mercer.dask needs dense ones. Use the class of the same name in mercer."


# -- where the rows are --------------------------------------------------------------------------------------------


def _on_checked(
    function: Callable[..., Any], piece: Any, number: int, names: tuple[str, ...] | None, more: tuple[Any, ...]
) -> Any:
    """Return what a function gives for the checked rows of a partition."""
    with memory_used_again():
        return function(checked_rows(piece, number, names), *more)


def checked_rows(piece: Any, number: int, names: tuple[str, ...] | None = None) -> Array:
    """Return the rows of a partition as a matrix of floats; float32 stays. Errors name the partition and the row."""
    if is_sparse(piece):
        raise TypeError(_SPARSE)
    columns = tuple(piece.columns) if hasattr(piece, "columns") else None
    if names is not None and columns is not None and columns != names:
        raise ValueError(
            f"Partition {number} (counted from 0) has the columns {_some(columns)}; the others have {_some(names)}. "
            "All partitions need the same columns in the same order."
        )
    values = piece.to_numpy() if hasattr(piece, "to_numpy") else np.asarray(piece)
    if values.ndim != 2:
        raise ValueError(
            f"Partition {number} (counted from 0) has {values.ndim} dimensions. Rows are samples, columns features."
        )
    if values.dtype.kind not in _NUMBERS:
        raise ValueError(f"Partition {number} (counted from 0) has values of type {values.dtype}. {_ENCODE}")
    values = values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)
    _check_finite(values, number, columns)
    return values


def _check_finite(values: Array, number: int, columns: tuple[Any, ...] | None) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # the quick answer for nearly all partitions
            return
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        row, column = wrong[0]
        name = f"column {columns[column]!r}" if columns is not None else f"column {column}"
        what = "NaN" if np.isnan(values[row, column]) else "infinity"
        raise ValueError(
            f"Partition {number}, row {row}, {name} (counted from 0, rows within the partition) contains {what}. Fill "
            "in such cells or drop their rows."
        )


def _some(names: Iterable[Any], most: int = 8) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:most]) + (f", ... ({len(shown)} in all)" if len(shown) > most else "")
