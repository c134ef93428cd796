"""What the monitor says about itself, for the page and for programs."""

import time
from collections import deque
from typing import Any

from mercer.version import __version__
from mercer.watch.engine import Engine
from mercer.watch.feed import Feed
from mercer.watch.losses import warnings_about

_SILENT = 30.0  # seconds without rows: "no data"
_SPAN = 5.0  # seconds over which rows per second are counted


class Status:
    """Counts the speed, and puts together what is known."""

    def __init__(self, engine: Engine, feed: Feed) -> None:
        self.engine, self.feed = engine, feed
        self.failure: str | None = None
        self.stopped = False
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), engine.told.rows)])
        self._changed = time.monotonic()

    def note(self) -> None:
        """Note how many rows there are; called after every step of the engine."""
        now, rows = time.monotonic(), self.engine.told.rows
        if rows != self._seen[-1][1]:
            self._changed = now
        if now - self._seen[-1][0] >= 0.1:
            self._seen.append((now, rows))
        while len(self._seen) > 2 and now - self._seen[1][0] > _SPAN:
            self._seen.popleft()

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
        if time.monotonic() - self._changed > _SILENT:
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
