"""Start a monitor with its page, and stop it in order."""

import signal
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer.watch.monitor import Monitor
from mercer.watch.outputs import AlarmFile, Webhook
from mercer.watch.security import Guard, is_loopback, machine_names, new_token
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Source
from mercer.watch.store import Store

Say = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """Where the monitor is seen and heard, and where its state is."""

    host: str = "127.0.0.1"
    port: int = 8350
    token: str | None = None
    names: tuple[str, ...] = ()
    headless: bool = False
    state: Path | None = None
    alarms: Path | None = None
    webhook: str | None = None


def run(source: Source, settings: Settings, place: Place, say: Say) -> int:
    """Run until a signal comes, or, without a page, until there are no more rows; return the exit code."""
    if place.state is not None:
        return _run_in(place.state, source, settings, place, say)
    with tempfile.TemporaryDirectory(prefix="mercer-watch-") as folder:
        return _run_in(Path(folder), source, settings, place, say)


def _run_in(folder: Path, source: Source, settings: Settings, place: Place, say: Say) -> int:
    store = Store(folder)
    monitor = Monitor(source, store, settings)
    if place.alarms is not None:
        monitor.outputs.append(AlarmFile(place.alarms, store))
    if place.webhook is not None:
        monitor.outputs.append(Webhook(place.webhook, store))
    try:
        (_headless if place.headless else _with_page)(monitor, place, say)
    finally:
        monitor.stop()
        monitor.join()
        failure = monitor.status.failure
        monitor.close()
    if failure is not None:
        say(failure)
    return 0 if failure is None else 1


def _headless(monitor: Monitor, place: Place, say: Say) -> None:
    with _Signals(monitor.stop):
        monitor.start()
        while not monitor.join(0.2):
            pass
    say(_summary(monitor))


def _with_page(monitor: Monitor, place: Place, say: Say) -> None:
    from mercer.watch.server import WebServer, listen

    token = place.token or (None if is_loopback(place.host) else new_token())
    listening = listen(place.host, place.port)
    port = int(listening.getsockname()[1])
    guard = Guard(place.host, port, token, machine_names() | frozenset(name.lower() for name in place.names))
    server = WebServer(monitor, guard, listening)
    shown = f"[{place.host}]" if ":" in place.host else place.host
    say(f"Page: http://{shown}:{port}/" + (f"?token={token}" if token and place.token is None else ""))

    def stop() -> None:
        monitor.stop()
        server.stop()

    def ended() -> None:
        if monitor.status.failure is not None:
            stop()
        elif not monitor.stopping.is_set():
            say(f"{_summary(monitor)} There are no more rows; the page stays until you stop it with Ctrl-C.")

    monitor.ended = ended
    with _Signals(stop):
        monitor.start()
        server.run()


def _summary(monitor: Monitor) -> str:
    counts = monitor.status.counts()
    alarms = monitor.engine.tracker.next_number - 1
    return f"{counts['judged']:,} rows judged, {counts['alarm_rows']:,} of them unusual; {alarms:,} alarms so far."


class _Signals:
    """While this is active, SIGTERM and Ctrl-C call a function."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, lambda *_: self._stop())

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
