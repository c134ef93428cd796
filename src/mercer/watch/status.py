"""What the monitor says about itself, for the page and for programs."""

import time
from collections import deque
from statistics import median
from typing import Any

from mercer.version import __version__
from mercer.watch.engine import Engine
from mercer.watch.feed import Feed
from mercer.watch.losses import warnings_about

_SILENT = 30.0  # seconds without rows: "no data"
_STEPS = 3.0  # and so many usual steps between rows: some plants give a row per minute
_ONE_STEP = 1.0  # seconds: what comes within them came together
_SPAN = 5.0  # seconds over which rows per second are counted


class Status:
    """Counts the speed, and puts together what is known."""

    def __init__(self, engine: Engine, feed: Feed) -> None:
        self.engine, self.feed = engine, feed
        self.failure: str | None = None
        self.stopped = False
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), engine.told.rows)])
        self._changed = time.monotonic()
        self._came: float | None = None  # when rows came the last time but those that came with them
        self._steps: deque[float] = deque(maxlen=5)  # seconds between the last times that rows came

    def note(self) -> None:
        """Note how many rows there are; called after every step of the engine."""
        now, rows = time.monotonic(), self.engine.told.rows
        if rows != self._seen[-1][1]:
            self._changed = now
            self._note_step(now)
        if now - self._seen[-1][0] >= 0.1:
            self._seen.append((now, rows))
        while len(self._seen) > 2 and now - self._seen[1][0] > _SPAN:
            self._seen.popleft()

    def _note_step(self, now: float) -> None:
        if self._came is not None and now - self._came < _ONE_STEP:
            return
        if self._came is not None:
            self._steps.append(now - self._came)
        self._came = now

    def silent(self) -> bool:
        """Tell whether rows have not come for longer than usual."""
        usual = median(self._steps) if self._steps else 0.0  # a single pause does not count
        return time.monotonic() - self._changed > max(_SILENT, _STEPS * usual)

    def rate(self) -> float:
        """Return rows per second of late."""
        first, rows = self._seen[0]
        return (self.engine.told.rows - rows) / max(time.monotonic() - first, 0.1)

    def lag(self) -> float:
        """Return how long the next row waits already."""
        since = self.feed.waiting[1]
        return 0.0 if since is None else max(0.0, time.time() - since)

    def state(self, open_alarms: int) -> str:
        """Return the state in one or two words."""
        if self.stopped or self.failure is not None:
            return "stopped"
        if open_alarms:
            return "alarm"
        if self.silent():
            return "no data"
        return "learning" if self.engine.judge is None else "ok"

    def warning(self) -> str | None:
        """Return what a user must know, or None."""
        urgent = self.failure or self.engine.trouble
        found = [*([urgent] if urgent else []), *self.about_rows()]
        return " ".join(found) or self._about_model()

    def about_rows(self) -> list[str]:
        """Return what a user must know about rows that were left out, and about their times."""
        told = self.engine.told
        return warnings_about(self.engine.reader, told.counts, told.rows, told.last_time)

    def _about_model(self) -> str | None:
        engine = self.engine
        rate = engine.rates.warning()
        if rate is None and engine.judge is not None and engine.judge.drifted():
            return "The model finds that it no longer fits: the process has drifted, or changed."
        return rate

    def counts(self) -> dict[str, int]:
        """Return what was counted."""
        first = dict.fromkeys(
            ("judged", "alarm_rows", "missing", "late", "text", "unknown_column", "duplicate", "dropped", "malformed"),
            0,
        )
        return first | self.engine.told.counts

    def __call__(self) -> dict[str, Any]:
        """Return all of it, as `/api/status` does."""
        engine, settings = self.engine, self.engine.settings
        shown = [alarm for alarm in engine.store.open_alarms() if alarm["state"] != "shelved"]
        judge = engine.judge
        t2, spe = (None, None) if judge is None else judge.limits
        return {
            "version": __version__, "title": settings.title, "state": self.state(len(shown)), "rows": engine.told.rows,
            "rows_per_second": round(self.rate(), 2), "learned": engine.told.learned,
            "learn": None if settings.model is not None else settings.learn, "alpha": engine.tracker.alpha,
            "variables": list(engine.reader.columns),
            "limits": {"t2": t2, "spe": spe, "p": engine.tracker.alpha},
            "open_alarms": len(shown), "last_time": engine.told.last_time, "lag_seconds": round(self.lag(), 3),
            "warning": self.warning(), "counts": self.counts(), "persist": list(settings.persist),
            "adapt": settings.adapt, "source": self.feed.source.name, "alarm_rate": engine.rates.rate,
        }  # fmt: skip
