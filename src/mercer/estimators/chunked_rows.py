"""Rows that are too many for memory: files, and iterators of chunks, as `fit` of streaming estimators takes them."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.io.readers import chunks as file_chunks
from mercer.solvers.landmark.recent_rows import RecentRows

CHUNK_ROWS = 8192

Check = Callable[[Any, bool], Points]
"""Returns rows as a float matrix; True: they set the features, False: they need the features of the rows before."""


def is_chunked(X: Any) -> bool:
    """Tell whether X names files, or is an iterator of chunks."""
    return is_files(X) or isinstance(X, Iterator)


def is_files(X: Any) -> bool:
    """Tell whether X is the name of a file, or a sequence of such names; these can be read more than once."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(name, str | PathLike) for name in X)
    return isinstance(X, str | PathLike)


def refuse_chunks(X: Any) -> None:
    """Fail for an iterator or names of files where a matrix is needed, before anything is taken from it."""
    if is_chunked(X):
        raise ValueError(
            f"X is a {type(X).__name__}, not a matrix of rows. To learn from chunks, call partial_fit once for each "
            "chunk: for chunk in chunks: model.partial_fit(chunk)."
        )


def chunks_of(files: Any, names: list[str] | None = None) -> Iterator[Array]:
    """Yield the chunks of one or more files; the names of their columns are put into `names`, if given.

    Columns without numbers are left out. All files need the same columns.
    """
    known: tuple[str, ...] | None = None
    for number, file in enumerate(files if isinstance(files, list | tuple) else [files]):
        for table in file_chunks(file, CHUNK_ROWS, columns=known):
            if known is None and table.names is not None:
                known = table.names
                if names is not None:
                    names.extend(known)
            if number and known is None and table.names is not None:
                raise ValueError(f"{file} has names of columns; the files before it have none.")
            yield table.values


def examples_of(
    X: Any, most: int, rng: np.random.RandomState, names: list[str], check: Check
) -> tuple[Points, Iterator[Points]]:
    """Return rows to decide by, and the chunks of all rows: a sample of files, or the first rows of an iterator.

    All are checked, and chunks without rows are left out.
    """
    if is_files(X):
        examples = check(drawn_rows(chunks_of(X, names), most, rng), True)
        return examples, (check(chunk, False) for chunk in chunks_of(X) if len(chunk))
    chunks = _checked(X, check)
    first: list[Points] = []
    count = 0
    while count < most and (chunk := next(chunks, None)) is not None:
        first.append(chunk.copy())  # an iterator may fill the same array again
        count += n_rows(chunk)
    if not first:
        raise ValueError("The iterator gave no rows to learn from.")
    return RecentRows(first).stacked(), chain(first, chunks)


def _checked(chunks: Iterator[Any], check: Check) -> Iterator[Points]:
    """Yield the chunks that have rows; the first of them sets the features that the others need."""
    first = True
    for chunk in chunks:
        if not _is_empty(chunk):
            yield check(chunk, first)
            first = False


def _is_empty(chunk: Any) -> bool:
    """Tell whether a chunk has no rows; what has no length at all is left to the check."""
    return len(chunk) == 0 if isinstance(chunk, list | tuple) else np.shape(chunk)[:1] == (0,)


def drawn_rows(chunks: Iterable[Array], most: int, rng: np.random.RandomState) -> Array:
    """Return at most so many rows of all chunks, each equally likely, in their order."""
    keys: Array = np.empty(0)
    kept: Array | None = None
    for chunk in chunks:
        rows = np.asarray(chunk)
        _check_width(rows, kept)
        keys = np.concatenate([keys, rng.random_sample(len(rows))])
        kept = rows if kept is None else np.concatenate([kept, rows])
        best = np.sort(np.argsort(keys)[:most])
        keys, kept = keys[best], kept[best]
    if kept is None or not len(kept):
        raise ValueError("The files hold no rows to learn from.")
    return kept


def _check_width(rows: Array, first: Array | None) -> None:
    if first is not None and rows.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"A chunk has {' x '.join(map(str, rows.shape[1:]))} features; the first has {first.shape[-1]}. Files and "
            "chunks need the same columns in the same order."
        )
