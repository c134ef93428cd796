"""Where alarms go beside the page: a file of JSON lines, and a webhook."""

import http.client
import json
import math
import sqlite3
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mercer.watch.store import Store

_TIMEOUT = 5.0  # seconds for one delivery
_WAITS = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)  # seconds before the next try; the last one again and again
_LAST = 10.0  # seconds to send what waits, at the end
_KEY = "alarms_file"
_BEGIN = b'{"event": '  # of every line
_TAIL = 1_000_000  # bytes at the end of a file in which the last event is looked for


def event_with_alarm(store: Store, event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with the state that numbers it, and with its alarm as it is now."""
    return {"event": event["event"], "state_id": store.state_id, **event, "alarm": store.alarm(event["alarm"])}


class AlarmFile:
    """Appends one JSON line per event; after a crash or a full disk none is missing and none is there twice."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path, self.store = path, store
        self.left = 0
        self._lock = threading.Lock()
        self._last = int(store.meta(_KEY) or 0)
        self._unclear = True  # whether the file may end in the middle of a line, or be ahead of the state
        try:
            with open(path, "ab"):
                pass
        except OSError as error:
            raise OSError(f"--alarms: {path} cannot be written: {error.strerror}.") from error

    def wake(self) -> None:
        """Write the events that are not in the file; OSError or sqlite3.Error if that fails: then call it again."""
        with self._lock:
            if self._unclear:
                self._last = max(self._last, _mended(self.path, self.store.state_id))
                self._unclear = False
            while events := self.store.events(self._last):
                self._append(events)

    def _append(self, events: list[dict[str, Any]]) -> None:
        lines = [json.dumps(event_with_alarm(self.store, event)) + "\n" for event in events]
        self._unclear = True
        with open(self.path, "ab") as file:
            file.write("".join(lines).encode())
        self._unclear = False
        self._last = events[-1]["event"]
        self.store.put({_KEY: self._last})

    def close(self) -> None:
        """Write what is left."""
        try:
            self.wake()
        finally:
            self.left = self.store.n_events(self._last)


def _mended(path: Path, state_id: str) -> int:
    """Give the last line of a file its end, or remove it if it is a part of ours; return the last event of a state."""
    if not path.is_file():
        return 0
    with open(path, "rb+") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        data = file.read()
        whole, _, rest = data.rpartition(b"\n")
        if rest and (rest.startswith(_BEGIN) or _BEGIN.startswith(rest)) and not _parsed(rest):
            file.truncate(size - len(rest))
        elif rest:
            whole = data
            file.write(b"\n")
    own = (one for line in reversed(whole.split(b"\n")) if (one := _parsed(line)).get("state_id") == state_id)
    return int(next(own, {}).get("event", 0))


def _parsed(line: bytes) -> dict[str, Any]:
    """Return the event of a line, or nothing if there is none."""
    try:
        found = json.loads(line) if line.startswith(_BEGIN) else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("event"), int) else {}


class Webhook:
    """Sends every event to an address; where that fails, again and again with longer pauses."""

    def __init__(self, url: str, store: Store, waits: tuple[float, ...] = _WAITS) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"--webhook needs an address that begins with http:// or https://; got {url!r}.")
        self.url, self.store, self._waits = url, store, waits
        self.left = 0
        self._latest = math.inf  # when it gives up, by the monotonic clock
        self._wake, self._stop = threading.Event(), threading.Event()
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()
        self._wake.set()

    def wake(self) -> None:
        """Look for events that were not delivered."""
        self._wake.set()

    def close(self) -> None:
        """Send what waits, as long as that succeeds and not for long; the rest is sent after the next start."""
        self._latest = time.monotonic() + _LAST
        self._stop.set()
        self._wake.set()
        self._thread.join(_LAST + _TIMEOUT + 1.0)
        self.left = self.store.n_events(0, unsent=True)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._deliver()
            if self._stop.is_set():
                return

    def _deliver(self) -> None:
        """Send all events that wait, in their order; after the stop, until one fails."""
        failed = 0
        while time.monotonic() < self._latest:
            try:
                events = self.store.events(0, 1, unsent=True)
                if not events:
                    return
                sent = self._sent(events[0])
                if sent:
                    self.store.mark_sent(events[0]["event"])
            except sqlite3.Error:
                sent = False
            if sent:
                failed = 0
            elif self._stop.is_set():
                return
            else:
                self._stop.wait(self._waits[min(failed, len(self._waits) - 1)])
                failed += 1

    def _sent(self, event: dict[str, Any]) -> bool:
        found = event_with_alarm(self.store, event)
        if event["kind"] == "opened" and (found["alarm"] or {}).get("state") == "shelved":
            return True  # a shelved alarm is not told
        body = json.dumps(found).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"}, method="POST")
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as answer:
                return 200 <= int(answer.status) < 300
        except (OSError, ValueError, http.client.HTTPException):
            return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that points elsewhere is a failure: events go where the user said."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing."""
