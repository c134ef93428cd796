"""The interfaces of programs and of the page: what they return, and what they refuse."""

import asyncio
import json
import sqlite3
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watch_parts import NAMES, START, Client, Listed, plant

pytest.importorskip("starlette")
from mercer.watch.api import Api
from mercer.watch.broadcast import Broadcast
from mercer.watch.hub import Hub, message_of
from mercer.watch.monitor import Monitor
from mercer.watch.security import HEADERS, Guard
from mercer.watch.settings import Settings
from mercer.watch.store import Store

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
TOKEN = "a-long-secret-of-the-test"


@pytest.fixture(scope="module")
def monitor(tmp_path_factory):
    rows = plant(500, faults=((200, 230), (470, 500)))
    found = Monitor(Listed(rows), Store(tmp_path_factory.mktemp("state")), Settings(learn=60, alpha=0.02))
    found.start()
    found.join()
    assert found.status.failure is None
    yield found
    found.close()


@pytest.fixture(scope="module")
def api(monitor):
    return Api(monitor)


@pytest.fixture(scope="module")
def client(api):
    return Client(api.application(Guard("127.0.0.1", 8350)))


@pytest.fixture(scope="module")
def guarded(api):
    return Client(api.application(Guard("0.0.0.0", 8350, TOKEN, frozenset({"plant"}))))


def test_status(client):
    status, found = client.get("/api/status")
    assert status == 200
    assert found["rows"] == 500
    assert found["variables"] == NAMES
    assert found["state"] == "stopped"
    assert found["open_alarms"] == 1
    assert found["counts"]["judged"] == 440
    assert found["limits"]["p"] == found["alpha"] == 0.02
    assert found["last_time"] == START + 499
    assert {
        "version",
        "title",
        "rows_per_second",
        "learned",
        "learn",
        "lag_seconds",
        "warning",
        "persist",
        "adapt",
    } <= set(found)


def test_history_and_trend(client):
    status, found = client.get("/api/history", "points=100")
    assert status == 200
    assert len(found["time"]) <= 100
    assert {len(found["p"]["low"]), len(found["t2"]["high"]), len(found["alarm"])} == {len(found["time"])}
    assert sum(found["alarm"]) > 3
    status, found = client.get("/api/trend", f"variable=heat&start={START + 300}&end={START + 400}")
    assert status == 200
    assert START + 299 <= found["time"][0] <= found["time"][-1] <= START + 400
    assert all(low <= high for low, high in zip(found["low"], found["high"], strict=True))


def test_alarms_pages_of_them(client):
    _, found = client.get("/api/alarms")
    alarms = found["alarms"]
    assert alarms[0]["state"] == "open"
    assert [alarm["id"] for alarm in alarms] == sorted((alarm["id"] for alarm in alarms), reverse=True)
    _, older = client.get("/api/alarms", f"limit=1&before={alarms[0]['id']}")
    assert older["alarms"] == alarms[1:2]


def test_an_operator_acknowledges_comments_and_shelves(client, api):
    api.monitor.hub.listeners = 1
    _, alarm = client.post("/api/alarms/1/acknowledge", {"comment": "seen <b>it</b>\u0000"})
    assert alarm["acknowledged"] > 0
    assert alarm["comment"] == "seen <b>it</b> "
    _, alarm = client.post("/api/alarms/1/comment", {"comment": "pump changed"}, origin="http://127.0.0.1:8350")
    assert alarm["comment"] == "pump changed"
    newest = client.get("/api/alarms")[1]["alarms"][0]["id"]
    _, alarm = client.post(f"/api/alarms/{newest}/shelve", {"minutes": 5})
    assert alarm["state"] == "shelved"
    assert client.get("/api/status")[1]["open_alarms"] == 0
    _, alarm = client.post(f"/api/alarms/{newest}/shelve", {"minutes": 0})
    assert (alarm["state"], alarm["shelved_until"]) == ("open", None)
    _, told = api.monitor.hub.taken()
    assert {one["id"] for one in told} == {1, newest}
    assert [event["kind"] for event in api.store.events(0)][-4:] == ["acknowledged", "commented", "shelved", "shelved"]


