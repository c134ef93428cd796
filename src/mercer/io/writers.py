"""Write rows to a file or to standard output, chunk by chunk, without keeping them all in memory."""

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy_format

from mercer.errors import DataFileError, MissingExtraError
from mercer.io.whole_file import check_folder_of, whole_file

Values = npt.NDArray[Any]  # (n, d), one chunk
Names = Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Labelled:
    """A chunk of rows with labels before the numbers, such as ids."""

    labels: tuple[npt.NDArray[Any], ...]  # each (n,): whole numbers or texts
    values: Values

    @property
    def columns(self) -> list[npt.NDArray[Any]]:
        """All columns, labels first."""
        return [*self.labels, *self.values.T]


def write(target: str | PathLike[str], chunks: Iterable[Values | Labelled], names: Names = None) -> int:
    """Write chunks of rows one after the other and return the number of rows.

    The suffix determines the format: `.npy`, `.csv`, `.tsv`, `.parquet`, `.jsonl`, `.ndjson`; `-` writes
    comma-separated text to standard output. A file appears only when it is complete.
    """
    where = fspath(target)
    labelled = (chunk if isinstance(chunk, Labelled) else Labelled((), chunk) for chunk in chunks)
    if where == "-":
        if sys.stdout is None:  # as where a program starts a command without one
            raise DataFileError("Standard output is closed; name a file with --out.")
        return _text(sys.stdout.buffer, labelled, names)
    path = check_target(where)
    with complete_or_nothing(path) as stream:
        return SUFFIXES[path.suffix.lower()](stream, labelled, names)


def check_target(where: str) -> Path:
    """Check whether a file of this name can be written, before a long computation."""
    path = Path(where)
    if path.suffix.lower() not in SUFFIXES:
        raise DataFileError(
            f"{where} has the suffix {path.suffix!r}, which cannot be written. "
            f"Use one of {', '.join(SUFFIXES)}, or - for standard output."
        )
    check_folder_of(path)
    return path


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[IO[bytes]]:
    """Write to a temporary file, and rename it to the path after success."""
    if path.exists() and not path.is_file():  # a pipe or a device must be written to, never replaced
        with path.open("wb") as stream:
            yield stream
        return
    with whole_file(path) as stream:
        yield stream


def _npy(stream: IO[bytes], chunks: Iterable[Labelled], names: Names) -> int:
    """Write the header for no rows, then the rows, then the header again with their number."""
    first, chunks = _peek(chunks)
    if any(label.dtype.kind not in "iu" for label in first.labels):
        raise DataFileError("An .npy file holds numbers only; to keep ids or times write .csv, .parquet or .jsonl.")
    width, dtype = len(first.columns), first.values.dtype
    _npy_header(stream, 0, width, dtype)
    start, count = stream.tell(), 0
    for chunk in chunks:
        values = np.column_stack(chunk.columns) if chunk.labels else chunk.values
        stream.write(np.ascontiguousarray(values, dtype=dtype).tobytes())
        count += len(values)
    stream.seek(0)
    _npy_header(stream, count, width, dtype)
    assert stream.tell() == start  # NumPy pads the header so that the number of rows can grow
    return count


def _npy_header(stream: IO[bytes], rows: int, width: int, dtype: np.dtype[Any]) -> None:
    """Write the header of an .npy file."""
    header = {"shape": (rows, width), "fortran_order": False, "descr": npy_format.dtype_to_descr(dtype)}
    npy_format.write_array_header_1_0(stream, header)


def _text(stream: IO[bytes], chunks: Iterable[Labelled], names: Names, separator: str = ",") -> int:
    """Write separated text."""
    _, chunks = _peek(chunks)  # before the names: after a failure there is no incomplete output in a pipe
    if names is not None:
        stream.write(_quoted([names], separator))
    count = 0
    for chunk in chunks:
        # As strings NumPy writes the fewest digits that read back to the same number, float32 too.
        cells = chunk.values.astype(str).tolist()
        if chunk.labels:
            labels = zip(*(label.tolist() for label in chunk.labels), strict=True)
            rows = [[*label, *row] for label, row in zip(labels, cells, strict=True)]
            stream.write(_quoted(rows, separator))
        else:
            stream.writelines(f"{separator.join(row)}\n".encode() for row in cells)
        count += len(cells)
    stream.flush()
    return count


def _quoted(rows: Iterable[Sequence[Any]], separator: str) -> bytes:
    """Return rows as separated text, with quotes where needed."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _tabbed(stream: IO[bytes], chunks: Iterable[Labelled], names: Names) -> int:
    """Write text separated by tabs."""
    return _text(stream, chunks, names, "\t")


def _json_lines(stream: IO[bytes], chunks: Iterable[Labelled], names: Names) -> int:
    """Write one JSON list or object per row."""
    count = 0
    for chunk in chunks:
        rows = list(zip(*map(_json_values, chunk.columns), strict=True))
        records = rows if names is None else [dict(zip(names, row, strict=True)) for row in rows]
        stream.writelines(f"{json.dumps(record, allow_nan=False)}\n".encode() for record in records)
        count += len(rows)
    return count


def _json_values(column: npt.NDArray[Any]) -> list[Any]:
    """Return the cells of a column; None, which becomes null, for NaN and infinity, which JSON does not have."""
    cells: list[Any] = column.tolist()
    if column.dtype.kind != "f" or np.isfinite(column).all():
        return cells
    return [cell if math.isfinite(cell) else None for cell in cells]


def _parquet(stream: IO[bytes], chunks: Iterable[Labelled], names: Names) -> int:
    """Write a Parquet file."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise MissingExtraError("pyarrow", "cli", "Writing .parquet files") from error
    first, chunks = _peek(chunks)
    names = list(names or [f"column{i}" for i in range(len(first.columns))])
    kinds = [pa.string() if c.dtype.kind in "OU" else pa.from_numpy_dtype(c.dtype) for c in first.columns]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    count = 0
    with ParquetWriter(stream, schema) as writer:
        for chunk in chunks:
            columns = [pa.array(c, kind) for c, kind in zip(chunk.columns, kinds, strict=True)]
            writer.write_table(pa.table(columns, schema=schema))
            count += len(chunk.values)
    return count


def _peek(chunks: Iterable[Labelled]) -> tuple[Labelled, Iterator[Labelled]]:
    """Return the first chunk, and all chunks again."""
    rest = iter(chunks)
    first = next(rest, None)
    if first is None:
        raise ValueError("There are no rows to write; give at least one chunk, which may have no rows.")
    return first, chain([first], rest)


SUFFIXES: dict[str, Callable[[IO[bytes], Iterable[Labelled], Names], int]] = {
    ".npy": _npy,
    ".csv": _text,
    ".tsv": _tabbed,
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
