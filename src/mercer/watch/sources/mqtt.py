"""Rows from an MQTT broker.

With quality of service 1, the broker keeps messages until they are acknowledged, also while this program is not
running. A message is acknowledged after its row is saved. One that was saved, but whose acknowledgement was lost, comes
again with the same number and a mark: it is recognised and left out.
"""

import hashlib
import json
import secrets
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from mercer.errors import MissingExtraError
from mercer.io.text import WESTERN
from mercer.watch.sources.base import MAX_LINE, Batch, Item, Position
from mercer.watch.sources.names import without_password
from mercer.watch.sources.puzzle import Puzzle, column_of

try:
    import paho.mqtt.client as mqtt
    from paho.mqtt.enums import CallbackAPIVersion
except ImportError as missing:
    raise MissingExtraError("paho-mqtt", "watch", "Reading from an MQTT broker") from missing

_POLL = 0.02  # seconds
_HELD = 20_000  # messages that wait; those of quality 0 beyond are dropped and counted
_REMEMBERED = 2000  # messages that were saved and may come again


class MqttSource:
    """Messages of a topic: a JSON object, a line of CSV, or one number, whose column is named by the topic."""

    def __init__(self, address: str) -> None:
        text, mark, rest = address.partition("#")  # in an address this begins a fragment; in a topic it is a wildcard
        parts = urlsplit(text)
        query = parse_qs((rest if mark else parts.query).partition("?")[2] if mark else parts.query)
        self._topic = unquote(parts.path.lstrip("/")) + mark
        if not self._topic:
            raise ValueError("An MQTT source needs a topic: mqtt://host:1883/plant/+/values")
        self._parts, self._secure = parts, parts.scheme == "mqtts"
        self._quality = int(query.get("qos", ["1"])[0])
        self._client_name = query.get("client", [""])[0]
        self.name = without_password(parts._replace(path="/" + self._topic))
        self._waiting: deque[mqtt.MQTTMessage] = deque()
        self._dropped = 0
        self._saved: deque[list[Any]] = deque(maxlen=_REMEMBERED)
        self._client: mqtt.Client | None = None

    # -- connection ------------------------------------------------------------------------------------------------

    def _connect(self, client_name: str) -> mqtt.Client:
        client = mqtt.Client(CallbackAPIVersion.VERSION2, client_name, clean_session=False, manual_ack=True)
        client.on_connect = self._on_connect
        client.on_message = self._on_message
        if self._parts.username:
            password = None if self._parts.password is None else unquote(self._parts.password)
            client.username_pw_set(unquote(self._parts.username), password)
        if self._secure:
            client.tls_set()
        port = self._parts.port or (8883 if self._secure else 1883)
        client.reconnect_delay_set(1, 30)
        client.connect_async(self._parts.hostname or "localhost", port)
        client.loop_start()
        return client

    def _on_connect(self, client: mqtt.Client, *_: Any) -> None:
        client.subscribe(self._topic, self._quality)

    def _on_message(self, _: mqtt.Client, __: Any, message: mqtt.MQTTMessage) -> None:
        if message.qos == 0 and len(self._waiting) >= _HELD:
            self._dropped += 1
        else:
            self._waiting.append(message)

    def acknowledge(self, tokens: Sequence[Any]) -> None:
        """Tell the broker that messages need not come again."""
        if self._client is not None:
            for number, quality in tokens:
                self._client.ack(number, quality)

    def close(self) -> None:
        """Leave the broker; it keeps what comes until the next start."""
        if self._client is not None:
            self._client.disconnect()
            self._client.loop_stop()
            self._client = None

    # -- messages --------------------------------------------------------------------------------------------------

    def batches(self, position: Position | None, stop: threading.Event) -> Iterator[Batch]:
        """Yield rows of messages as they come."""
        saved = position or {}
        name = self._client_name or saved.get("client") or f"mercer-watch-{secrets.token_hex(8)}"
        puzzle = Puzzle(saved.get("partial", {}), saved.get("names", []))
        self._saved.extend(saved.get("saved", []))
        self._client = self._connect(name)
        while not stop.is_set():
            batch = self._batch(name, puzzle)
            if batch is None:
                stop.wait(_POLL)
            else:
                yield batch

    def _batch(self, name: str, puzzle: Puzzle) -> Batch | None:
        messages = [self._waiting.popleft() for _ in range(len(self._waiting))]
        counts = {"dropped": self._dropped} if self._dropped else {}
        self._dropped = 0
        if not messages and not counts:
            return None
        items: list[Item] = []
        tokens = []
        for message in messages:
            if message.qos:
                tokens.append((message.mid, message.qos))
            if message.retain:
                counts["retained"] = counts.get("retained", 0) + 1  # an old value, sent because we subscribed
            elif not self._is_again(message, counts):
                items.extend(self._items(message, puzzle))
        position = {"client": name, "saved": list(self._saved), **puzzle.state()}
        return Batch(items, position, tokens=tokens, counts=counts)

    def _is_again(self, message: mqtt.MQTTMessage, counts: dict[str, int]) -> bool:
        """Tell whether a message was saved before; if not, remember it."""
        if not message.qos:
            return False
        mark = [message.mid, hashlib.sha256(message.payload).hexdigest()[:16]]
        if message.dup and mark in self._saved:
            counts["again"] = counts.get("again", 0) + 1
            return True
        self._saved.append(mark)
        return False

    def _items(self, message: mqtt.MQTTMessage, puzzle: Puzzle) -> list[Item]:
        text = message.payload[: MAX_LINE + 1].decode("utf-8", WESTERN).strip()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return [line for line in text.splitlines() if line]
        if isinstance(value, int | float) and not isinstance(value, bool):
            row = puzzle.add(column_of(self._topic, _topic(message)), float(text))  # hundreds of digits are infinity
            return [] if row is None else [row]
        return [text]


def _topic(message: mqtt.MQTTMessage) -> str:
    try:
        return message.topic
    except UnicodeDecodeError:
        return "?"