def test_an_operator_is_told_where_the_state_cannot_be_written(client, api, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(api.store, "change_alarm", full)
    status, found = client.post("/api/alarms/1/comment", {"comment": "x"})
    assert (status, found["error"]) == (
        503,
        "The state cannot be read or written (database or disk is full). Nothing was changed; try again.",
    )


def test_metrics_are_lines_that_prometheus_reads(client):
    _, headers, body = client("GET", "/metrics")
    lines = body.decode().splitlines()
    assert headers["content-type"].startswith("text/plain")
    assert "mercer_watch_judged_rows_total 440" in lines
    for line in lines:
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2
        if not line.startswith("#"):
            float(line.rsplit(" ", 1)[1])


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("/api/history", "points=1", 400), ("/api/history", "points=nan", 400), ("/api/history", "start=x", 400),
        ("/api/history", "start=5&end=4", 400), ("/api/history", "end=1e300", 400), ("/api/alarms", "limit=0", 400),
        ("/api/alarms", "before=-1", 400), ("/api/trend", "variable=nobody", 404), ("/api/trend", "", 404),
        ("/nothing", "", 404), ("/api", "", 404), ("/static/../api.py", "", 404), ("/static/..%2fapi.py", "", 404),
        ("/static/%2e%2e/%2e%2e/etc/passwd", "", 404), ("/static//etc/passwd", "", 404), ("/static/", "", 404),
        ("/static/\x00", "", 404), ("/api/alarms/1/acknowledge", "", 405), ("/api/status/", "", 404),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused_in_a_sentence(client, path, query, status):
    found, answer = client.get(path, query)
    assert found == status
    assert answer["error"].endswith((".", "d", "s"))


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/alarms/1/comment", b"{", 400), ("/api/alarms/1/comment", b"[]", 400),
        ("/api/alarms/1/comment", b'{"comment": 5}', 400), ("/api/alarms/1/comment", b'{"comment": "\\ud800"}', 400),
        ("/api/alarms/1/comment", json.dumps({"comment": "x" * 2001}).encode(), 400),
        ("/api/alarms/1/comment", b'{"comment": "' + b"x" * 20_000 + b'"}', 413),
        ("/api/alarms/1/comment", b"[" * 15_000, 400), ("/api/alarms/1/shelve", b'{"minutes": NaN}', 400),
        ("/api/alarms/1/shelve", b'{"minutes": -1}', 400), ("/api/alarms/1/shelve", b'{"minutes": true}', 400),
        ("/api/alarms/1/shelve", b'{"minutes": 1e300}', 400), ("/api/alarms/1/shelve", b"{}", 400),
        ("/api/alarms/1/shelve", b'{"minutes": 1' + b"0" * 5000 + b"}", 400),
        ("/api/alarms/999999/comment", b"{}", 404), ("/api/alarms/99999999999999999999999/comment", b"{}", 404),
        ("/api/alarms/x/comment", b"{}", 404), ("/api/alarms/-1/comment", b"{}", 404),
        ("/api/alarms/1/delete", b"{}", 404), ("/api/status", b"{}", 405), ("/", b"{}", 405),
    ],
)  # fmt: skip
def test_wrong_posts_are_refused(client, path, body, status):
    found, _, answer = client("POST", path, body=body, headers={"content-type": "application/json"})
    assert found == status
    assert json.loads(answer)["error"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_post_that_a_form_can_send_is_refused(client, kind):
    status, _, _ = client("POST", "/api/alarms/1/comment", body=b'{"comment": "x"}', headers={"content-type": kind})
    assert status == 400


# -- who may ask -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8350", "127.0.0.1.evil.example", "127.0.0.1:80", "", "[::1", "192.168.0.1:8350",
     "localhost:83500000", "127.0.0.1:8350@evil", "0", None, "plant:8350"],
)  # fmt: skip
def test_foreign_hosts_are_refused(client, host):
    status, _, body = client("GET", "/api/status", headers={"host": host})
    assert (status, b"error" in body) == (421, True)


@pytest.mark.parametrize("host", ["127.0.0.1:8350", "localhost:8350", "[::1]:8350", "LOCALHOST", "127.0.0.1"])
def test_own_hosts_are_accepted(client, host):
    assert client("GET", "/api/status", headers={"host": host})[0] == 200


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:9999", "file://", "http://localhost:8350", "http://[", ""],
)
def test_posts_and_reads_of_other_sites_are_refused(client, origin):
    for method, path in (("POST", "/api/alarms/1/comment"), ("GET", "/api/status"), ("GET", "/api/events")):
        headers = {"origin": origin, "content-type": "application/json"}
        assert client(method, path, body=b"{}", headers=headers)[0] == 403
    assert client("GET", "/api/status", headers={"sec-fetch-site": "cross-site"})[0] == 403


def test_without_the_token_nothing_is_answered(guarded):
    for path in ("/", "/static/page.css", "/api/status", "/api/alarms", "/api/events", "/metrics", "/nothing"):
        for headers in (
            {},
            {"authorization": "Bearer wrong"},
            {"authorization": TOKEN},
            {"cookie": "mercer_watch_8350="},
        ):
            status, found, _ = guarded("GET", path, headers=headers, query="" if path == "/" else f"token={TOKEN}")
            assert status == 401
            assert found["www-authenticate"] == "Bearer"
    assert guarded("GET", "/", query="token=wrong")[0] == 401


def test_the_token_opens_by_header_and_once_by_address(guarded):
    assert guarded("GET", "/api/status", headers={"authorization": f"Bearer {TOKEN}"})[0] == 200
    assert guarded("GET", "/api/status", headers={"authorization": f"bearer {TOKEN}", "host": "plant"})[0] == 200
    status, headers, _ = guarded("GET", "/", query=f"token={TOKEN}")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in cookie
    assert guarded("GET", "/api/status", headers={"cookie": cookie.partition(";")[0]})[0] == 200
    assert guarded("GET", "/api/status", headers={"cookie": cookie.partition(";")[0] + "x"})[0] == 401


