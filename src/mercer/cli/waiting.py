"""What a command shows while it works: nothing for two seconds, then progress on a terminal, and nothing in a pipe."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from mercer.cli import console
from mercer.events import COMPILATION, Event, Observer
from mercer.progress import LogLines

DELAY = 2.0  # seconds of work before anything is shown
_NAMES = {"krylov": "passes over the kernel matrix"}


@contextmanager
def watch(verbose: bool = False, out: str | None = None) -> Iterator[tuple[Observer, ...]]:
    """Show the progress of the work inside; with `verbose` at once, and in a pipe as lines.

    No progress is shown if rows are written to the terminal (`out` is -).
    """
    busy = out == "-" and sys.stdout is not None and sys.stdout.isatty()
    if console.err.is_terminal and not busy:
        with Display(0.0 if verbose else DELAY) as display:
            COMPILATION.add(display)
            yield (display,)
    elif verbose:
        lines = LogLines()
        COMPILATION.add(lines)
        yield (lines,)
    else:
        yield ()


class Display:
    """An observer that draws one line per stage with rows or steps done, the time so far and the time that is left."""

    def __init__(self, delay: float = DELAY) -> None:
        self._lock = threading.RLock()
        self._timer = threading.Timer(delay, self._appear)
        self._timer.daemon = True
        self._bars: Progress | None = None
        self._events: dict[str, Event] = {}
        self._started: dict[str, float] = {}
        self._tasks: dict[str, Any] = {}
        self._begun = time.monotonic()
        self._ended = False

    def __enter__(self) -> "Display":
        self._timer.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._bars is not None:
                self._bars.stop()
                self._bars = None

    def __call__(self, event: Event) -> None:
        """Store an event, and draw it if the display has started."""
        with self._lock:
            before = self._events.get(event.stage)
            if before is None or event.step < before.step:  # a stage starts, or starts again
                self._started[event.stage] = self._begun if not self._events else time.monotonic()
            self._events[event.stage] = event
            if self._bars is not None:
                self._draw(event)

    def _appear(self) -> None:
        with self._lock:
            if self._ended:
                return
            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[state]}"),
                TimeElapsedColumn(),
            )
            self._bars = Progress(*columns, console=console.err, transient=True)
            self._bars.start()
            if not self._events:
                self._tasks[""] = self._bars.add_task("working", total=None, state="")
                self._bars.tasks[-1].start_time = self._bars.get_time() - (time.monotonic() - self._begun)
            for event in list(self._events.values()):
                self._draw(event)

    def _draw(self, event: Event) -> None:
        assert self._bars is not None
        if event.stage not in self._tasks:
            if "" in self._tasks:
                self._bars.remove_task(self._tasks.pop(""))
            name = _NAMES.get(event.stage, event.stage)
            self._tasks[event.stage] = self._bars.add_task(name, total=event.total, state="")
            self._bars.tasks[-1].start_time = self._bars.get_time() - (time.monotonic() - self._started[event.stage])
        total = None if event.total is None else max(event.total, event.step)
        left = _time_left(event, time.monotonic() - self._started[event.stage])
        self._bars.update(self._tasks[event.stage], completed=event.step, total=total, state=_state(event) + left)


def _state(event: Event) -> str:
    of = "" if event.total is None else f" of {max(event.total, event.step):,}"
    residual = "" if event.residual is None else f", residual {event.residual:.0e}"
    return f"{event.step:,}{of}{residual}"


def _time_left(event: Event, seconds: float) -> str:
    if event.total is None or not 0 < event.step < event.total:
        return ""
    left = round(seconds * (event.total - event.step) / event.step)
    return f", about {left // 60} min {left % 60} s left" if left >= 60 else f", about {left} s left"
