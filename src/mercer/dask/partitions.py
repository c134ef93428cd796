"""The rows of a fit as partitions: delayed pieces that are checked where they are, with errors that name the place."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

from mercer.arrays import Array, is_sparse
from mercer.dask.allocation import memory_used_again
from mercer.errors import warn_user
from mercer.estimators.validation import masked_as_nan

_NUMBERS = "fiub"
_FEWEST_ROWS = 1000  # rows of a partition, where an ordinary array is divided
_ENCODE = "Every feature must be a number: encode text and categories first."
SAME_COLUMNS = "All partitions need the same columns in the same order."


Names = tuple[str, ...] | None
"""Names of the columns; None where they have none, or are not known yet."""


@dataclass(frozen=True)
class Partitions:
    """Delayed pieces of the rows, in order, with the names of the columns where they have any."""

    parts: list[Delayed]
    names: Names = None
    here: list[Any] | None = None  # the pieces themselves, where all of them are in this process

    def checked(self) -> list[Delayed]:
        """Return the pieces as checked matrices of floats, each with the names of its columns."""
        return self.calls(_with_names, [()] * len(self.parts), tell_names=True)

    def checked_here(self) -> Iterator[tuple[Array, Names]]:
        """Yield the checked pieces of this process, which then need not be sent to workers and back."""
        for number, piece in enumerate(self.here or ()):
            yield checked_rows(piece, number, self.names), self.names

    def calls(
        self, function: Callable[..., Any], more: Iterable[tuple[Any, ...]], tell_names: bool = False
    ) -> list[Delayed]:
        """Return function(rows, *more) of the checked rows of each piece, each as one task.

        With `tell_names` it is function(rows, names of the columns, *more): those of delayed pieces are known only
        where these are.
        """
        task = delayed(_on_checked, pure=False)
        shared = delayed(function, pure=False, traverse=False)
        pieces = zip(self.parts, more, strict=True)
        return [task(shared, part, number, self.names, own, tell_names) for number, (part, own) in enumerate(pieces)]


def is_stream(X: Any) -> bool:
    """Tell whether X is an iterator, whose chunks can be read once only."""
    return isinstance(X, Iterator)


class Chunks:
    """Checked copies of the chunks of an iterator, which may fill the same array again; the first sets the columns."""

    names: Names = None

    def __init__(self, chunks: Iterator[Any]) -> None:
        self._chunks = enumerate(chunks)
        self._width: int | None = None

    def __iter__(self) -> Iterator[Array]:
        """Yield the chunks that have rows."""
        for number, chunk in self._chunks:
            if isinstance(chunk, Delayed):
                raise TypeError("The iterator gave a delayed piece. Pass delayed pieces as a list.")
            rows = checked_rows(chunk, number, self.names)
            if not len(rows):
                continue
            if self._width is None:
                self._width, self.names = rows.shape[1], _names(chunk)
            if rows.shape[1] != self._width:
                raise ValueError(
                    f"Partition {number} (counted from 0) has {rows.shape[1]} columns; those before have {self._width}."
                    f" {SAME_COLUMNS}"
                )
            yield rows.copy()


def partitions_of(X: Any, pieces: int) -> Partitions:
    """Return the partitions of a Dask array or DataFrame, a sequence of delayed pieces or chunks, or an array.

    An array that is in memory already is divided into at most so many pieces.
    """
    if isinstance(X, Delayed):
        X = [X]
    if isinstance(X, da.Array):
        return Partitions(_blocks(X))
    if is_dask_collection(X) and hasattr(X, "columns"):
        _check_types(X)
        return Partitions(list(X.to_delayed()), _names(X))
    if is_stream(X) or is_pieces(X):
        return _of_pieces([_copied(piece) for piece in X] if is_stream(X) else X)
    return _divided(X, pieces)


def _of_pieces(given: Sequence[Any]) -> Partitions:
    if not given:
        raise ValueError("The iterator gave no rows to learn from.")
    hold = delayed(_itself, pure=False, traverse=False)
    parts = [piece if isinstance(piece, Delayed) else hold(piece) for piece in given]
    if any(isinstance(piece, Delayed) for piece in given):
        return Partitions(parts)
    return Partitions(parts, next(filter(None, map(_names, given)), None), list(given))


def _copied(piece: Any) -> Any:
    """Return a chunk of an iterator, which may fill the same array again."""
    return piece if isinstance(piece, Delayed) else copy(piece)


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
    if X.ndim != 2:
        raise ValueError("X must be a Dask DataFrame, with one row for each sample; it is a Series. Use X.to_frame().")
    texts = [str(name) for name, dtype in X.dtypes.items() if getattr(dtype, "kind", "O") not in _NUMBERS]
    if texts:
        raise ValueError(f"Columns of X hold no numbers: {', '.join(texts)}. {_ENCODE}")


def _names(X: Any) -> Names:
    """Return the names of the columns if there are some and all of them are texts."""
    names = tuple(getattr(X, "columns", ()))
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError(
            f"Some names of columns are texts and some are not: {_some(names)}. Make all of them texts, for example "
            "with X.columns = X.columns.astype(str)."
        )
    return names if any(texts) else None


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
    names, rows = _names(X), _values(X)
    if rows.ndim != 2:
        raise ValueError(f"Expected 2D array, got {rows.ndim}D array. Rows are samples and columns are features.")
    step = max(_FEWEST_ROWS, -(-len(rows) // max(1, pieces)))
    hold = delayed(_itself, pure=False, traverse=False)
    here = [rows[i : i + step] for i in range(0, max(len(rows), 1), step)]
    return Partitions([hold(piece) for piece in here], names, here)


_SPARSE = "Sparse rows were passed; mercer.dask needs dense ones. Use the class of the same name in mercer."


# -- where the rows are --------------------------------------------------------------------------------------------


def _on_checked(
    function: Callable[..., Any], piece: Any, number: int, names: Names, more: tuple[Any, ...], tell_names: bool
) -> Any:
    """Return what a function gives for the checked rows of a partition."""
    told = (names or _names(piece),) if tell_names else ()
    with memory_used_again():
        return function(checked_rows(piece, number, names), *told, *more)


def _with_names(rows: Array, names: Names) -> tuple[Array, Names]:
    return rows, names


def checked_rows(piece: Any, number: int, names: Names = None) -> Array:
    """Return the rows of a partition as a matrix of floats; float32 stays. Errors name the partition and the row."""
    if is_sparse(piece):
        raise TypeError(_SPARSE)
    columns = tuple(piece.columns) if hasattr(piece, "columns") else names
    check_names(number, columns, names)
    values = _values(piece)
    if values.ndim != 2:
        raise ValueError(
            f"Partition {number} (counted from 0) has {values.ndim} dimensions. Rows are samples, columns features."
        )
    if values.dtype.kind not in _NUMBERS:
        raise ValueError(f"Partition {number} (counted from 0) has values of type {values.dtype}. {_ENCODE}")
    if len(values) and not values.shape[1]:
        raise ValueError(f"Partition {number} (counted from 0) has rows without columns. Pass at least one column.")
    values = values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)
    _check_finite(values, number, columns)
    return values


def check_names(number: int, columns: tuple[Any, ...] | None, names: Names) -> None:
    """Fail if a partition has columns of other names than the others, where both have names."""
    if names and columns and columns != names:
        raise ValueError(
            f"Partition {number} (counted from 0) has the columns {_some(columns)}; the others have {_some(names)}. "
            f"{SAME_COLUMNS}"
        )


def _values(piece: Any) -> Array:
    """Return the cells of a table or an array; missing and masked ones are NaN."""
    if not hasattr(piece, "to_numpy"):
        return np.asarray(masked_as_nan(np.asanyarray(piece)))
    values: Array = piece.to_numpy()
    kinds = {getattr(dtype, "kind", "O") for dtype in getattr(piece, "dtypes", ())}
    if values.dtype == object and kinds <= set(_NUMBERS):  # columns of several types, or such that have missing values
        values = piece.to_numpy(np.float64, na_value=np.nan)
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
