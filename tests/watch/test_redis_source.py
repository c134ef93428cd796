"""Rows from Redis streams: a consumer group, and a crash between saving and acknowledging."""

import json
import threading

import pytest

pytest.importorskip("redis")
import redis

from mercer.watch.monitor import Monitor
from mercer.watch.settings import Settings
from mercer.watch.sources import redis_stream
from mercer.watch.sources.redis_stream import RedisSource
from mercer.watch.store import Store
from watch_brokers import redis_server
from watch_parts import NAMES, alarms_of, engine_in, fed, items, plant
from watch_process import until

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
ROWS = plant(400, faults=((200, 230),))


@pytest.fixture
def port(tmp_path):
    with redis_server(tmp_path) as found:
        yield found


def added(client, first, last):
    for i, row in enumerate(items(ROWS[first:last], first), first):
        fields = row if i % 2 else {"json": json.dumps(row)}
        client.xadd("plant", {key: str(value) for key, value in fields.items()})


def test_a_crash_neither_loses_nor_doubles_rows(tmp_path, port):
    client = redis.Redis(port=port)
    address = f"redis://127.0.0.1:{port}/0?stream=plant"
    settings, done = Settings(learn=60, alpha=0.02), 0
    for upto in (150, 300, 400):
        source = RedisSource(address)
        if upto < 400:
            source.acknowledge = lambda tokens: None  # as if it was killed before: what is saved comes again
        monitor = Monitor(source, Store(tmp_path / "state"), settings)
        added(client, done, upto)
        monitor.start()
        until(lambda engine=monitor.engine, upto=upto: engine.rows >= upto, f"{upto} rows")
        monitor.stop()
        monitor.join()
        done, rows, alarms = upto, monitor.engine.rows, alarms_of(monitor.store)
        monitor.close()
    assert rows == 400
    assert client.xpending("plant", "mercer-watch")["pending"] == 0
    whole = engine_in(tmp_path / "whole")
    fed(whole, ROWS, [50])
    keys = ("id", "opened", "closed", "rows", "least_p")
    assert [[a[k] for k in keys] for a in alarms] == [[a[k] for k in keys] for a in alarms_of(whole.store)]
    whole.store.close()


def test_a_server_that_goes_away_is_waited_for(tmp_path):
    with redis_server(tmp_path) as port:
        source, stop = RedisSource(f"redis://127.0.0.1:{port}/0?stream=plant"), threading.Event()
        redis.Redis(port=port).xadd("plant", dict.fromkeys(NAMES, "1"))
        batches = source.batches(None, stop)
        assert len(next(batches).items) == 1
    told = next(batches)
    assert (list(told.items), told.position) == ([], None)
    assert f"127.0.0.1:{port}" in told.trouble
    threading.Timer(0.3, stop.set).start()
    assert list(batches) == []  # it is told once
    source.close()


def test_a_server_that_comes_back_is_told(monkeypatch):
    monkeypatch.setattr(redis_stream, "_AGAIN", 0.01)
    source, stop = RedisSource("redis://:secret@127.0.0.1:1/0?stream=plant"), threading.Event()
    batches = source.batches(None, stop)
    lost = next(batches)
    assert "secret" not in lost.trouble
    monkeypatch.setattr(source, "_make_group", lambda position: None)
    monkeypatch.setattr(source, "_read", lambda start: [])
    found = next(batches)
    assert (list(found.items), found.trouble, found.counts) == ([], None, {"reconnected": 1})
    source.close()
