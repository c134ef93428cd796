"""Where alarms go beside the page: a file of JSON lines, and a webhook."""

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mercer.watch.store import Store

_TIMEOUT = 5.0  # seconds for one delivery
_WAITS = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)  # seconds before the next try; the last one again and again
_KEY = "alarms_file"


def event_with_alarm(store: Store, event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with its alarm, as it is now."""
    return {**event, "alarm": store.alarm(event["alarm"])}


class AlarmFile:
    """Appends one JSON line per event; after a crash none is missing and none is there twice."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path, self.store = path, store
        self._lock = threading.Lock()
        self._last = max(int(store.meta(_KEY) or 0), _last_event(path))

    def wake(self) -> None:
        """Write the events that are not in the file."""
        with self._lock:
            events = self.store.events(self._last)
            if not events:
                return
            with open(self.path, "a", encoding="utf-8") as file:
                for event in events:
                    file.write(json.dumps(event_with_alarm(self.store, event)) + "\n")
            self._last = events[-1]["event"]
            self.store.put({_KEY: self._last})

    def close(self) -> None:
        """Write what is left."""
        self.wake()


def _last_event(path: Path) -> int:
    """Return the number of the last event in a file; a line that was cut by a crash is removed."""
    if not path.exists():
        return 0
    with open(path, "rb+") as file:
        data = file.read()[-1_000_000:]
        whole, _, rest = data.rpartition(b"\n")
        if rest:
            file.seek(-len(rest), 2)
            file.truncate()
    try:
        return int(json.loads(whole.rpartition(b"\n")[2])["event"]) if whole else 0
    except (ValueError, KeyError, TypeError):
        return 0


class Webhook:
    """Sends every event to an address; where that fails, again and again with longer pauses."""

    def __init__(self, url: str, store: Store, waits: tuple[float, ...] = _WAITS) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(f"--webhook needs an address that begins with http:// or https://; got {url!r}.")
        self.url, self.store, self._waits = url, store, waits
        self._wake, self._stop = threading.Event(), threading.Event()
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()
        self._wake.set()

    def wake(self) -> None:
        """Look for events that were not delivered."""
        self._wake.set()

    def close(self) -> None:
        """Stop after the delivery that is under way; the rest is sent after the next start."""
        self._stop.set()
        self._wake.set()
        self._thread.join(_TIMEOUT + 1.0)

    def _run(self) -> None:
        failed = 0
        while not self._stop.is_set():
            self._wake.wait()
            self._wake.clear()
            while not self._stop.is_set() and (events := self.store.events(0, 1, unsent=True)):
                if self._sent(events[0]):
                    failed = 0
                    self.store.mark_sent(events[0]["event"])
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
        except (OSError, ValueError):
            return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An answer that points elsewhere is a failure: events go where the user said."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing."""
