"""The part that takes rows and gives verdicts and alarms; all of it is saved before anybody is told."""

import math
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from mercer.arrays import Array
from mercer.monitoring.causes import SLOW
from mercer.watch.alarms import Tracker
from mercer.watch.history import History
from mercer.watch.hub import Hub
from mercer.watch.judges import EXPLAINED, Judge, Judged, learned, not_judged
from mercer.watch.models import Models
from mercer.watch.rates import RateWatch
from mercer.watch.rows import RowReader, Rows
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Batch, Position
from mercer.watch.store import Step, Store
from mercer.watch.troubles import Troubles

_PATIENCE = 1.0  # seconds between two tries to write
_LAST_TRIES = 3.0  # seconds in which it is tried again after the stop
_NAMED = 5  # columns in a sentence

T = TypeVar("T")


class NotSavedError(Exception):
    """The state could not be written before the end."""


@dataclass(frozen=True)
class Told:
    """What may be told: it is saved."""

    rows: int
    last_time: float | None
    counts: dict[str, int]
    learned: int  # rows


class Engine:
    """Judges rows in the order in which they come."""

    def __init__(self, store: Store, settings: Settings, hub: Hub) -> None:
        self.store, self.settings, self.hub = store, settings, hub
        self.models = Models(store, settings)
        self.reader = RowReader(time=settings.time)
        self.counts: Counter[str] = self.reader.counts
        self.rows = 0  # that were used
        self.learned: list[Array] = []
        self.recent: Array = np.empty((0, 0))  # the last rows, for explanations
        self.last_time: float | None = None
        self.troubles = Troubles()
        self.stopping = threading.Event()  # set by whoever wants it to end
        self.position: Position | None = None
        self.judge: Judge | None = None
        self._resume()
        self.told = self._now()

    @property
    def trouble(self) -> str | None:
        """What the user must know."""
        return " ".join(self.troubles.texts().values()) or None

    # -- start -----------------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Go on where a saved state ends, or begin."""
        self.judge, since = self.models.at_start()  # first, so that a wrong model changes nothing
        if not self.models.same_origin():
            self.models.begin_anew()
        saved = self.store.meta("engine")
        if saved is not None:
            self.rows, self.last_time = saved["rows"], saved["last_time"]
            self.counts.update(saved["counts"])
            self.position = saved["position"]
            self.reader.restore(saved["reader"])
        if self.judge is not None and list(self.judge.columns) != (self.reader.columns if saved else None):
            self.store.forget_history()
            self.reader.fix(self.judge.columns)
        self.tracker = self._tracker(saved)
        self.rates = self._rates(saved)
        self._replay(since)
        self._history = History(self.store.newest(), self.store.stretch)

    def _tracker(self, saved: dict[str, Any] | None) -> Tracker:
        k, m = self.settings.persist
        alpha = self.settings.alpha if self.judge is None else self.judge.alpha
        tracker = Tracker(k, m, alpha, self.settings.quiet_rows)
        if saved is not None:
            tracker.restore(saved["tracker"])
        else:
            newest = self.store.alarms(1)
            tracker.next_number = newest[0]["id"] + 1 if newest else 1
            self._close_orphans()
        return tracker

    def _close_orphans(self) -> None:
        """Close alarms of another model, which nobody follows any more."""
        for alarm in self.store.open_alarms():
            self.store.change_alarm(alarm["id"], "closed", {"closed": time.time()})

    def _rates(self, saved: dict[str, Any] | None) -> RateWatch:
        watch = RateWatch(self.tracker.alpha)
        if saved is not None:
            watch.restore(saved["rates"])
        return watch

    def _replay(self, since: int) -> None:
        """Show the model the rows that came after it was saved, so that it is as it was before the stop."""
        for first, rows in self.store.journal(len(self.reader.columns)):
            if self.judge is None:
                self.learned.append(rows)
            else:
                if first >= since:
                    self.judge.judge(rows)
                self._remember(rows)

    # -- rows ------------------------------------------------------------------------------------------------------

    def take(self, batches: Sequence[Batch]) -> None:
        """Judge what has come, save it, and tell it."""
        parts = [self.reader.read(batch) for batch in batches]
        rows, step = joined(parts, len(self.reader.columns)), Step()
        self._note_columns(rows)
        told: list[Array] = []
        while len(rows):
            if self.judge is None:
                rows = self._learn(rows, step)
            else:
                told.append(self._judged(rows, step))
                rows = rows[len(rows) :]
        for batch in batches:
            self.position = self.position if batch.position is None else batch.position
            self._note("source", batch.trouble)
        self._save(step)
        for table in told:
            self.hub.rows(table)
        self._tell_alarms(step)

    def _note(self, subject: str, trouble: str | None) -> None:
        if trouble is None:
            self.troubles.over(subject)
        else:
            self.troubles.tell(subject, trouble)

    def _note_columns(self, rows: Rows) -> None:
        """Tell it while nothing that comes belongs to a column of the model."""
        if self.reader.fixed and (np.isnan(rows.values).all() if len(rows) else self.reader.strange):
            text = f"What comes has no value in any column of the model ({_some(self.reader.columns)})."
            unknown = f" Unknown columns: {_some(self.reader.unknown)}." if self.reader.unknown else ""
            self.troubles.tell("columns", text + unknown)
        elif len(rows):
            self.troubles.over("columns")

    def _learn(self, rows: Rows, step: Step) -> Rows:
        """Keep rows to learn from; learn as soon as there are enough. Return the rows that are left."""
        needed = self.settings.learn - sum(map(len, self.learned))
        part, rest = rows[:needed], rows[needed:]
        self.learned.append(part.values)
        self._journal(part.values, step)
        self.rows, self.last_time = self.rows + len(part), float(part.times[-1])
        if len(part) < needed:
            return rest
        table, names = padded(self.learned, len(self.reader.columns)), list(self.reader.columns)
        self.learned, step.journal, step.forget_before = [], [], self.rows
        try:
            self.judge = learned(table, names, self.settings.alpha, self.settings.adapt)
        except ValueError as error:
            text = f"These {len(table)} rows could not be learned from: {error} The next ones are tried."
            self.troubles.tell("learning", text)
            return rest
        self.troubles.over("learning")
        return self._begin_to_judge(table, names, rest, step)

    def _begin_to_judge(self, table: Array, names: list[str], rest: Rows, step: Step) -> Rows:
        """Take the columns of the learned model."""
        assert self.judge is not None
        used = [names.index(name) for name in self.judge.columns]
        self.reader.fix(self.judge.columns)
        step.forget_history, self._history = True, History({}, self.store.stretch)
        self.recent = np.empty((0, 0))
        self._remember(table[:, used])
        judge = self.judge
        step.meta |= self._patiently(lambda: self.models.saved(judge, self.rows))
        if self.settings.durable:
            step.journal = [(self.rows - len(self.recent), self.recent.copy())]
        return Rows(rest.times, rest.values[:, used])

    def _judged(self, rows: Rows, step: Step) -> Array:
        """Judge rows and note all that follows; return what the page shows of them."""
        found = self._verdict(rows.values)
        self._follow_alarms(rows, found, step)
        self.rates.add(rows.times, found.alarm)
        shown = np.column_stack([found.t2, found.spe, found.p])
        step.stretches = self._history.add(rows.times, np.hstack([shown, rows.values]), found.alarm)
        self._journal(rows.values, step)
        self._remember(rows.values)
        judged = int(found.judged.sum())
        self.counts["judged"] += judged
        if judged < len(rows):
            self.counts["not_judged"] += len(rows) - judged
        if found.reason is not None:
            self.troubles.tell("rows", found.reason)
        self.counts["alarm_rows"] += int(found.alarm.sum())
        self.rows, self.last_time = self.rows + len(rows), float(rows.times[-1])
        return np.column_stack([rows.times, shown, found.alarm])

    def _verdict(self, values: Array) -> Judged:
        """Return what the model says; rows that it cannot compute are not judged, and that is told."""
        assert self.judge is not None
        try:
            return self.judge.judge(values)
        except (ValueError, ArithmeticError) as error:
            self.troubles.tell("rows", f"Some rows could not be judged: {error}")
            return not_judged(len(values))

    def _follow_alarms(self, rows: Rows, found: Judged, step: Step) -> None:
        assert self.judge is not None
        before = self.tracker.alarm
        changes = self.tracker.follow(rows.times, found.p, found.alarm)
        around = np.vstack([self.recent, rows.values]) if changes and len(self.recent) else rows.values
        offset = len(around) - len(rows)
        opened = {change.row for change in changes if change.kind == "opened"}
        for change in changes:
            # a slow mean stays away for some rows after the cause has ended: these rows explain nothing
            only_slow = str(found.which[change.row]).startswith(SLOW) and change.row not in opened
            if change.kind == "explained" and not only_slow:
                last = offset + change.row + 1
                some = around[max(0, last - EXPLAINED) : last]
                step.explained[change.number] = self.judge.explain(some, str(found.which[change.row]))
        ended = {alarm.number: alarm for alarm, _ in self.tracker.closed}
        now = {} if self.tracker.alarm is None else {self.tracker.alarm.number: self.tracker.alarm}
        step.opened = [(ended | now)[change.number] for change in changes if change.kind == "opened"]
        step.closed = self.tracker.closed
        if before is not None and before.number in now:
            step.changed = [before]

    def _journal(self, rows: Array, step: Step) -> None:
        if self.settings.durable and (self.judge is None or self.judge.remembers):
            step.journal.append((self.rows, rows))
            self.models.journalled(len(rows))

    def _remember(self, rows: Array) -> None:
        last = rows if not len(self.recent) else np.vstack([self.recent[-EXPLAINED:], rows[-EXPLAINED:]])
        self.recent = last[-EXPLAINED:].copy()

    # -- saving ----------------------------------------------------------------------------------------------------

    def _save(self, step: Step) -> None:
        """Write what some rows changed, and with it where to go on."""
        step.meta["engine"] = {
            "rows": self.rows, "last_time": self.last_time, "counts": dict(self.counts), "position": self.position,
            "reader": self.reader.state(), "tracker": self.tracker.state(), "rates": self.rates.state(),
        }  # fmt: skip
        self._patiently(lambda: self.store.save(step))
        self.told = self._now()

    def _patiently(self, write: Callable[[], T]) -> T:
        """Write until it succeeds: a full disk must not stop the judging for ever. After the stop, for some seconds."""
        latest = math.inf
        while True:
            try:
                found = write()
            except (sqlite3.OperationalError, OSError) as error:
                self.troubles.tell("state", f"The state cannot be written ({error}); judging waits.")
                self.counts["state_errors"] += 1
                if not self.stopping.wait(_PATIENCE):
                    continue
                latest = min(latest, time.monotonic() + _LAST_TRIES)
                if time.monotonic() >= latest:
                    raise NotSavedError(
                        f"The state could not be written ({error}). The rows since it was last written are not saved: "
                        "a source that can go back sends them again."
                    ) from error
                time.sleep(_LAST_TRIES / 10)
            else:
                self.troubles.over("state")
                return found

    def _now(self) -> Told:
        learned = sum(map(len, self.learned)) if self.judge is None else self.settings.learn
        return Told(self.rows, self.last_time, dict(self.counts), learned)

    def save_model(self, now: bool = False) -> None:
        """Save the model with what it remembers, if it is time for it."""
        if self.judge is None or not self.judge.remembers or not self.settings.durable:
            return
        if now or self.models.due():
            try:
                meta = self.models.saved(self.judge, self.rows)
            except OSError as error:  # nothing is lost: the rows since the last one are in the journal
                self.troubles.tell("model", f"The model cannot be saved ({error}); it is tried again.")
                return
            self.troubles.over("model")
            self._save(Step(meta=meta, forget_before=self.rows - EXPLAINED))
            self.models.forget_others()

    def _tell_alarms(self, step: Step) -> None:
        numbers = {alarm.number for alarm in [*step.opened, *step.changed, *(one for one, _ in step.closed)]}
        for number in sorted(numbers | set(step.explained)):
            alarm = self.store.alarm(number)
            if alarm is not None:
                self.hub.alarm(alarm)


def _some(names: Iterable[str]) -> str:
    """Return the first of some names, as a text."""
    first = list(islice(names, _NAMED + 1))
    return ", ".join(first[:_NAMED]) + (", ..." if len(first) > _NAMED else "")


def padded(parts: Sequence[Array], width: int) -> Array:
    """Return rows together; those that came before a column was known have NaN there."""
    return np.vstack([np.hstack([rows, np.full((len(rows), width - rows.shape[1]), np.nan)]) for rows in parts])


def joined(parts: Sequence[Rows], width: int) -> Rows:
    """Return the rows of several batches together."""
    used = [rows for rows in parts if len(rows)]
    if not used:
        return Rows(np.zeros(0), np.zeros((0, width)))
    return Rows(np.concatenate([rows.times for rows in used]), padded([rows.values for rows in used], width))
