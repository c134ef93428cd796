"""What the tests of `mercer watch` share: a small plant, a small monitor, and requests without a network."""

import asyncio
import json
import threading
from pathlib import Path

import numpy as np

from mercer.watch.engine import Engine
from mercer.watch.hub import Hub
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Batch
from mercer.watch.store import Store

NAMES = ["flow", "heat", "level"]
START = 1_700_000_000.0


def plant(n: int, seed: int = 0, faults: tuple[tuple[int, int], ...] = ()) -> np.ndarray:
    """Rows of three variables, (n, 3); in a fault the second one is far too high."""
    rng = np.random.default_rng(seed)
    state = rng.standard_normal((n, 2))
    rows = np.column_stack([state[:, 0], state.sum(axis=1), state[:, 1]]) + 0.3 * rng.standard_normal((n, 3))
    for first, last in faults:
        rows[first:last, 1] += 12.0
    return np.round(rows, 6)


def items(rows: np.ndarray, first: int = 0) -> list[dict[str, float]]:
    """Rows as values by name, one per second."""
    return [{"time": START + first + i, **dict(zip(NAMES, row.tolist(), strict=True))} for i, row in enumerate(rows)]


def csv_text(rows: np.ndarray, first: int = 0, header: bool = True) -> str:
    lines = [",".join([str(START + first + i), *(f"{v:.6f}" for v in row)]) for i, row in enumerate(rows)]
    return "\n".join(([",".join(["time", *NAMES])] if header else []) + lines) + "\n"


def engine_in(folder: Path, **settings) -> Engine:
    return Engine(Store(folder), Settings(**{"learn": 60, "alpha": 0.02, **settings}), Hub())


def fed(engine: Engine, rows: np.ndarray, sizes: list[int], first: int = 0) -> None:
    """Let an engine take rows in batches of given sizes, over and over; the position is the number of the next row."""
    at, turn = first, 0
    while at < len(rows):
        size = sizes[turn % len(sizes)]
        batch = Batch(items(rows[at : at + size], at), {"row": min(at + size, len(rows))})
        engine.take([batch])
        at, turn = at + size, turn + 1


def history_of(store: Store) -> dict[tuple[int, int], tuple[bytes, int]]:
    return {(level, number): (data, alarm) for level, number, alarm, data in store._read("SELECT * FROM history")}


def alarms_of(store: Store) -> list[dict]:
    return store.alarms(1000)


class Client:
    """Sends requests to an application, without a network."""

    def __init__(self, app, host: str = "127.0.0.1:8350") -> None:
        self.app, self.host = app, host

    def __call__(self, method, path, *, body=b"", headers=None, query=""):
        """Return status, headers and body of the answer."""
        given = {"host": self.host, **(headers or {})}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode("utf-8", "replace"), "query_string": query.encode("latin-1"),
            "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8350),
            "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in given.items() if v is not None],
        }  # fmt: skip
        sent = []
        pieces = [body[i : i + 4096] for i in range(0, len(body), 4096)] or [b""]

        async def receive():
            piece = pieces.pop(0) if pieces else b""
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message):
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        found = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        return sent[0]["status"], found, b"".join(m.get("body", b"") for m in sent[1:])

    def get(self, path, query="", **headers):
        status, _, body = self("GET", path, query=query, headers=headers)
        return status, json.loads(body)

    def post(self, path, value, **headers):
        given = {"content-type": "application/json", **headers}
        status, _, body = self("POST", path, body=json.dumps(value).encode(), headers=given)
        return status, json.loads(body)


class Listed:
    """A source of rows that are there already."""

    name = "a list"

    def __init__(self, rows: np.ndarray, size: int = 50) -> None:
        self.rows, self.size, self.acknowledged = rows, size, []

    def batches(self, position, stop: threading.Event):
        first = 0 if position is None else position["row"]
        for at in range(first, len(self.rows), self.size):
            last = min(at + self.size, len(self.rows))
            yield Batch(items(self.rows[at:last], at), {"row": last}, tokens=[last])

    def acknowledge(self, tokens):
        self.acknowledged += tokens

    def close(self):
        pass
