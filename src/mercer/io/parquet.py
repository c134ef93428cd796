"""Rows from Parquet files, batch by batch."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.errors import DataFileError, MissingExtraError
from mercer.io.table import Table, as_rows, float_type, positions, rebatch


def parquet_chunks(path: Path, rows: int, columns: Sequence[str] | None) -> Iterator[Table]:
    """Stream a Parquet file whose columns are numbers; needs pyarrow."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("pyarrow", "cli", "Reading .parquet files") from error
    try:
        file = ParquetFile(path)
    except ArrowInvalid as error:
        raise DataFileError(f"{path} is not a Parquet file ({error}). Check how it was written.") from error
    # pandas stores its row labels as a column of this name; they are not data
    own = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
    names = own if columns is None else [own[i] for i in positions(str(path), own, columns)]
    pieces = (_arrow_matrix(batch, names, path) for batch in file.iter_batches(rows, columns=names))
    return (Table(values, tuple(names)) for values in rebatch(pieces, rows))


def _arrow_matrix(batch: Any, names: Sequence[str], path: Path) -> Array:
    columns: list[npt.NDArray[Any]] = []
    for name in names:
        column = batch.column(name)
        values = column.to_numpy(zero_copy_only=False)
        if column.null_count or values.dtype.kind not in "fiub":
            found = "missing values" if column.null_count else f"values of type {column.type}"
            raise DataFileError(
                f"{path}, column {name!r} holds {found}; numbers are needed. Fill or convert it, "
                "or leave the column out by naming the columns to use."
            )
        columns.append(values)
    dtype = np.float32 if all(float_type(v.dtype) is np.float32 for v in columns) else np.float64
    return as_rows(np.column_stack(columns).astype(dtype, copy=False), str(path))
