"""Read rows from a file or from standard input, at once or in chunks that fit into memory."""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from gzip import BadGzipFile
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from mercer.arrays import Array
from mercer.errors import DataFileError
from mercer.io import npy
from mercer.io.delimited import file_chunks
from mercer.io.jsonlines import json_file
from mercer.io.parquet import parquet_chunks
from mercer.io.pipe import standard_input
from mercer.io.selection import Selection, settled
from mercer.io.table import Table, joined
from mercer.io.text import GZIP

__all__ = ["SUFFIXES", "DataFileError", "Selection", "Table", "chunks", "drawn", "read"]

Source = str | PathLike[str]
Columns = Sequence[str] | None
_CHUNK = 65_536  # rows of text converted at once: their Python objects take ten times the memory


def read(source: Source, *, columns: Columns = None, selection: Selection | None = None) -> Table:
    """Read all rows of a file into memory.

    The suffix determines the format: `.npy`, `.npz` (the array `X`, otherwise the only matrix, otherwise the one
    named as in `data.npz:key`), `.csv`, `.tsv`, `.txt`, `.parquet`, `.jsonl`, `.ndjson`, and the text formats
    followed by `.gz`. `-` is standard input, as text, JSON lines, `.npy` or Parquet. `columns` selects by name, in
    that order; `selection` has further options. Columns that hold no numbers are left out. Columns of the same name
    are made distinct as pandas does: a, a.1, a.2.
    """
    binary = fspath(source).partition(".npz:")[0].endswith((".npy", ".npz"))
    return joined(list(chunks(source, sys.maxsize if binary else _CHUNK, columns=columns, selection=selection)))


def chunks(
    source: Source, rows: int, *, columns: Columns = None, selection: Selection | None = None
) -> Iterator[Table]:
    """Read a file in chunks of the given number of rows, with about one chunk in memory at a time.

    A chunk has fewer rows, or none, where rows with missing cells are left out.
    """
    if rows < 1:
        raise ValueError(f"A chunk needs at least 1 row; got {rows}.")
    where = fspath(source)
    wanted = selection or Selection(None if columns is None else tuple(columns))
    first = 0
    for table in _undamaged(where, rows, wanted):
        numbered = replace(table, rows=np.arange(first, first + len(table)))
        first += len(table)
        yield settled(numbered, _shown(where), wanted.missing)
    if not first:
        raise DataFileError(f"{_shown(where)} holds no rows; at least one row of numbers is needed.")


