"""Rows from Parquet files, batch by batch."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from mercer.errors import DataFileError, MissingCellError, MissingExtraError
from mercer.io.selection import Pick, Selection, distinct
from mercer.io.table import Table, as_rows, float_type, rebatch

MAGIC = b"PAR1"


def parquet_chunks(path: Path, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream a Parquet file; needs pyarrow."""
    return parquet_tables(path, str(path), rows, selection)


def parquet_tables(source: Path | IO[bytes], where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream a Parquet file from disk or from memory."""
    file = open_parquet(source, where)
    schema = file.schema_arrow
    # pandas stores its row labels as a column of this name; they are not data
    own = [i for i, name in enumerate(schema.names) if not name.startswith("__index_level_")]
    numeric = [_is_number(schema.types[i]) for i in own]
    pick = selection.pick(where, distinct([schema.names[i] for i in own], where), numeric)
    read = sorted({own[i] for i in (*pick.take, *pick.keep)})
    if len(set(schema.names)) < len(schema.names):  # columns are read by name, and equal names cannot be distinguished
        read = list(range(len(schema.names)))
    columns = [schema.names[i] for i in read] if len(read) < len(schema.names) else None
    places = [read.index(i) if i in read else -1 for i in own]
    strict = selection.missing == "as-is"
    pieces = (_table(batch, places, pick, where, strict) for batch in _batches(file, rows, columns, where))
    return rebatch(pieces, rows)


def open_parquet(source: Path | IO[bytes], where: str) -> Any:
    """Open a Parquet file, or say what is missing or wrong."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("pyarrow", "cli", "Reading Parquet") from error
    with _readable(f"{where} is not a Parquet file, or damaged"):
        return ParquetFile(source)


def _batches(file: Any, rows: int, columns: list[str] | None, where: str) -> Iterator[Any]:
    """Read the columns, some rows at a time."""
    with _readable(f"{where} is damaged, or of a kind of Parquet that cannot be read"):
        yield from file.iter_batches(rows, columns=columns)


@contextmanager
def _readable(otherwise: str) -> Iterator[None]:
    """Say what is wrong where pyarrow cannot read a file, in whatever way it fails."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:  # pyarrow's own errors are of these kinds, too
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system; those about what is in the file have no number
        reason = " ".join(str(error).split())
        raise DataFileError(f"{otherwise} ({reason}). Check how it was written.") from error


def _is_number(kind: Any) -> bool:
    """Tell whether a type of pyarrow is one of numbers."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def _table(batch: Any, places: list[int], pick: Pick, where: str, strict: bool) -> Table:
    """Return one batch as a table."""
    assert pick.names is not None
    columns = [
        _numbers(batch.column(places[i]), name, where, strict) for i, name in zip(pick.take, pick.names, strict=True)
    ]
    dtype = np.float32 if all(float_type(v.dtype) is np.float32 for v in columns) else np.float64
    values = as_rows(np.column_stack(columns).astype(dtype, copy=False), where)
    kept = None
    if pick.keep:
        texts = [["" if cell is None else str(cell) for cell in batch.column(places[i]).to_pylist()] for i in pick.keep]
        kept = np.array(texts, dtype=object).T
    return pick.table(values, kept)


def _numbers(column: Any, name: str, where: str, strict: bool) -> npt.NDArray[Any]:
    """Return the numbers of one column, or say why it has none."""
    import pyarrow as pa

    empty = pa.types.is_null(column.type)  # how pandas writes a column without any value
    if not (empty or _is_number(column.type)):
        raise DataFileError(
            f"{where}, column {name!r} holds values of type {column.type}; numbers are needed. Convert it, or leave "
            "the column out."
        )
    if column.null_count and strict:
        raise MissingCellError(f"{where}, column {name!r} holds missing values.")
    if column.null_count or pa.types.is_decimal(column.type):
        column = column.cast(column.type if pa.types.is_floating(column.type) else pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))
