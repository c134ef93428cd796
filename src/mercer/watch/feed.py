"""The bounded queue between a source and the engine. Where it is full, the source waits; nothing is dropped here."""

import threading
from collections import deque

from mercer.watch.sources.base import Batch, Position, Source

CAPACITY = 20_000  # rows


class Feed:
    """Reads a source in a thread of its own."""

    def __init__(self, source: Source, position: Position | None, capacity: int = CAPACITY) -> None:
        self.source, self.capacity = source, capacity
        self.ended = False
        self.failure: Exception | None = None
        self._position = position
        self._batches: deque[Batch] = deque()
        self._rows = 0
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="source", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Stop reading; what is in the queue stays there."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            for batch in self.source.batches(self._position, self._stop):
                if not self._put(batch):
                    break
        except Exception as error:
            self.failure = error
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _put(self, batch: Batch) -> bool:
        with self._changed:
            while self._batches and self._rows + len(batch.items) > self.capacity and not self._stop.is_set():
                self._changed.wait()
            self._batches.append(batch)  # also when stopped: it was read, perhaps from a pipe
            self._rows += len(batch.items)
            self._changed.notify_all()
        return not self._stop.is_set()

    def take(self, timeout: float, most: int = 4096) -> list[Batch]:
        """Return what has come, at least one batch if there is one within the timeout, and about `most` rows."""
        with self._changed:
            if not self._batches and not self.ended:
                self._changed.wait(timeout)
            found: list[Batch] = []
            rows = 0
            while self._batches and (not found or rows + len(self._batches[0].items) <= most):
                found.append(self._batches.popleft())
                rows += len(found[-1].items)
            self._rows -= rows
            self._changed.notify_all()
        return found

    @property
    def waiting(self) -> tuple[int, float | None]:
        """How many rows wait, and since when the first of them does."""
        with self._changed:
            return self._rows, self._batches[0].received if self._batches else None
