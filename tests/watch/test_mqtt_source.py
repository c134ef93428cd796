"""Rows from MQTT: objects, lines and single values, and messages that come again after a crash."""

import json
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("paho.mqtt.client")
from paho.mqtt import publish

from mercer.watch.rows import RowReader
from mercer.watch.sources.base import Batch
from mercer.watch.sources.mqtt import MqttSource
from mercer.watch.sources.puzzle import Puzzle, column_of
from watch_brokers import mosquitto
from watch_process import until


class Receiver:
    """A source in a thread, with what it brought."""

    def __init__(self, address, position=None, acknowledges=True):
        self.source, self.stop, self.items, self.counts = MqttSource(address), threading.Event(), [], {}
        self.position, self.acknowledges = position, acknowledges
        self._thread = threading.Thread(target=self._run, args=(position,), daemon=True)
        self._thread.start()
        until(lambda: self.source._client is not None and self.source._client.is_connected(), "the broker")

    def _run(self, position):
        for batch in self.source.batches(position, self.stop):
            self.items += batch.items
            self.position = json.loads(json.dumps(batch.position))
            for key, value in batch.counts.items():
                self.counts[key] = self.counts.get(key, 0) + value
            if self.acknowledges:
                self.source.acknowledge(batch.tokens)

    def end(self, clean=True):
        self.stop.set()
        self._thread.join()
        if clean:
            self.source.close()
        else:  # the connection breaks, as where the process is killed
            self.source._client._sock_close()
            self.source._client.loop_stop()


@pytest.fixture
def port(tmp_path):
    with mosquitto(tmp_path) as found:
        yield found


def send(port, topic, *values, retain=False):
    messages = [(topic, value if isinstance(value, str) else json.dumps(value), 1, retain) for value in values]
    publish.multiple(messages, "127.0.0.1", port)


def test_objects_lines_and_arrays_come_as_they_are_sent(port):
    send(port, "plant/a/values", {"old": 1}, retain=True)
    receiver = Receiver(f"mqtt://127.0.0.1:{port}/plant/+/values")
    until(lambda: receiver.counts.get("retained"), "the retained message")
    send(port, "plant/a/values", {"x": 1, "y": 2}, "3,4", [{"x": 5}], "not json {")
    send(port, "plant/a/other", {"x": 99})
    until(lambda: len(receiver.items) >= 4, "four messages")
    receiver.end()
    assert receiver.items == ['{"x": 1, "y": 2}', "3,4", '[{"x": 5}]', "not json {"]


def test_single_values_are_put_together_to_rows(port):
    receiver = Receiver(f"mqtt://127.0.0.1:{port}/plant/#")
    for value in (1.0, 2.0, 3.0):
        for sensor in ("t1", "t2", "t3"):
            send(port, f"plant/{sensor}", value)
    until(lambda: len(receiver.items) >= 3, "three rows")
    receiver.end()
    assert receiver.items == [{"t1": v, "t2": v, "t3": v} for v in (1.0, 2.0, 3.0)]


def test_what_was_saved_and_comes_again_is_left_out_and_nothing_is_lost(port):
    address = f"mqtt://127.0.0.1:{port}/plant/values"
    first = Receiver(address, acknowledges=False)
    send(port, "plant/values", *({"x": i} for i in range(10)))
    until(lambda: len(first.items) == 10, "ten rows")
    first.end(clean=False)
    send(port, "plant/values", *({"x": i} for i in range(10, 30)))  # while nobody listens
    second = Receiver(address, first.position)
    until(lambda: len(second.items) >= 20, "the rows that came meanwhile")
    second.end()
    assert [json.loads(item)["x"] for item in second.items] == list(range(10, 30))
    assert second.counts == {"again": 10}


def test_rows_from_values_that_stay_away_or_are_new():
    puzzle = Puzzle({}, [])
    values = [("a", 1), ("b", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6), ("a", 7), ("c", 8)]
    rows = [row for name, value in values if (row := puzzle.add(name, value)) is not None]
    assert rows == [{"a": 1, "b": 2}, {"a": 3, "b": 4}, {"c": 5, "b": 6, "a": 7}]
    again = Puzzle(**{"partial": puzzle.state()["partial"], "names": puzzle.state()["names"]})
    assert again.state() == {"partial": {"c": 8}, "names": ["a", "b", "c"]}


@pytest.mark.parametrize(
    ("wanted", "topic", "column"),
    [("plant/+/values", "plant/t1/values", "t1"), ("plant/#", "plant/a/b", "a/b"), ("x/y", "x/y", "y"),
     ("+/+/v", "a/b/v", "a/b")],
)  # fmt: skip
def test_the_column_of_a_single_value(wanted, topic, column):
    assert column_of(wanted, topic) == column


@pytest.mark.parametrize("text", ["9" * 400, "1e400", "NaN", "-Infinity"])
def test_a_value_that_is_no_usable_number_ends_nothing(text):
    source, puzzle, row = MqttSource("mqtt://h/plant/+/values"), Puzzle({}, []), []
    for topic, payload in (("plant/a/values", text), ("plant/b/values", "2"), ("plant/a/values", "3")):
        row += source._items(SimpleNamespace(topic=topic, payload=payload.encode()), puzzle)
    rows = RowReader().read(Batch(row))
    assert np.array_equal(rows.values, [[np.nan, 2.0]], equal_nan=True)
