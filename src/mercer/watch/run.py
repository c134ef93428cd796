"""Start a monitor with its page, and stop it in order."""

import signal
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer.errors import MissingExtraError
from mercer.watch.losses import counted
from mercer.watch.monitor import Monitor
from mercer.watch.outputs import AlarmFile, Webhook
from mercer.watch.security import Guard, is_loopback, machine_names, new_token
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Source
from mercer.watch.store import Store

Say = Callable[[str], None]
_FEWEST = 20  # rows that --learn may be


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
    try:
        monitor = _monitor(Store(folder), source, settings, place)
    except sqlite3.Error as error:
        raise ValueError(f"The state in {folder} cannot be written ({error}).") from error
    news = _News(monitor, say)
    judged = True
    try:
        if place.headless:
            judged = _headless(monitor, news)
        else:
            _with_page(monitor, place, say)
    finally:
        monitor.stop()
        monitor.join()
        monitor.close()
    news.tell()
    failures = _failures(monitor, judged, forgotten=place.state is None)
    for failure in failures:
        say(failure)
    return 0 if judged and not failures else 1


def _monitor(store: Store, source: Source, settings: Settings, place: Place) -> Monitor:
    """Put the parts together; what can be refused is refused before the state is changed."""
    try:
        alarms = None if place.alarms is None else AlarmFile(place.alarms, store)
        monitor = Monitor(source, store, settings)
        if alarms is not None:
            monitor.outputs.append(alarms)
        if place.webhook is not None:
            monitor.outputs.append(Webhook(place.webhook, store))
    except BaseException:
        store.close()
        raise
    return monitor


def _headless(monitor: Monitor, news: "_News") -> bool:
    """Run until the rows end; tell whether some were judged, or might have been but for a stop."""
    engine = monitor.engine
    before = monitor.status.counts()["judged"]  # by earlier runs with this state
    with _Signals(monitor.stop):
        monitor.start()
        while not monitor.join(0.2):
            news.tell()
    news.tell()
    for text in monitor.status.about_rows():
        news.say(f"Warning: {text}")
    news.say(_summary(monitor))
    new = monitor.status.counts()["judged"] - before
    return monitor.stopping.is_set() or (engine.judge is not None and (new > 0 or engine.trouble is None))


def _failures(monitor: Monitor, judged: bool, forgotten: bool) -> list[str]:
    """Return why a run that has ended did not do what it was asked for."""
    engine, found = monitor.engine, []
    if not judged and engine.judge is None:
        learned, needed = engine.told.learned, engine.settings.learn
        advice = " With a smaller number for --learn the others are judged." if _FEWEST < learned < needed else ""
        found.append(f"Nothing was judged: {learned:,} of {needed:,} rows to learn from have come.{advice}")
    lost = sum(output.left for output in monitor.outputs)
    if forgotten and lost:
        found.append(f"{lost:,} events of alarms were not delivered. With --state they are kept for the next start.")
    if monitor.status.failure is not None:
        found.append(monitor.status.failure)
    return found


class _News:
    """Says what does not work, each thing once."""

    def __init__(self, monitor: Monitor, say: Say) -> None:
        self.say, self._troubles = say, monitor.engine.troubles
        self._said: dict[str, str] = {}

    def tell(self) -> None:
        """Say what has not been said."""
        for subject, text in self._troubles.texts().items():
            if self._said.get(subject) != text:
                self._said[subject] = text
                self.say(text)


def _with_page(monitor: Monitor, place: Place, say: Say) -> None:
    try:
        from mercer.watch.server import WebServer, listen
    except ImportError as missing:
        raise MissingExtraError("starlette and uvicorn", "watch", "The page of mercer watch") from missing

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
    alarms, left_out = monitor.engine.tracker.next_number - 1, counts.get("not_judged", 0)
    rows = f"{counts['judged']:,} rows judged, {counts['alarm_rows']:,} of them unusual"
    judged = rows + (f", {left_out:,} not judged" if left_out else "")
    return f"{judged}; {alarms:,} {'alarm' if alarms == 1 else 'alarms'} so far." + counted(counts)


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
