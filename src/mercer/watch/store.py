"""The state on disk: one SQLite file in WAL mode. What was judged and where the source stands are saved together."""

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.watch.alarms import OpenAlarm, state_of
from mercer.watch.history import Key, Stretch, columns_in, kept_of, unpacked
from mercer.watch.schema import connect, lock

MAX_ALARMS = 100_000
_MAX_EVENTS = 10_000
_TIDY = 3000  # stretches of the history that are written between two looks at what is too old
_COLUMNS = (
    "id", "opened", "closed", "rows", "least_p", "acknowledged", "comment", "shelved_until", "contributions",
)  # fmt: skip
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM alarms"

Alarm = dict[str, Any]


@dataclass
class Step:
    """All that some rows change, to be saved at once."""

    meta: dict[str, Any] = field(default_factory=dict)
    stretches: Mapping[Key, Stretch] = field(default_factory=dict)
    opened: list[OpenAlarm] = field(default_factory=list)
    changed: list[OpenAlarm] = field(default_factory=list)
    closed: list[tuple[OpenAlarm, float]] = field(default_factory=list)
    explained: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    journal: list[tuple[int, Array]] = field(default_factory=list)  # number of the first row, rows (n, d)
    forget_history: bool = False  # it is that of other columns
    forget_before: int | None = None  # rows of the journal before this number are not needed any more


