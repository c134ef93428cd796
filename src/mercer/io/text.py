"""Text of files and pipes: compressed or not, in UTF-8, UTF-16 or the encoding of Western Windows."""

import codecs
import gzip
import io
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import IO, Any, TextIO

GZIP = b"\x1f\x8b"
_LOOK = 65_536  # bytes that tell the encoding
WESTERN = "mercer.western"  # what is done with bytes that are not of the encoding


class Rewound(io.RawIOBase):
    """A stream of which some bytes were read to find its format, with these bytes in front again."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start, self._rest = start, rest

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes."""
        piece = self._start[: len(buffer)] or self._rest.read(len(buffer))
        self._start = self._start[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file; it is uncompressed where its name ends with .gz."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def open_text(path: Path) -> TextIO:
    """Open a text file with the encoding that its first bytes suggest."""
    return decoded(open_bytes(path), encoding_of(path))


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file."""
    with open_bytes(path) as stream:
        return encoding(stream.read(_LOOK))


def decoded(stream: IO[bytes], name: str) -> TextIO:
    """Read a stream as text. Bytes that the encoding does not have, wherever they begin, are of Western Windows."""
    return io.TextIOWrapper(stream, encoding=name, errors="replace" if name.startswith("utf-16") else WESTERN)


def _as_western(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that cannot be decoded as letters of Western Windows, so that different texts stay different."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    try:
        return wrong.decode("cp1252"), error.end
    except UnicodeDecodeError:  # five bytes have no letter there
        return wrong.decode("latin-1"), error.end


codecs.register_error(WESTERN, _as_western)


def encoding(start: bytes) -> str:
    """Return the encoding of a text, found from its first bytes."""
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start[:4]:  # a digit or Latin letter in UTF-16 has one byte of zero
        return "utf-16-be" if start[:1] == b"\0" else "utf-16-le"
    if start.startswith(BOM_UTF8):
        return "utf-8-sig"
    try:
        start[: start.rfind(b"\n") + 1].decode("utf-8")  # whole lines: the last one may end within a letter
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
