"""Rows from files of NumPy: mapped from disk, or read piece by piece from a stream."""

import math
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, Literal
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy_format

from mercer.arrays import Array
from mercer.errors import DataFileError
from mercer.io.selection import Selection
from mercer.io.table import Table, as_rows

MAGIC = npy_format.MAGIC_PREFIX
DAMAGED = (
    *(ValueError, TypeError, OverflowError, SyntaxError, TokenError),  # of numpy, for a header that it cannot parse
    *(BadZipFile, RuntimeError, zlib.error, EOFError, OSError),  # of zipfile; NotImplementedError is a RuntimeError
)
"""What numpy and zipfile raise for a file that is damaged, or that they cannot read."""


def tables(pieces: Iterable[Array], where: str, selection: Selection) -> Iterator[Table]:
    """Take the columns that are asked for, by position: arrays have no names."""
    for values in pieces:
        pick = selection.pick(where, None, [True] * values.shape[1])
        kept = np.array(values[:, pick.keep].astype(str), dtype=object) if pick.keep else None
        whole = pick.take == tuple(range(values.shape[1]))
        yield pick.table(values if whole else values[:, pick.take], kept)


def mapped_rows(path: Path, rows: int) -> Iterator[Array]:
    """Stream an .npy file that may be larger than memory; only one chunk is copied at a time."""
    with _readable(str(path)):
        values = npy_format.open_memmap(path, mode="r")
    for start in range(0, len(np.atleast_1d(values)), rows):
        yield as_rows(values[start : start + rows] if values.ndim == 2 else values, str(path))


def archived_rows(path: Path, key: str | None, rows: int) -> Iterator[Array]:
    """Stream one array of an .npz file: the one asked for, else `X`, else the only matrix."""
    with _readable(str(path)), ZipFile(path) as archive:
        member = _member(archive, path, key)
        with archive.open(member) as stream:
            stream.read(len(MAGIC))
            yield from stream_rows(stream, f"{path}:{member.removesuffix('.npy')}", rows)


def stream_rows(stream: IO[bytes], where: str, rows: int) -> Iterator[Array]:
    """Stream an array from a pipe or an archive, of which only the magic bytes have been read."""
    with _readable(where):
        shape, fortran, dtype = _header(stream)
        if dtype.hasobject:
            raise DataFileError(f"{where} holds Python objects; numbers are needed. Save a numeric array instead.")
        if fortran or len(shape) != 2:  # stored by columns: no row is complete before the end
            yield as_rows(_next_rows(stream, where, shape, dtype, "F" if fortran else "C"), where)
            return
        for start in range(0, shape[0], rows):
            yield as_rows(_next_rows(stream, where, (min(rows, shape[0] - start), shape[1]), dtype), where)


def _next_rows(
    stream: IO[bytes], where: str, shape: tuple[int, ...], dtype: np.dtype[Any], order: Literal["C", "F"] = "C"
) -> npt.NDArray[Any]:
    """Read some rows from a stream, or say that it ends too early."""
    size = math.prod(shape) * dtype.itemsize
    piece = stream.read(size)
    if len(piece) < size:
        raise DataFileError(f"{where} ends too early: it was cut off while it was written or sent. Make it again.")
    return np.frombuffer(piece, dtype=dtype).reshape(shape, order=order)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, order and dtype from the header."""
    first = stream.read(2) == b"\x01\x00"
    header = npy_format.read_array_header_1_0(stream) if first else npy_format.read_array_header_2_0(stream)
    if any(size < 0 for size in header[0]):
        raise ValueError(f"the shape {header[0]} has a negative size")
    return header


def _member(archive: ZipFile, path: Path, key: str | None) -> str:
    """Return the name of the array to read in an .npz file."""
    keys = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    if key is None:
        key = "X" if "X" in keys else _only_matrix(archive, keys)
    if key not in keys:
        wanted = "several matrices and none called X" if key is None else f"no array {key!r}"
        raise DataFileError(
            f"{path} has {wanted}; its arrays are {', '.join(keys) or 'none'}. Name one as {path.name}:KEY."
        )
    return f"{key}.npy"


def row_count(path: Path, key: str | None) -> int:
    """Return the number of rows of an .npy or .npz file from its header alone."""
    if path.suffix.lower() == ".npy":
        with _readable(str(path)):
            return len(np.atleast_1d(npy_format.open_memmap(path, mode="r")))
    with _readable(str(path)), ZipFile(path) as archive, archive.open(_member(archive, path, key)) as stream:
        stream.read(len(MAGIC))
        shape = _header(stream)[0]
        return int(shape[0]) if shape else 1


def _only_matrix(archive: ZipFile, keys: list[str]) -> str | None:
    """Return the name of the only matrix of an archive; None if there is none, or more than one."""
    matrices = []
    for key in keys:
        with archive.open(f"{key}.npy") as stream:
            stream.read(len(MAGIC))
            if len(_header(stream)[0]) == 2:
                matrices.append(key)
    return matrices[0] if len(matrices) == 1 else None


@contextmanager
def _readable(where: str) -> Iterator[None]:
    """Name the file that NumPy cannot read, in whatever way it fails."""
    try:
        yield
    except DAMAGED as error:
        if isinstance(error, DataFileError) or (isinstance(error, OSError) and error.filename is not None):
            raise  # it is named already
        raise DataFileError(
            f"{where} cannot be read as NumPy data ({error}). Save a numeric matrix with numpy.save or savez."
        ) from error