class Store:
    """Reads and writes the state. One connection writes, under a lock; another reads."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._lock_file = folder, lock(folder)
        self._connection = connect(folder)
        self._reader = connect(folder)
        self._writing, self._reading = threading.RLock(), threading.Lock()
        self._written = _TIDY  # so that the first step looks
        self.state_id = self._identity()

    def _identity(self) -> str:
        """Return the random id of this state, made at its first use: events of every state are numbered from 1."""
        found = self.meta("state_id")
        if found is None:
            found = secrets.token_hex(8)
            self.put({"state_id": found})
        return str(found)

    def close(self) -> None:
        """Close the file and give the folder free."""
        with self._writing, self._reading:
            self._reader.close()
            self._connection.close()
            self._lock_file.close()

    # -- writing ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """Write as a whole or not at all; `durable` also waits for the disk."""
        with self._writing:
            if durable:
                self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            finally:
                if durable:
                    self._connection.execute("PRAGMA synchronous=NORMAL")

    def save(self, step: Step) -> None:
        """Save what some rows changed."""
        with self._transaction(durable=bool(step.opened or step.closed)) as connection:
            _put_meta(connection, step.meta)
            if step.forget_history:
                connection.execute("DELETE FROM history")
            connection.executemany(
                "INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?)",
                [(*key, int(one.alarm), one.packed()) for key, one in step.stretches.items()],
            )
            _put_alarms(connection, step)
            if step.forget_before is not None:
                connection.execute("DELETE FROM journal WHERE first + n <= ?", (step.forget_before,))
            connection.executemany(
                "INSERT INTO journal VALUES (?, ?, ?)",
                [(first, len(rows), rows.astype("<f8").tobytes()) for first, rows in step.journal],
            )
            self._written += len(step.stretches)
            if self._written >= _TIDY:
                _tidy(connection)
                self._written = 0

    def put(self, meta: Mapping[str, Any]) -> None:
        """Save single values."""
        with self._transaction() as connection:
            _put_meta(connection, meta)

    def forget_history(self) -> None:
        """Delete the history and the journal, as they are those of other columns."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM history")
            connection.execute("DELETE FROM journal")

    def change_alarm(self, number: int, kind: str, values: Mapping[str, Any]) -> Alarm | None:
        """Save what an operator says about an alarm, on disk before this returns; None if there is no such alarm."""
        names = ", ".join(f"{name} = ?" for name in values)
        with self._transaction(durable=True) as connection:
            found = connection.execute(f"UPDATE alarms SET {names} WHERE id = ?", (*values.values(), number))
            if found.rowcount == 0:
                return None
            _put_event(connection, number, kind)
        return self.alarm(number)

    # -- reading ---------------------------------------------------------------------------------------------------

    def _read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._reading:
            return self._reader.execute(query, values).fetchall()

    def meta(self, key: str) -> Any:
        """Return a saved value, or None."""
        found = self._read("SELECT value FROM meta WHERE key = ?", (key,))
        return json.loads(found[0][0]) if found else None

    def alarm(self, number: int) -> Alarm | None:
        """Return one alarm."""
        found = self._read(f"{_SELECT} WHERE id = ?", (number,))
        return _alarm(found[0]) if found else None

    def alarms(self, limit: int, before: int | None = None) -> list[Alarm]:
        """Return alarms, the newest first."""
        latest = 2**62 if before is None else before
        return [_alarm(row) for row in self._read(f"{_SELECT} WHERE id < ? ORDER BY id DESC LIMIT ?", (latest, limit))]

    def open_alarms(self) -> list[Alarm]:
        """Return the alarms that are not closed."""
        return [_alarm(row) for row in self._read(f"{_SELECT} WHERE closed IS NULL ORDER BY id")]

    def journal(self, n_columns: int) -> Iterator[tuple[int, Array]]:
        """Yield the rows since the model was saved and some before it: the number of the first, and rows (n, d)."""
        for first, n, data in self._read("SELECT first, n, rows FROM journal ORDER BY first"):
            rows = np.frombuffer(data, "<f8").reshape(n, -1)
            missing = np.full((n, max(n_columns - rows.shape[1], 0)), np.nan)
            yield first, np.hstack([rows, missing])

    def stretch(self, key: Key) -> Stretch | None:
        """Return a saved stretch of the history."""
        found = self._read("SELECT data, alarm FROM history WHERE level = ? AND number = ?", key)
        return unpacked(found[0][0], bool(found[0][1])) if found else None

    def stretches(self, level: int, first: int, last: int) -> tuple[Array, Array, Array]:
        """Return the numbers of stretches, their values, (n, 2, 3 + d), and whether there was an alarm."""
        query = "SELECT number, alarm, data FROM history WHERE level = ? AND number BETWEEN ? AND ? ORDER BY number"
        found = self._read(query, (level, first, last))
        numbers = np.array([row[0] for row in found], np.float64)
        alarm = np.array([row[1] for row in found], np.float64)
        data = np.frombuffer(b"".join(row[2] for row in found), "<f8")
        return numbers, data.reshape(len(found), 2, -1) if len(found) else np.zeros((0, 2, 3)), alarm

    def newest(self) -> dict[int, int]:
        """Return the newest stretch of each level."""
        return dict(self._read("SELECT level, MAX(number) FROM history GROUP BY level"))

    def n_columns(self) -> int:
        """Return the number of variables in the history."""
        found = self._read("SELECT LENGTH(data) FROM history LIMIT 1")
        return columns_in(found[0][0]) if found else 0

    def oldest(self, level: int) -> int | None:
        """Return the oldest stretch of a level."""
        found = self._read("SELECT MIN(number) FROM history WHERE level = ?", (level,))[0][0]
        return None if found is None else int(found)

    def events(self, after: int, limit: int = 100, unsent: bool = False) -> list[dict[str, Any]]:
        """Return what happened to alarms after a number, in its order."""
        query = f"SELECT id, alarm, kind, time {_events_after(unsent)} ORDER BY id LIMIT ?"
        keys = ("event", "alarm", "kind", "time")
        return [dict(zip(keys, row, strict=True)) for row in self._read(query, (after, limit))]

    def n_events(self, after: int, unsent: bool = False) -> int:
        """Return how many events there are after a number."""
        return int(self._read(f"SELECT COUNT(*) {_events_after(unsent)}", (after,))[0][0])

    def mark_sent(self, event: int) -> None:
        """Remember that an event was delivered."""
        with self._transaction() as connection:
            connection.execute("UPDATE events SET sent = 1 WHERE id = ?", (event,))


