"""Rows from standard input. A pipe cannot be read twice: after a crash, rows that were not judged are lost."""

import os
import select
import sys
import threading
from collections.abc import Iterator

from mercer.watch.sources.base import Batch, PlainSource, Position
from mercer.watch.sources.lines import Lines, check_text

_PIECE = 262_144  # bytes
_START = 1024  # bytes that tell whether it is text


class StandardInput(PlainSource):
    """CSV or JSON lines from a pipe."""

    name = "standard input"

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None and sys.stdin is None:
            raise ValueError("Standard input is closed; a pipe with rows is needed there.")
        self._descriptor = descriptor

    def batches(self, position: Position | None, stop: threading.Event) -> Iterator[Batch]:
        """Yield lines until the pipe is closed."""
        descriptor = sys.stdin.fileno() if self._descriptor is None else self._descriptor
        lines, fresh = Lines(), True
        while not stop.is_set():
            if not _ready(descriptor):
                continue
            data = os.read(descriptor, _PIECE)
            if fresh:
                check_text(self.name, data[:_START])
            found = lines.add(data) if data else lines.last()
            if found or lines.too_long:
                yield Batch(found, fresh=fresh, counts=lines.counted())
                fresh = False
            if not data:
                return


def _ready(descriptor: int) -> bool:
    """Wait a little for data; where it cannot be waited for, reading waits."""
    try:
        return bool(select.select([descriptor], [], [], 0.2)[0])
    except (OSError, ValueError):
        return True
