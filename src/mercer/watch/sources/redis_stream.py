"""Rows from a Redis stream, read by a consumer group.

What was delivered and not acknowledged comes again after a crash. An entry is acknowledged after its row is saved
together with its number, and entries up to that number are left out: so no row is lost and none is judged twice.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

from mercer.errors import MissingExtraError
from mercer.io.text import WESTERN
from mercer.watch.sources.base import MAX_LINE, Batch, Item, Position
from mercer.watch.sources.names import without_password

try:
    import redis
except ImportError as missing:
    raise MissingExtraError("redis", "watch", "Reading a Redis stream") from missing

_COUNT = 1000  # entries per call
_WAIT = 200  # milliseconds
_AGAIN = 1.0  # seconds before the next try to connect
_WHOLE = ("json", "row", "data")  # an entry with only this field holds a line of text


class RedisSource:
    """Entries of a stream: fields are columns, or one field called json, row or data holds a line."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        query = parse_qs(parts.query)
        self._stream = _one(query, "stream")
        self._group, self._consumer = _one(query, "group", "mercer-watch"), _one(query, "consumer", "mercer-watch")
        self._start = _one(query, "start", "0")  # where a new group begins: 0 is the first entry, $ only new ones
        self.name = f"{without_password(parts)}?stream={self._stream}"
        self._saved = (0, 0)  # entries up to this one are saved
        bare = urlunsplit(parts._replace(query="", fragment=""))
        self._client = redis.Redis.from_url(bare, socket_timeout=10.0, health_check_interval=30)

    def batches(self, position: Position | None, stop: threading.Event) -> Iterator[Batch]:
        """Yield entries: first those that were delivered before and not acknowledged, then new ones."""
        last = self._saved = _key((position or {}).get("last", "0-0"))
        pending, lost = "0", 0
        while not stop.is_set():
            try:
                self._make_group(position)
                entries = self._read(pending)
            except redis.RedisError as error:
                pending, lost = "0", lost + 1
                if lost == 1:
                    yield Batch((), trouble=f"{self.name} cannot be read ({error}); it is tried again.")
                stop.wait(_AGAIN)
                continue
            if lost:
                yield Batch((), counts={"reconnected": lost})
                lost = 0
            if pending != ">":
                pending = entries[-1][0].decode() if entries else ">"
            new = [(key, fields) for key, fields in entries if _key(key) > last]
            old = [key for key, _ in entries if _key(key) <= self._saved]  # others wait in the queue
            if old:
                self.acknowledge(old)
            if new:
                last = _key(new[-1][0])
                tokens = [key for key, _ in new]
                items = [item for _, fields in new if (item := _item(fields)) is not None]
                yield Batch(items, {"last": tokens[-1].decode()}, tokens=tokens)

    def _make_group(self, position: Position | None) -> None:
        """Make the consumer group, where there is none; a saved position is where it begins then."""
        start = self._start if position is None else position["last"]
        try:
            self._client.xgroup_create(self._stream, self._group, id=start, mkstream=True)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def _read(self, start: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        found: Any = self._client.xreadgroup(
            self._group, self._consumer, {self._stream: start}, count=_COUNT, block=_WAIT if start == ">" else None
        )
        entries = (found.values() if isinstance(found, dict) else (pair[1] for pair in found)) if found else ()
        return [(key, fields or {}) for part in entries for key, fields in _flat(part)]

    def acknowledge(self, tokens: Sequence[Any]) -> None:
        """Tell Redis that entries need not come again; if that fails, they come again and are left out."""
        self._saved = max(self._saved, *map(_key, tokens))
        try:
            self._client.xack(self._stream, self._group, *tokens)
        except redis.RedisError:
            return

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _flat(part: Any) -> list[Any]:
    """Return the entries of a stream; some versions of the client put them into one more list."""
    return part[0] if part and isinstance(part[0], list) else part


def _one(query: dict[str, list[str]], name: str, default: str | None = None) -> str:
    found = query.get(name, [default])[0]
    if not found:
        raise ValueError("A Redis source needs the name of a stream: redis://host:6379/0?stream=NAME")
    return found


def _key(number: bytes | str) -> tuple[int, int]:
    """Return the number of an entry so that numbers can be compared."""
    text = number.decode() if isinstance(number, bytes) else number
    first, _, second = text.partition("-")
    return int(first), int(second or 0)


def _item(fields: dict[bytes, bytes]) -> Item | None:
    """Return the row of an entry; None for one that was deleted."""
    if not fields:
        return None
    cells = {name.decode("utf-8", WESTERN): value for name, value in fields.items()}
    if len(cells) == 1:
        name, value = next(iter(cells.items()))
        if name in _WHOLE:
            return value[: MAX_LINE + 1].decode("utf-8", WESTERN)
    return {name: value.decode("utf-8", WESTERN) for name, value in cells.items()}
