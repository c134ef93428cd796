"""Rows that are too many for memory: files, and iterators of chunks, as `fit` of streaming estimators takes them."""

from collections.abc import Iterable, Iterator
from itertools import chain
from os import PathLike
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.io.readers import chunks as file_chunks

CHUNK_ROWS = 8192


def is_chunked(X: Any) -> bool:
    """Tell whether X names files, or is an iterator of chunks."""
    return is_files(X) or isinstance(X, Iterator)


def is_files(X: Any) -> bool:
    """Tell whether X is the name of a file, or a sequence of such names; these can be read more than once."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(name, str | PathLike) for name in X)
    return isinstance(X, str | PathLike)


def chunks_of(X: Any, names: list[str] | None = None) -> Iterator[Array]:
    """Yield the chunks of files or of an iterator; the names of the files' columns are put into `names`, if given.

    Columns without numbers are left out. All files need the same columns.
    """
    if not is_files(X):
        yield from X
        return
    known: tuple[str, ...] | None = None
    for number, file in enumerate(X if isinstance(X, list | tuple) else [X]):
        for table in file_chunks(file, CHUNK_ROWS, columns=known):
            if known is None and table.names is not None:
                known = table.names
                if names is not None:
                    names.extend(known)
            if number and known is None and table.names is not None:
                raise ValueError(f"{file} has names of columns; the files before it have none.")
            yield table.values


def examples_of(X: Any, most: int, rng: np.random.RandomState, names: list[str]) -> tuple[Array, Iterator[Array]]:
    """Return rows to decide by, and the chunks of all rows: a sample of files, or the first rows of an iterator."""
    if is_files(X):
        return drawn_rows(chunks_of(X, names), most, rng), chunks_of(X)
    chunks: Iterator[Array] = iter(X)
    first: list[Array] = []
    count = 0
    while count < most and (chunk := next(chunks, None)) is not None:
        first.append(np.asarray(chunk))
        _check_width(first[-1], first[0])
        count += len(first[-1])
    if not count:
        raise ValueError("The iterator gave no rows to learn from.")
    return np.concatenate([rows for rows in first if len(rows)]), chain(first, chunks)


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
        raise ValueError("The files or chunks hold no rows to learn from.")
    return kept


def _check_width(rows: Array, first: Array | None) -> None:
    if first is not None and rows.shape[1:] != first.shape[1:]:
        raise ValueError(
            f"A chunk has {' x '.join(map(str, rows.shape[1:]))} features; the first has {first.shape[-1]}. Files and "
            "chunks need the same columns in the same order."
        )
