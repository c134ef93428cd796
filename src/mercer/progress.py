"""Show the progress of long computations: bars where rich or tqdm is installed, log lines otherwise."""

import logging
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

from mercer.events import COMPILATION, Channel, Event, Observer

LOGGER = logging.getLogger("mercer")
_PAUSE = 1.0  # seconds between two log lines of a stage


def observers(verbose: bool | int) -> tuple[Observer, ...]:
    """Return what shows progress: nothing for 0, a bar for 1, a log line per step for 2 and more."""
    if not verbose:
        return ()
    shown = LogLines(pause=0.0) if verbose > 1 else _bars()
    COMPILATION.add(shown)
    return (shown,)


def channel_to(watchers: tuple[Observer, ...], verbose: bool | int) -> Channel:
    """Return a channel to these observers, and to the display that `verbose` asks for."""
    return Channel((*watchers, *observers(verbose)))


def _bars() -> Observer:
    """Return bars, or log lines where neither rich nor tqdm is installed."""
    for make in (RichBars, TqdmBars):
        try:
            return make()
        except ImportError:
            continue
    return LogLines()


class RichBars:
    """One bar per stage, drawn by rich; the display ends with the last stage, or with this object."""

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._console: Any = console or Console(stderr=True)
        self._new: Callable[..., Any] = Progress
        self._open: list[Any] = []  # the display, while there is one
        self._tasks: dict[str, Any] = {}
        # Solvers do not report their end, so a stage of unknown length ends when this object is deleted.
        weakref.finalize(self, _stop_all, self._open)

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        display = self._open[0] if self._open else self._start()
        if event.stage not in self._tasks:
            self._tasks[event.stage] = display.add_task(event.stage, total=event.total, residual="")
        task = self._tasks[event.stage]
        display.update(task, completed=event.step, total=event.total, residual=_residual(event))
        if display.finished:
            self.close()

    def close(self) -> None:
        """End the display; a later event starts a new one."""
        _stop_all(self._open)
        self._tasks.clear()

    def _start(self) -> Any:
        """Open the display."""
        from rich.errors import LiveError
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

        columns = [
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[residual]}"),
            TimeElapsedColumn(),
        ]
        display = self._new(*columns, console=self._console)
        try:
            display.start()
        except LiveError:  # another display uses this console; tasks are counted but not shown
            display.disable = True
        self._open.append(display)
        return display


class TqdmBars:
    """One bar per stage, drawn by tqdm."""

    def __init__(self, file: Any = None) -> None:
        from tqdm import tqdm

        self._new: Callable[..., Any] = tqdm
        self._file = file
        self._bars: dict[str, Any] = {}
        weakref.finalize(self, _close_all, self._bars)

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        if event.stage not in self._bars:
            self._bars[event.stage] = self._new(total=event.total, desc=event.stage, file=self._file)
        bar = self._bars[event.stage]
        bar.update(event.step - bar.n)
        if event.residual is not None:
            bar.set_postfix_str(_residual(event), refresh=False)
        if _is_last(event):
            self._bars.pop(event.stage).close()

    def close(self) -> None:
        """End all bars."""
        _close_all(self._bars)


class LogLines:
    """Log lines through the logger `mercer`; they are shown where the program has not set up logging."""

    def __init__(self, pause: float = _PAUSE) -> None:
        self._pause = pause
        self._last: dict[str, float] = {}
        _make_visible()

    def __call__(self, event: Event) -> None:
        """Log one event, unless the previous line of the stage is very recent."""
        now = time.monotonic()
        if now - self._last.get(event.stage, -self._pause) < self._pause and not _is_last(event):
            return
        self._last[event.stage] = now
        of = "" if event.total is None else f" of {event.total}"
        LOGGER.info("%s: step %d%s %s(%.1f s)", event.stage, event.step, of, _spaced(event), event.seconds)

    def close(self) -> None:
        """Do nothing: log lines need no end."""


def _is_last(event: Event) -> bool:
    """Tell whether this is the last step of a stage."""
    return event.total is not None and event.step >= event.total


def _residual(event: Event) -> str:
    """Return the residual as text."""
    return "" if event.residual is None else f"residual {event.residual:.1e}"


def _spaced(event: Event) -> str:
    """Return the residual as text with a space after it."""
    text = _residual(event)
    return f"{text} " if text else ""


def _stop_all(displays: list[Any]) -> None:
    """End all displays."""
    while displays:
        displays.pop().stop()


def _close_all(bars: dict[str, Any]) -> None:
    """End all bars."""
    while bars:
        bars.popitem()[1].close()


def _make_visible() -> None:
    """Write log lines to standard error where the program has not set up logging."""
    if not LOGGER.hasHandlers():
        LOGGER.addHandler(logging.StreamHandler(sys.stderr))
    if not LOGGER.isEnabledFor(logging.INFO):
        LOGGER.setLevel(logging.INFO)
