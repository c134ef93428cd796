"""Events of alarms in a file, exactly once, and to a webhook, until it answers."""

import io
import json
import socket
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from mercer.watch import outputs
from mercer.watch.alarms import OpenAlarm
from mercer.watch.monitor import Monitor
from mercer.watch.outputs import AlarmFile, Webhook
from mercer.watch.run import Place, run
from mercer.watch.settings import Settings
from mercer.watch.store import Step, Store
from watch_parts import Listed, engine_in, fed, plant
from watch_process import until

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
ROWS = plant(500, faults=((200, 230), (400, 430)))


def kinds(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [(one["event"], one["kind"], one["alarm"]["id"]) for one in found]


def test_events_are_in_the_file_once_after_any_crash(tmp_path):
    engine, path = engine_in(tmp_path / "state"), tmp_path / "alarms.jsonl"
    fed(engine, ROWS[:300], [20])
    AlarmFile(path, engine.store).wake()
    wanted = kinds(path)
    assert [kind for _, kind, _ in wanted] == ["opened", "closed"] * (len(wanted) // 2)
    AlarmFile(path, engine.store).wake()  # as after a restart
    assert kinds(path) == wanted
    engine.store.put({"alarms_file": 0})  # killed between the write to the file and the note about it
    AlarmFile(path, engine.store).wake()
    assert kinds(path) == wanted
    with path.open("a") as file:
        file.write('{"event": 99, "ki')  # killed in the middle of a write
    fed(engine, ROWS[:415], [20], first=300)
    AlarmFile(path, engine.store).wake()
    assert kinds(path)[: len(wanted)] == wanted
    assert [number for number, _, _ in kinds(path)] == list(range(1, len(kinds(path)) + 1))
    path.unlink()  # moved away, as by a rotation
    AlarmFile(path, engine.store).wake()
    assert path.read_text() == ""
    engine.store.close()


@pytest.mark.parametrize("size", [20, 500])
def test_events_of_a_batch_have_the_order_in_which_they_happened(tmp_path, size):
    engine, path = engine_in(tmp_path / "state"), tmp_path / "alarms.jsonl"
    fed(engine, ROWS, [size])
    AlarmFile(path, engine.store).wake()
    found = kinds(path)
    n = len(found) // 2
    assert n >= 2
    assert found == [(2 * i + 1 + j, kind, i + 1) for i in range(n) for j, kind in enumerate(("opened", "closed"))]
    times = [json.loads(line)["time"] for line in path.read_text().splitlines()]
    assert times == sorted(times)
    engine.store.close()


def test_an_alarm_is_closed_after_it_opened_also_where_the_clock_was_set_back(tmp_path):
    store = Store(tmp_path)
    one, two = OpenAlarm(1, 2000.0, 2, 0.01), OpenAlarm(2, 700.0, 2, 0.01)
    store.save(Step(opened=[one, two], closed=[(one, 500.0), (two, 900.0)]))
    found = [(event["alarm"], event["kind"]) for event in store.events(0)]
    assert found == [(1, "opened"), (1, "closed"), (2, "opened"), (2, "closed")]
    store.close()


def with_events(folder, n):
    """A state with one alarm, to which so much happened."""
    store = Store(folder)
    with store._transaction() as connection:
        connection.execute("INSERT INTO alarms (id, opened, rows, least_p) VALUES (1, 1.0, 2, 0.01)")
        connection.executemany("INSERT INTO events (alarm, kind, time) VALUES (1, 'commented', ?)", [(1.0,)] * n)
    return store


def test_a_new_state_appends_its_events_to_a_file_of_another_one(tmp_path):
    path, states = tmp_path / "alarms.jsonl", []
    for name in ("one", "two"):
        store = with_events(tmp_path / name, 3)
        AlarmFile(path, store).wake()
        AlarmFile(path, store).wake()
        states.append(store.state_id)
        store.close()
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(one["state_id"], one["event"]) for one in found] == [(state, i) for state in states for i in (1, 2, 3)]
    assert Store(tmp_path / "one").state_id == states[0] != states[1]


def test_runs_without_a_state_append_to_the_same_file(tmp_path):
    for _ in range(2):
        place = Place(headless=True, alarms=tmp_path / "alarms.jsonl")
        assert run(Listed(ROWS[:300]), Settings(learn=60, alpha=0.02, durable=False), place, print) == 0
    found = kinds(tmp_path / "alarms.jsonl")
    assert len(found) >= 4
    assert found[: len(found) // 2] == found[len(found) // 2 :]


def test_many_events_are_written_at_once(tmp_path):
    store = with_events(tmp_path / "state", 250)
    AlarmFile(tmp_path / "alarms.jsonl", store).close()
    assert [number for number, _, _ in kinds(tmp_path / "alarms.jsonl")] == list(range(1, 251))
    store.close()


def test_lines_of_others_are_kept_whole(tmp_path):
    path, store = tmp_path / "notes.txt", with_events(tmp_path / "state", 1)
    path.write_text("first\nsecond, without an end")
    AlarmFile(path, store).wake()
    first, second, third = path.read_text().splitlines()
    assert (first, second, json.loads(third)["event"]) == ("first", "second, without an end", 1)
    store.close()


def test_a_whole_line_without_its_end_is_kept(tmp_path):
    path, store = tmp_path / "alarms.jsonl", with_events(tmp_path / "state", 1)
    AlarmFile(path, store).wake()
    path.write_text(path.read_text().rstrip("\n"))
    store.change_alarm(1, "commented", {"comment": "more"})
    AlarmFile(path, store).wake()
    assert [number for number, _, _ in kinds(path)] == [1, 2]
    store.close()


def test_a_file_that_cannot_be_written_is_refused_at_the_start(tmp_path):
    place = Place(headless=True, alarms=tmp_path / "absent" / "alarms.jsonl")
    with pytest.raises(OSError, match=r"--alarms.*absent"):
        run(Listed(ROWS), Settings(learn=60), place, print)
    with pytest.raises(OSError, match="--alarms"):
        run(Listed(ROWS), Settings(learn=60), Place(headless=True, alarms=tmp_path), print)


class Half(io.FileIO):
    """A file that takes only a part of what is written."""

    def write(self, data):
        super().write(data[: len(data) // 2 + 5])
        raise OSError(28, "No space left on device")


def full_disk(monkeypatch, times):
    """Let so many of the next writes to the file of alarms fail."""
    left = [None] * times

    def opened(path, mode):
        return Half(path, mode) if mode == "ab" and left and left.pop() is None else open(path, mode)

    monkeypatch.setattr(outputs, "open", opened, raising=False)


def test_a_disk_that_is_full_for_a_while_loses_and_doubles_nothing(tmp_path, monkeypatch):
    path, store = tmp_path / "alarms.jsonl", with_events(tmp_path / "state", 5)
    monitor = Monitor(Listed(ROWS[:100]), store, Settings(learn=60))
    monitor.outputs.append(AlarmFile(path, store))
    full_disk(monkeypatch, 2)
    monitor.changed(store.alarm(1))
    assert "No space left" in monitor.status.warning()
    monitor.start()
    assert monitor.join(60)
    monitor.close()
    assert monitor.status.failure is None
    assert monitor.status.warning() is None
    found = [number for number, _, _ in kinds(path)]
    assert found == list(range(1, len(found) + 1))
    assert len(found) >= 5


def test_what_a_file_did_not_take_until_the_end_is_told(tmp_path, monkeypatch):
    said = []
    full_disk(monkeypatch, 10**6)
    place = Place(headless=True, alarms=tmp_path / "alarms.jsonl")
    assert run(Listed(ROWS), Settings(learn=60, alpha=0.02, durable=False), place, said.append) == 1
    assert any("No space left" in line for line in said)
    assert "were not delivered" in said[-1]


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        refusals = self.server.refusals
        status = refusals.pop(0) if refusals else 200
        if status == 200:
            self.server.received.append((body["event"], body["kind"], body["alarm"]["id"]))
        self.send_response(status)
        self.send_header("location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    server = HTTPServer(("127.0.0.1", 0), _Receiver)
    server.received, server.refusals = [], []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def test_a_webhook_is_told_every_event_and_again_where_it_failed(tmp_path, receiver):
    receiver.refusals += [500, 302, 404]
    engine = engine_in(tmp_path)
    fed(engine, ROWS[:300], [20])
    events = engine.store.events(0)
    hook = Webhook(f"http://127.0.0.1:{receiver.server_port}/hook", engine.store, waits=(0.01,))
    for _ in range(500):
        if len(receiver.received) == len(events):
            break
        threading.Event().wait(0.02)
    hook.close()
    assert [number for number, _, _ in receiver.received] == [event["event"] for event in events]
    assert engine.store.events(0, unsent=True) == []
    engine.store.close()


def test_a_webhook_goes_on_after_an_answer_that_is_no_http(tmp_path):
    store = with_events(tmp_path, 1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answers = [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"]

        def serve():
            for answer in answers:
                connection, _ = listening.accept()
                connection.recv(65_536)
                connection.sendall(answer)
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        hook = Webhook(f"http://127.0.0.1:{listening.getsockname()[1]}/", store, waits=(0.01,))
        until(lambda: not store.n_events(0, unsent=True), "the second try", seconds=20)
        hook.close()
    assert hook.left == 0
    store.close()


def test_a_webhook_goes_on_after_an_error_of_the_state(tmp_path, receiver, monkeypatch):
    store, failing = with_events(tmp_path, 1), [True]
    events = store.events

    def read(*args, **more):
        if failing and failing.pop():
            raise sqlite3.OperationalError("disk I/O error")
        return events(*args, **more)

    monkeypatch.setattr(store, "events", read)
    hook = Webhook(f"http://127.0.0.1:{receiver.server_port}/hook", store, waits=(0.01,))
    until(lambda: receiver.received, "the second try", seconds=20)
    hook.close()
    assert hook.left == 0
    store.close()


def test_a_webhook_sends_what_waits_before_it_ends(tmp_path, receiver):
    store = with_events(tmp_path, 30)
    hook = Webhook(f"http://127.0.0.1:{receiver.server_port}/hook", store)
    hook.close()
    assert [number for number, _, _ in receiver.received] == list(range(1, 31))
    store.close()


def test_what_a_webhook_did_not_take_is_told_where_the_state_is_forgotten(tmp_path, receiver):
    receiver.refusals += [500] * 1000
    url, said = f"http://127.0.0.1:{receiver.server_port}/hook", []
    settings = Settings(learn=60, alpha=0.02, durable=False)
    assert run(Listed(ROWS), settings, Place(headless=True, webhook=url), said.append) == 1
    assert "were not delivered" in said[-1]
    said.clear()
    assert run(Listed(ROWS), settings, Place(headless=True, webhook=url, state=tmp_path), said.append) == 0
    assert "not delivered" not in said[-1]


def test_a_webhook_needs_an_address_of_the_web(tmp_path):
    with pytest.raises(ValueError, match="http"):
        Webhook("file:///etc/passwd", None)


def test_a_whole_run_without_a_page(tmp_path):
    said = []
    source = Listed(ROWS)
    place = Place(headless=True, state=tmp_path / "state", alarms=tmp_path / "alarms.jsonl")
    assert run(source, Settings(learn=60, alpha=0.02), place, said.append) == 0
    assert source.acknowledged[-1] == 500
    assert said[-1].startswith("440 rows judged")
    assert len(kinds(tmp_path / "alarms.jsonl")) >= 4
    assert [path.name for path in (tmp_path / "state").glob("model-*")] == ["model-500.mercer"]


def test_a_source_that_fails_ends_with_an_error(tmp_path):
    class Failing(Listed):
        def batches(self, position, stop):
            yield from super().batches(position, stop)
            raise OSError("the cable was cut")

    said = []
    assert run(Failing(ROWS[:100]), Settings(learn=60), Place(headless=True), said.append) == 1
    assert "the cable was cut" in said[-1]
