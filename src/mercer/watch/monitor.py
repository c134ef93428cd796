"""All parts of a running monitor, and the thread that keeps them going."""

import sqlite3
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, Protocol

from mercer.watch.engine import Engine, NotSavedError
from mercer.watch.feed import Feed
from mercer.watch.hub import Hub
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Source
from mercer.watch.status import Status
from mercer.watch.store import Store

_PACE = 0.04  # seconds between two steps, where few rows wait
_MANY = 1000  # rows
_DRAIN = 10.0  # seconds to judge what waits, at the end


class Output(Protocol):
    """Something that is told when alarms may have changed."""

    left: int  # events that were not delivered when it was closed

    def wake(self) -> None:
        """Look for events that were not delivered; where this fails, it is called again."""

    def close(self) -> None:
        """Stop."""


class Monitor:
    """A source, an engine and their state."""

    def __init__(self, source: Source, store: Store, settings: Settings) -> None:
        self.store, self.hub = store, Hub()
        self.engine = Engine(store, settings, self.hub)
        known = store.meta("source") in (None, source.name)
        store.put({"source": source.name})
        self.feed = Feed(source, self.engine.position if known else None)
        self.status = Status(self.engine, self.feed)
        self.outputs: list[Output] = []
        self._waiting = False  # whether events wait for an output that failed
        self.stopping = self.engine.stopping
        self.ended: Callable[[], None] = lambda: None  # called when there are no more rows
        self._thread = threading.Thread(target=self._run, name="engine")

    def start(self) -> None:
        """Begin to judge."""
        self.feed.start()
        self._thread.start()

    def stop(self) -> None:
        """Ask the monitor to end: it judges what waits, and saves the model."""
        self.stopping.set()
        self.feed.stop()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; tell whether it has. One that was not started has ended."""
        if self._thread.ident is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def close(self) -> None:
        """Give everything back."""
        self._each_output(lambda output: output.close())
        self.feed.source.close()
        self.store.close()

    def changed(self, alarm: dict[str, Any]) -> None:
        """Tell that an operator changed an alarm."""
        self.hub.alarm(alarm)
        self._wake()

    def _wake(self) -> None:
        self._each_output(lambda output: output.wake())

    def _each_output(self, call: Callable[[Output], None]) -> None:
        """Call all outputs; one that fails is told, and called again at the next step."""
        failure: Exception | None = None
        for output in self.outputs:
            try:
                call(output)
            except (OSError, sqlite3.Error) as error:
                failure = error
        self._waiting = failure is not None
        if failure is None:
            self.engine.troubles.over("outputs")
        else:
            text = f"Events of alarms cannot be written ({failure}); they wait, and it is tried again."
            self.engine.troubles.tell("outputs", text)

    # -- the thread ------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self.stopping.is_set() and not self._over():
                begun = time.monotonic()
                self._step(0.2)
                if self.feed.waiting[0] < _MANY:
                    self.stopping.wait(max(0.0, _PACE - (time.monotonic() - begun)))
            self._end()
        except NotSavedError as error:
            self.status.failure = str(error)
        except Exception as error:
            self.status.failure = f"The engine stopped: {type(error).__name__}: {error}"
            traceback.print_exc()
        self.status.stopped = True
        self.ended()

    def _over(self) -> bool:
        return self.feed.ended and not self.feed.waiting[0]

    def _step(self, timeout: float) -> None:
        batches = self.feed.take(timeout)
        if batches:
            self.engine.take(batches)
            tokens = [token for batch in batches for token in batch.tokens]
            if tokens:
                self.feed.source.acknowledge(tokens)
        if batches or self._waiting:
            self._wake()
        self.engine.save_model()
        self.status.note()

    def _end(self) -> None:
        """Judge what still waits, and save the model."""
        latest = time.monotonic() + _DRAIN
        self.feed.stop()
        while not self._over() and time.monotonic() < latest:
            self._step(0.05)
        self.engine.save_model(now=True)
        if self.feed.failure is not None:
            self.status.failure = f"The source failed: {self.feed.failure}"
