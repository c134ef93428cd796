"""Events of alarms in a file, exactly once, and to a webhook, until it answers."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from mercer.watch.outputs import AlarmFile, Webhook
from mercer.watch.run import Place, run
from mercer.watch.settings import Settings
from watch_parts import Listed, engine_in, fed, plant

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
    assert not path.exists()
    engine.store.close()


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