def _events_after(unsent: bool) -> str:
    return "FROM events WHERE id > ?" + (" AND sent = 0" if unsent else "")


def _put_meta(connection: sqlite3.Connection, meta: Mapping[str, Any]) -> None:
    rows = [(key, json.dumps(value)) for key, value in meta.items()]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _put_alarms(connection: sqlite3.Connection, step: Step) -> None:
    for alarm in step.opened:
        connection.execute(
            "INSERT INTO alarms (id, opened, rows, least_p) VALUES (?, ?, ?, ?)",
            (alarm.number, alarm.opened, alarm.rows, alarm.least_p),
        )
    for alarm in step.changed:
        connection.execute(
            "UPDATE alarms SET rows = ?, least_p = ? WHERE id = ?", (alarm.rows, alarm.least_p, alarm.number)
        )
    for number, found in step.explained.items():
        connection.execute("UPDATE alarms SET contributions = ? WHERE id = ?", (json.dumps(found), number))
    for alarm in step.opened:
        _inherit_shelf(connection, alarm.number, step.explained.get(alarm.number, []))
    for alarm, at in step.closed:
        connection.execute(
            "UPDATE alarms SET rows = ?, least_p = ?, closed = ? WHERE id = ?",
            (alarm.rows, alarm.least_p, at, alarm.number),
        )
    for number, kind, at in _events_of(step):
        _put_event(connection, number, kind, at)


def _events_of(step: Step) -> list[tuple[int, str, float]]:
    """Return what happened, in its order: at most one alarm is open, so an alarm is closed before the next one opens.

    Times are no order: they fall where the clock was set back.
    """
    opened = [(alarm.number, "opened", alarm.opened) for alarm in step.opened]
    closed = [(alarm.number, "closed", at) for alarm, at in step.closed]
    return sorted(opened + closed, key=itemgetter(0))  # of one alarm, the opening stays first


def _inherit_shelf(connection: sqlite3.Connection, number: int, explanation: list[dict[str, Any]]) -> None:
    """Shelve a new alarm if one that was led by the same variable is shelved at this time."""
    query = "SELECT shelved_until, contributions FROM alarms WHERE shelved_until > ? AND id < ?"
    for until, contributions in connection.execute(query, (time.time(), number)).fetchall():
        led = json.loads(contributions)
        if explanation and led and led[0]["variable"] == explanation[0]["variable"]:
            connection.execute("UPDATE alarms SET shelved_until = ? WHERE id = ?", (until, number))


def _put_event(connection: sqlite3.Connection, alarm: int, kind: str, at: float | None = None) -> None:
    stamp = time.time() if at is None else at
    connection.execute("INSERT INTO events (alarm, kind, time) VALUES (?, ?, ?)", (alarm, kind, stamp))


def _tidy(connection: sqlite3.Connection) -> None:
    """Delete what is older than what is kept."""
    found = connection.execute("SELECT LENGTH(data) FROM history LIMIT 1").fetchone()
    kept = kept_of(0 if found is None else columns_in(found[0]))
    for level, newest in connection.execute("SELECT level, MAX(number) FROM history GROUP BY level").fetchall():
        connection.execute("DELETE FROM history WHERE level = ? AND number <= ?", (level, newest - kept))
    connection.execute(
        "DELETE FROM alarms WHERE closed IS NOT NULL AND id <= (SELECT MAX(id) FROM alarms) - ?", (MAX_ALARMS,)
    )
    connection.execute("DELETE FROM events WHERE id <= (SELECT MAX(id) FROM events) - ?", (_MAX_EVENTS,))


def _alarm(row: Sequence[Any]) -> Alarm:
    found = dict(zip(_COLUMNS, row, strict=True))
    found["contributions"] = json.loads(found["contributions"])
    state = state_of(found["closed"], found["acknowledged"], found["shelved_until"], time.time())
    return {**found, "state": state}
