"""Rows from standard input, whose format is found from its first bytes."""

import gzip
import io
import json
import re
import sys
from collections.abc import Iterator
from typing import IO

from mercer.errors import DataFileError
from mercer.io import npy, parquet
from mercer.io.delimited import line_chunks
from mercer.io.jsonlines import json_lines
from mercer.io.selection import Selection
from mercer.io.table import Table
from mercer.io.text import GZIP, Rewound, decoded, encoding

_LOOK = 4096  # bytes of text that tell the encoding
_NAME_IN_BRACKETS = re.compile(r"\[[^\[\],;|\t]*\]\s*([,;|\t]|$)")


def standard_input(where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream .npy, JSON lines or separated text, also compressed by gzip; Parquet is read into memory first."""
    if sys.stdin is None:  # as where a program starts a command without one
        raise DataFileError(f"{where} is closed; a file or a pipe with rows is needed there.")
    stream: IO[bytes] = sys.stdin.buffer
    start = stream.read(len(npy.MAGIC))
    if start.startswith(GZIP):
        stream = gzip.GzipFile(fileobj=_rewound(start, stream))  # type: ignore[assignment]
        start = stream.read(len(npy.MAGIC))
    if start == npy.MAGIC:
        return npy.tables(npy.stream_rows(stream, where, rows), where, selection)
    if start.startswith(parquet.MAGIC):
        return parquet.parquet_tables(io.BytesIO(start + stream.read()), where, rows, selection)
    return _text(start, stream, where, rows, selection)


def _text(start: bytes, stream: IO[bytes], where: str, rows: int, selection: Selection) -> Iterator[Table]:
    """Stream JSON lines or separated text."""
    start += stream.readline(_LOOK)
    name = encoding(start)
    lines = decoded(_rewound(start, stream), name)
    if _is_json(start.decode(name, errors="replace")):
        return json_lines(lines, where, rows, selection)
    return line_chunks(lines, where, rows, selection)


def _is_json(start: str) -> bool:
    """Tell whether the first line is meant as JSON; names of columns such as [a],[b] are not."""
    line = start.strip().partition("\n")[0].rstrip()
    if not line.startswith(("[", "{")):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return _NAME_IN_BRACKETS.match(line) is None
    return True


def _rewound(start: bytes, stream: IO[bytes]) -> IO[bytes]:
    """Return the stream with these bytes in front again."""
    return io.BufferedReader(Rewound(start, stream))
