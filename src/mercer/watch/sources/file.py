"""Rows from a file that may grow, be rotated (a new file takes its name) or truncated (it begins anew).

The position is the file itself, by its number in the file system and a checksum of its first bytes, and a place in it
with a checksum of the bytes before it: a text that begins anew can have the same first bytes, which name its columns.
So a file that was renamed while nobody looked is found again beside its old name, and read to its end first. Files that
were rotated since then follow in the order in which they were last written.
"""

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mercer.watch.sources.base import Batch, PlainSource, Position
from mercer.watch.sources.lines import Lines, check_text

_PIECE = 262_144  # bytes
_POLL = 0.05  # seconds
_START = 1024  # bytes that tell one file from another
_END = 256  # last bytes that were read, which tell whether it is still the same text
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")  # these are not read


class FileSource(PlainSource):
    """Lines of a file."""

    def __init__(self, path: Path, follow: bool) -> None:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder. Name the file in it.")
        if path.exists() and not path.is_file():  # files are read at any place, which a pipe does not allow
            raise ValueError(f"{path} is a pipe or a device; give it as standard input: - < {path}")
        if not follow and not path.is_file():
            raise FileNotFoundError(f"{path} is not a file. Give a file, - for standard input, or wait with --follow.")
        if path.is_file():
            check_text(str(path), _start_of(path))
        self.path, self.follow, self.name = path, follow, str(path)
        self._next = path  # what is read next
        self._file: IO[bytes] | None = None
        self._lines = Lines()
        self._fresh = True
        self._start = b""  # the first bytes of the file
        self._end = b""  # the last bytes that were read
        self._refused: str | None = None  # why the file could not be opened

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def batches(self, position: Position | None, stop: threading.Event) -> Iterator[Batch]:
        """Yield lines; with `follow`, for ever."""
        if position is not None:
            yield from self._resume(position)
        told: str | None = None
        while not stop.is_set():
            if self._file is None and not self._open(self._next):
                self._next = self.path
                if self._refused is not None and self._refused != told:
                    yield Batch([], trouble=f"{self._refused}; it is tried again.")
                told = self._refused
                stop.wait(_POLL)
                continue
            yield from self._grown(stop)
            if stop.is_set():
                return
            if not self.follow:
                yield from self._finish()
                return
            counts = self._replaced()
            if counts:
                yield from self._finish()
                yield Batch([], self._position(), counts=counts)
                self._next = self.path if "truncated" in counts else self._follower()
                self.close()
            else:
                stop.wait(_POLL)

    # -- reading ---------------------------------------------------------------------------------------------------

    def _open(self, path: Path, offset: int = 0) -> bool:
        try:
            self._file = open(path, "rb")  # noqa: SIM115 - it stays open
        except (FileNotFoundError, PermissionError) as error:  # a new file may get its permissions a little later
            self._refused = (
                None if isinstance(error, FileNotFoundError) else f"{path} cannot be read ({error.strerror})"
            )
            return False
        self._refused = None
        self._lines, self._fresh = Lines(), offset == 0
        self._start, self._end = self._first_bytes()[:offset], self._bytes_before(offset)
        self._file.seek(offset)
        return True

    def _grown(self, stop: threading.Event) -> Iterator[Batch]:
        """Yield all lines that are there, as long as it is the same text."""
        while self._file is not None and not stop.is_set() and self._is_same_text():
            data = self._file.read(_PIECE)
            if not data:
                return
            if len(self._start) < _START:
                self._start = self._first_bytes()
            self._end = (self._end + data)[-_END:]
            found = self._lines.add(data)
            if found or self._lines.too_long:
                yield self._batch(found)

    def _finish(self) -> Iterator[Batch]:
        """Yield the last line if it has no end: no more will come."""
        found = self._lines.last()
        if found:
            yield self._batch(found)

    def _batch(self, found: list[str]) -> Batch:
        batch = Batch(found, self._position(), self._fresh, counts=self._lines.counted())
        self._fresh = False
        return batch

    # -- which file ------------------------------------------------------------------------------------------------

    def _first_bytes(self) -> bytes:
        assert self._file is not None
        return os.pread(self._file.fileno(), _START, 0)

    def _bytes_before(self, offset: int) -> bytes:
        assert self._file is not None
        return _bytes_before(self._file, offset)

    def _is_same_text(self) -> bool:
        """Tell whether the file still holds what was read: its first bytes, and the last ones that were read."""
        assert self._file is not None
        read = self._file.tell()
        if os.fstat(self._file.fileno()).st_size < read or not self._first_bytes().startswith(self._start):
            return False
        return self._bytes_before(read).endswith(self._end)

    def _replaced(self) -> dict[str, int]:
        """Return what happened if another text is to be read now; nothing if not."""
        assert self._file is not None
        if not self._is_same_text():
            return {"truncated": 1}
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            return {}  # renamed; the new one is not there yet
        here = os.fstat(self._file.fileno())
        return {} if (here.st_ino, here.st_dev) == (there.st_ino, there.st_dev) else {"rotated": 1}

    def _follower(self) -> Path:
        """Return the file that comes after the present one: the next that was written, or the one with the name."""
        assert self._file is not None
        here = os.fstat(self._file.fileno())
        later = []
        for path in self._beside():
            try:
                found = path.stat()
            except FileNotFoundError:
                continue
            if found.st_ino != here.st_ino and found.st_mtime_ns > here.st_mtime_ns:
                later.append((found.st_mtime_ns, path != self.path, path))
        return min(later)[2] if later else self.path

    def _beside(self) -> list[Path]:
        """Return the file and those that were rotated away."""
        rotated = sorted(self.path.parent.glob(_literal(self.path.name) + "[.-]*"))
        return [self.path, *(path for path in rotated if path.suffix not in _COMPRESSED)]

    def _position(self) -> Position:
        assert self._file is not None
        offset = self._file.tell() - len(self._lines.rest)
        return {
            "inode": os.fstat(self._file.fileno()).st_ino,
            "offset": offset,
            "length": len(self._start),
            "start": hashlib.sha256(self._start).hexdigest(),
            "end": hashlib.sha256(self._bytes_before(offset)).hexdigest(),
        }

    def _resume(self, position: Position) -> Iterator[Batch]:
        """Open the file of a position, which may have another name by now."""
        for path in self._beside():
            if _is_at(path, position) and self._open(path, int(position["offset"])):
                return
        yield Batch([], None, counts={"lost_position": 1})


def _start_of(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(_START)


def _literal(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _is_at(path: Path, position: Position) -> bool:
    """Tell whether a file is the one of a position, and holds what was read of it."""
    try:
        found = path.stat()
        if found.st_ino != position["inode"] or found.st_size < position["offset"]:
            return False
        with open(path, "rb") as file:
            start, end = file.read(int(position["length"])), _bytes_before(file, int(position["offset"]))
    except OSError:
        return False
    if "end" in position and hashlib.sha256(end).hexdigest() != position["end"]:  # earlier versions did not save it
        return False
    return bool(hashlib.sha256(start).hexdigest() == position["start"])


def _bytes_before(file: IO[bytes], offset: int) -> bytes:
    """Return the last bytes of a file before a place in it."""
    first = max(0, offset - _END)
    return os.pread(file.fileno(), offset - first, first)