def test_other_addresses_need_a_good_token():
    with pytest.raises(ValueError, match="token"):
        Guard("0.0.0.0", 1)
    with pytest.raises(ValueError, match="token"):
        Guard("127.0.0.1", 1, "short")
    assert Guard("::1", 1).token is None


def test_every_answer_has_the_headers(client, guarded):
    answers = [client("GET", "/"), client("GET", "/api/status"), client("GET", "/no"), guarded("GET", "/")]
    for _, headers, _ in answers:
        assert HEADERS.items() <= headers.items()
    assert "unsafe" not in HEADERS["content-security-policy"]


words = st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace").decode("latin-1"))


@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "X"]),
    st.text(max_size=30),
    words,
    words,
    st.binary(max_size=50),
)
def test_whatever_is_asked_there_is_no_500(client, method, path, query, header, body):
    for start in ("/", "/api/", "/static/", "/api/alarms/"):
        headers = {"content-type": "application/json", "cookie": header, "authorization": header}
        status, _, _ = client(method, start + path, query=query, headers=headers, body=body)
        assert status < 500


# -- events ------------------------------------------------------------------------------------------------------------


def test_many_rows_become_pairs_that_keep_the_extremes():
    table = np.zeros((5000, 5))
    table[:, 0] = np.arange(5000.0)
    table[1234, 1:] = [50.0, np.nan, 0.001, 1.0]
    found = message_of(table)
    assert len(found["time"]) == 40
    assert found["time"] == sorted(found["time"])
    assert max(found["t2"]) == 50.0
    assert sum(found["alarm"]) == 2
    assert message_of(table[:3])["time"] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("others", ['prefs={"a":1}; ', "a b=1; ", "x; ", "a=b=c;", "mercer_watch_8350=old; "])
def test_cookies_of_others_do_not_hide_ours(others):
    guard = Guard("0.0.0.0", 8350, TOKEN)
    assert guard.knows("", f"{others}{guard.cookie}={guard.pass_word}", None)
    assert guard.knows("", f"{guard.cookie}={guard.pass_word}; prefs={{'a':1}}", None)
    assert not guard.knows("", f"{others}{guard.cookie}=wrong", None)


def test_pages_hear_on_after_an_error_of_the_status(monkeypatch, caplog):
    monkeypatch.setattr("mercer.watch.broadcast._TICK", 0.01)
    monkeypatch.setattr("mercer.watch.broadcast._STATUS", 0.0)
    caplog.set_level("WARNING", logger="mercer")  # whatever other tests have set
    asked = []

    def status():
        asked.append(1)
        if len(asked) in (1, 2):
            raise sqlite3.OperationalError("disk I/O error")
        return {"asked": len(asked)}

    broadcast = Broadcast(Hub(), status)

    async def use():
        page = broadcast.joined()
        runner = asyncio.create_task(broadcast.run())
        broadcast.hub.alarm({"id": 7})
        found = [await asyncio.wait_for(page.get(), 5) for _ in range(2)]
        broadcast.close()
        runner.cancel()
        return found

    first, second = asyncio.run(use())
    assert b'"id":7' in first
    assert b'"asked":3' in second
    assert sum("disk I/O error" in record.getMessage() for record in caplog.records) == 1


def test_events_reach_all_pages_and_slow_ones_lose_the_oldest():
    hub = Hub()
    broadcast = Broadcast(hub, lambda: {"rows": 1})

    async def use():
        slow, quick = broadcast.joined(), broadcast.joined()
        runner = asyncio.create_task(broadcast.run())
        hub.alarm({"id": 7})
        hub.rows(np.zeros((1, 5)))
        first = await asyncio.wait_for(quick.get(), 5)
        for _ in range(60):
            broadcast._send(b"x")
        size = slow.qsize()
        broadcast.close()
        runner.cancel()
        return first, size, broadcast.joined()

    first, size, late = asyncio.run(use())
    kinds = [line.partition(b": ")[2] for line in first.split(b"\n") if line.startswith(b"event")]
    assert kinds == [b"alarm", b"rows", b"status"]
    assert size == 50
    assert late is None


def test_nothing_is_held_while_nobody_listens():
    hub = Hub()
    hub.rows(np.zeros((10, 5)))
    hub.alarm({"id": 1})
    assert hub.taken() == (None, [])
    hub.listeners = 1
    for _ in range(1000):
        hub.rows(np.zeros((100, 5)))
    assert sum(map(len, hub._rows)) <= 20_100


def test_a_full_queue_lets_the_source_wait():
    from mercer.watch.feed import Feed

    source = Listed(plant(5000), size=100)
    feed = Feed(source, None, capacity=300)
    feed.start()
    threading.Event().wait(0.3)
    assert feed.waiting[0] == 300
    rows = 0
    while batches := feed.take(5.0, most=250):
        rows += sum(len(batch.items) for batch in batches)
    assert rows == 5000
