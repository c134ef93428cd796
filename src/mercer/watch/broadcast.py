"""Server-sent events: one message is made for all pages, ten times a second at most."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from mercer.watch.hub import Hub

MAX_LISTENERS = 200
_TICK, _STATUS = 0.1, 1.0  # seconds
_WAITING = 50  # messages per page; a page that does not read loses the oldest

_LOGGER = logging.getLogger("mercer")

Listener = asyncio.Queue[bytes | None]


class Broadcast:
    """Sends what the engine tells to all pages that listen."""

    def __init__(self, hub: Hub, status: Callable[[], dict[str, Any]]) -> None:
        self.hub, self.status = hub, status
        self._listeners: set[Listener] = set()
        self._closed = False
        self._failure: str | None = None  # why the status could not be made

    @property
    def count(self) -> int:
        """The number of pages that listen."""
        return len(self._listeners)

    def joined(self) -> Listener | None:
        """Return the queue of a new page; None if there are too many."""
        if self._closed or len(self._listeners) >= MAX_LISTENERS:
            return None
        listener: Listener = asyncio.Queue(_WAITING)
        self._listeners.add(listener)
        self.hub.listeners = len(self._listeners)
        return listener

    async def stream(self, listener: Listener) -> AsyncIterator[bytes]:
        """Yield the messages for a page."""
        try:
            yield b"retry: 1000\n\n"
            yield message("status", await asyncio.to_thread(self.status))
            while (data := await listener.get()) is not None:
                yield data
        finally:
            self._listeners.discard(listener)
            self.hub.listeners = len(self._listeners)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for listener in self._listeners:
            _put(listener, None)

    async def run(self) -> None:
        """Send rows, alarms and the status, for ever."""
        told = 0.0
        while not self._closed:
            await asyncio.sleep(_TICK)
            if not self._listeners:
                continue
            rows, alarms = self.hub.taken()
            parts = [message("alarm", alarm) for alarm in alarms]
            if rows is not None:
                parts.append(message("rows", rows))
            if time.monotonic() - told >= _STATUS:
                told = time.monotonic()
                parts += await self._status_message()
            if parts:
                self._send(b"".join(parts))

    async def _status_message(self) -> list[bytes]:
        """Return the message of the status; none where it cannot be made, which must not end all streams."""
        try:
            found = [message("status", await asyncio.to_thread(self.status))]
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            if text != self._failure:  # once, not every second
                _LOGGER.warning("The pages are not told the state of the monitor: %s", text)
            self._failure = text
            return []
        self._failure = None
        return found

    def _send(self, data: bytes) -> None:
        for listener in self._listeners:
            _put(listener, data)


def _put(listener: Listener, data: bytes | None) -> None:
    if listener.full():
        listener.get_nowait()
    listener.put_nowait(data)


def message(kind: str, value: dict[str, Any]) -> bytes:
    """Return a server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(value, allow_nan=False, separators=(',', ':'))}\n\n".encode()
