"""The tables of the state, and its folder."""

import os
import sqlite3
from pathlib import Path
from typing import IO, Any

VERSION = 1
DATABASE, LOCK = "watch.sqlite", "lock"
_PATIENCE = 5.0  # seconds to wait while another program, such as one that makes copies, locks the file
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alarms (
    id INTEGER PRIMARY KEY, opened REAL NOT NULL, closed REAL, rows INTEGER NOT NULL, least_p REAL NOT NULL,
    acknowledged REAL, comment TEXT NOT NULL DEFAULT '', shelved_until REAL, contributions TEXT NOT NULL DEFAULT '[]'
);
CREATE TABLE IF NOT EXISTS history (
    level INTEGER, number INTEGER, alarm INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (level, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal (first INTEGER PRIMARY KEY, n INTEGER NOT NULL, rows BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, alarm INTEGER NOT NULL, kind TEXT NOT NULL, time REAL NOT NULL,
    sent INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS alarms_open ON alarms (closed) WHERE closed IS NULL;
"""


def connect(folder: Path) -> sqlite3.Connection:
    """Open the database of a state, and make its tables where there are none."""
    connection = sqlite3.connect(folder / DATABASE, timeout=_PATIENCE, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA journal_size_limit=16777216")
        found = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if found not in (0, VERSION):
            raise ValueError(
                f"The state in {folder} has version {found}; this mercer reads version {VERSION}. Give another folder."
            )
        connection.executescript(_TABLES)
        connection.execute(f"PRAGMA user_version={VERSION}")
    except sqlite3.OperationalError as error:  # locked, a full disk, no permission: the state itself may be whole
        raise ValueError(
            f"The state in {folder} cannot be opened ({error}). Try again, or give another folder."
        ) from error
    except sqlite3.DatabaseError as error:
        raise ValueError(
            f"The state in {folder} cannot be read ({error}). Give another folder, or delete this one."
        ) from error
    return connection


def lock(folder: Path) -> IO[Any]:
    """Take the folder for this process alone; the lock ends with the process, however it ends."""
    handle = open(folder / LOCK, "a+")  # noqa: SIM115 - it is held as long as the process lives
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such locks on Windows
        return handle
    except OSError as error:
        handle.close()
        raise ValueError(f"Another process uses the state in {folder}. Stop it, or give another folder.") from error
    os.set_inheritable(handle.fileno(), False)
    return handle