def _undamaged(where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Yield the tables of a file; name it where its compressed bytes end too early or are damaged."""
    try:
        yield from _open(where, rows, selection)
    except (EOFError, BadGzipFile, zlib.error) as error:
        raise DataFileError(f"{_shown(where)} cannot be uncompressed: {error}. Copy or compress it again.") from None


def drawn(tables: Iterable[Table], rows: int, seed: int | None = None) -> Table:
    """Draw rows at random from chunks, every row equally likely, in their order."""
    if rows < 1:
        raise ValueError(f"A sample needs at least 1 row; got {rows}.")
    rng = np.random.default_rng(seed)
    kept: Table | None = None
    keys: Array = np.empty(0)
    for table in tables:
        keys = np.concatenate([keys, rng.random(len(table))])
        kept = table if kept is None else joined([kept, table])
        # The rows with the smallest random keys are a uniform sample for any division into chunks.
        best = np.sort(np.argsort(keys)[:rows])
        keys, kept = keys[best], kept[best]
    assert kept is not None  # chunks yields at least once or raises
    return kept


def row_count(source: Source) -> int | None:
    """Return the number of rows of a file: exact for NumPy and Parquet, estimated from the first lines for text.

    None where this is not known, as for standard input or compressed files.
    """
    file, key = _split_key(fspath(source))
    path = Path(file)
    kind = path.suffix.lower()
    try:
        if kind in (".npy", ".npz"):
            return npy.row_count(path, key)
        if kind == ".parquet":
            from pyarrow.parquet import ParquetFile

            return int(ParquetFile(path).metadata.num_rows)
        return _count_by_size(path) if kind in SUFFIXES else None
    except (OSError, ValueError, ImportError):
        return None  # the reader will report what is wrong


def _count_by_size(path: Path) -> int | None:
    """Estimate the number of lines from the size of the file and its first lines."""
    with path.open("rb") as stream:
        start = stream.read(1 << 16)
    lines = start.count(b"\n")
    return max(1, path.stat().st_size * lines // len(start)) if lines else None


def _open(where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Return the tables of a file by the reader for its suffix."""
    if where == "-":
        return standard_input(_shown(where), rows, selection)
    file, key = _split_key(where)
    path = Path(file)
    kind = _kind(path)
    if path.is_dir():
        raise FileNotFoundError(f"{where} is a folder; a file with data is needed. Name the file in it.")
    if kind not in SUFFIXES:
        advice = "Save the table as .csv, or use" if kind in _SPREADSHEETS else "Use"
        raise DataFileError(
            f"{where} has the suffix {path.suffix!r}, which is not known. "
            f"{advice} one of {', '.join(SUFFIXES)}, a text with .gz after it, or - for standard input."
        )
    if path.exists() and not path.is_file():  # files are read twice, which a pipe does not allow
        raise DataFileError(f"{path} is a pipe or a device; give it as standard input: - < {path}")
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; a file with data is needed. Check the path.")
    if key is not None:
        return npy.tables(npy.archived_rows(path, key, rows), where, selection)
    if path.suffix.lower() in _TEXTS:
        _check_is_text(path)
    return SUFFIXES[kind](path, rows, selection)


def _check_is_text(path: Path) -> None:
    """Fail if a file holds something else than the text that its name promises, judged by its first bytes."""
    with path.open("rb") as stream:
        start = stream.read(4)
    if start.startswith(GZIP):
        raise DataFileError(f"{path} is compressed by gzip; let its name end in .gz: {path.name}.gz")
    if start in _NO_TEXTS:
        raise DataFileError(f"{path} is {_NO_TEXTS[start]}, not a text. Save the table as .csv.")


def file_of(where: str) -> Path:
    """Return the path of the file of a source, without the name of an array within."""
    return Path(_split_key(where)[0])


def holds_rows(path: Path) -> bool:
    """Tell whether a file of this name is taken for one of rows."""
    return _kind(path) in SUFFIXES


def _kind(path: Path) -> str:
    """Return the suffix that determines the format; for compressed text, the one before .gz."""
    kind, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return inner if kind == ".gz" and inner in _TEXTS else kind


def _split_key(where: str) -> tuple[str, str | None]:
    """Separate the name of an array from the path of the .npz file that holds it."""
    file, colon, key = where.rpartition(":")
    return (file, key) if colon and file.lower().endswith(".npz") else (where, None)


def _shown(where: str) -> str:
    """Return the name of a source in messages."""
    return "Standard input" if where == "-" else where


_NO_TEXTS = {b"PK\x03\x04": "a spreadsheet or a zip archive", b"\xd0\xcf\x11\xe0": "a spreadsheet of Excel"}
_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods")


def _npy(path: Path, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream an .npy file."""
    return npy.tables(npy.mapped_rows(path, rows), str(path), selection)


def _npz(path: Path, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream the matrix of an .npz file."""
    return npy.tables(npy.archived_rows(path, None, rows), str(path), selection)


_TEXTS: dict[str, Callable[[Path, int, Selection], Iterator[Table]]] = {
    ".csv": file_chunks,
    ".tsv": file_chunks,
    ".txt": file_chunks,
    ".jsonl": json_file,
    ".ndjson": json_file,
}
SUFFIXES: dict[str, Callable[[Path, int, Selection], Iterator[Table]]] = {
    ".npy": _npy,
    ".npz": _npz,
    **_TEXTS,
    ".parquet": parquet_chunks,
}
