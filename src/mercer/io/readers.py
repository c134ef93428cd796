"""Read rows from a file or from standard input, at once or in chunks that fit into memory."""

import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataFileError
from mercer.io import npy
from mercer.io.delimited import file_chunks, line_chunks
from mercer.io.jsonlines import json_file, json_lines
from mercer.io.parquet import parquet_chunks
from mercer.io.table import Table

__all__ = ["SUFFIXES", "DataFileError", "Table", "chunks", "read", "sample"]

Source = str | PathLike[str]
Columns = Sequence[str] | None
_CHUNK = 65_536  # text is converted by so many rows, as their Python objects take ten times the room


def read(source: Source, *, columns: Columns = None) -> Table:
    """Read all rows of a file into memory.

    The kind of file is told by its suffix: `.npy`, `.npz` (the array `X`, else the only matrix, else the one
    named as in `data.npz:key`), `.csv`, `.tsv`, `.txt`, `.parquet`, `.jsonl`, `.ndjson`; `-` is standard
    input, as text, JSON lines or `.npy`. `columns` selects by name, in that order, where a file has names.
    """
    binary = fspath(source).partition(".npz:")[0].endswith((".npy", ".npz"))
    tables = list(chunks(source, sys.maxsize if binary else _CHUNK, columns=columns))
    if len(tables) == 1:
        return tables[0]
    return Table(np.concatenate([table.values for table in tables]), tables[0].names)


def chunks(source: Source, rows: int, *, columns: Columns = None) -> Iterator[Table]:
    """Read a file in chunks of the given number of rows, holding no more than about one at a time."""
    if rows < 1:
        raise ValueError(f"A chunk of {rows} rows was asked for; it needs at least 1.")
    where = fspath(source)
    empty = True
    for table in _open(where, rows, columns):
        empty = False
        yield table
    if empty:
        raise DataFileError(f"{_shown(where)} holds no rows; at least one row of numbers is needed.")


def sample(source: Source, rows: int, *, columns: Columns = None, seed: int | None = None) -> Table:
    """Draw rows at random from a file of any length, every row equally likely, in the order of the file."""
    if rows < 1:
        raise ValueError(f"A sample of {rows} rows was asked for; it needs at least 1.")
    rng = np.random.default_rng(seed)
    kept: Array | None = None
    names: tuple[str, ...] | None = None
    keys = np.empty(0)
    for table in chunks(source, max(rows, 4096), columns=columns):
        keys = np.concatenate([keys, rng.random(len(table.values))])
        kept = table.values if kept is None else np.concatenate([kept, table.values])
        # The rows with the smallest of random keys are a uniform sample, whatever the chunks.
        best = np.sort(np.argsort(keys)[:rows])
        keys, kept, names = keys[best], kept[best], table.names
    assert kept is not None  # chunks yields at least once or raises
    return Table(kept, names)


def _open(where: str, rows: int, columns: Columns) -> Iterator[Table]:
    if where == "-":
        return _standard_input(rows, columns)
    file, key = _split_key(where)
    path = Path(file)
    if path.suffix.lower() not in SUFFIXES:
        raise DataFileError(
            f"{where} has the suffix {path.suffix!r}, which is not known. "
            f"Use one of {', '.join(SUFFIXES)}, or - for standard input."
        )
    if not path.is_file():
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"{path} {kind}; a file with data is needed. Check the path.")
    if key is not None:
        return map(Table, npy.archived_rows(path, key, rows))
    return SUFFIXES[path.suffix.lower()](path, rows, columns)


def _split_key(where: str) -> tuple[str, str | None]:
    """Separate the name of an array from the path of the .npz file that holds it."""
    file, colon, key = where.rpartition(":")
    return (file, key) if colon and file.lower().endswith(".npz") else (where, None)


def _shown(where: str) -> str:
    return "Standard input" if where == "-" else where


def _npy(path: Path, rows: int, columns: Columns) -> Iterator[Table]:
    return map(Table, npy.mapped_rows(path, rows))


def _npz(path: Path, rows: int, columns: Columns) -> Iterator[Table]:
    return map(Table, npy.archived_rows(path, None, rows))


def _standard_input(rows: int, columns: Columns) -> Iterator[Table]:
    """Tell .npy, JSON lines and separated text apart by their first bytes."""
    stream = sys.stdin.buffer
    start = stream.read(len(npy.MAGIC))
    if start == npy.MAGIC:
        yield from map(Table, npy.stream_rows(stream, _shown("-"), rows))
        return
    start += stream.readline()
    lines = (line.decode("utf-8", "replace") for line in chain(start.splitlines(keepends=True), stream))
    if start.removeprefix(BOM_UTF8).lstrip()[:1] in (b"[", b"{"):
        yield from json_lines(_without_mark(lines), _shown("-"), rows, columns)
    else:
        yield from line_chunks(_without_mark(lines), _shown("-"), rows, columns)


def _without_mark(lines: Iterator[str]) -> Iterator[str]:
    """Drop the byte order mark that some programs put before the first line."""
    for first in lines:
        yield first.removeprefix("\ufeff")
        break
    yield from lines


SUFFIXES: dict[str, Callable[[Path, int, Columns], Iterator[Table]]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": file_chunks,
    ".tsv": file_chunks,
    ".txt": file_chunks,
    ".parquet": parquet_chunks,
    ".jsonl": json_file,
    ".ndjson": json_file,
}
