"""Kill -9 at any moment: nothing acknowledged is lost, no alarm is doubled, and judging goes on as if never stopped."""

import json
import os
import threading
import time

import numpy as np
import pytest

from mercer.watch.sources.file import FileSource
from mercer.watch.store import Store
from watch_parts import alarms_of, csv_text, engine_in, plant
from watch_process import WatchProcess

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
PART = 15  # rows that are written at a time


class Writer(threading.Thread):
    """Appends rows to a file, which is rotated from time to time, as long as it may."""

    def __init__(self, path, rows, pause):
        super().__init__(daemon=True)
        self.path, self.rows, self.pause = path, rows, pause
        self.written, self.files = 0, 0
        self.active, self.over = threading.Event(), threading.Event()

    def run(self):
        while self.written < len(self.rows) and not self.over.is_set():
            if not self.active.wait(0.05):
                continue
            self._write(csv_text(self.rows[self.written : self.written + PART], self.written, header=self._begins()))
            self.written = min(self.written + PART, len(self.rows))
            time.sleep(self.pause)

    def _begins(self):
        """Rotate the file now and then; tell whether it is a new one."""
        if self.written % (PART * 200) == 0:
            if self.path.exists():
                os.rename(self.path, self.path.with_suffix(f".csv.{self.files}"))
            self.files += 1
            return True
        return False

    def _write(self, text):
        with self.path.open("a") as file:
            half = len(text) // 2
            file.write(text[:half])
            file.flush()
            file.write(text[half:])


def undisturbed(folder, rows, adapt):
    """What a monitor that was never stopped says about the same rows."""
    (folder / "all.csv").write_text(csv_text(rows))
    engine = engine_in(folder / "undisturbed", adapt=adapt)
    for batch in FileSource(folder / "all.csv", follow=False).batches(None, threading.Event()):
        engine.take([batch])
    return engine


def alike(alarms, adapt):
    keys = ["id", "opened", "closed", "rows", "least_p"] + ([] if adapt else ["contributions"])
    return [[alarm[key] for key in keys] for alarm in alarms]


def check_kills(tmp_path, kills, adapt, seed):
    rng = np.random.default_rng(seed)
    rows = plant(100_000, faults=tuple((first, first + 25) for first in range(120, 100_000, 120)))
    writer = Writer(tmp_path / "rows.csv", rows, pause=0.15 if adapt else 0.02)  # a model that learns is slower
    args = [writer.path, "--follow", "--state", tmp_path / "state", "--port", 0, "--learn", 60, "--alpha", 0.02]
    args += ["--alarms", tmp_path / "alarms.jsonl", *(["--adapt"] if adapt else [])]
    writer.start()
    confirmed = {}
    for kill in range(kills):
        process = WatchProcess(*args)
        if rng.uniform() < 0.25 and kill:  # killed while it starts
            time.sleep(rng.uniform(0.0, 2.5))
            process.kill()
            continue
        assert process.address
        writer.active.set()
        if rng.uniform() < 0.7:  # it has judged rows of its own; otherwise it may still be busy with those of before
            process.judged(process.get("/api/status")["rows"] + int(rng.integers(1, 300)))
        time.sleep(rng.uniform(0.0, 0.3))
        alarms = process.get("/api/alarms?limit=50")["alarms"]
        chosen = [alarm for alarm in alarms if alarm["acknowledged"] is None][: int(rng.integers(0, 4))]
        for alarm in chosen:
            text = f"seen at kill {kill}"
            if process.post(f"/api/alarms/{alarm['id']}/acknowledge", {"comment": text}) is not None:
                confirmed[alarm["id"]] = text
        time.sleep(rng.uniform(0.0, 0.4))
        process.kill()
        writer.active.clear()
    writer.over.set()
    writer.join()
    total = writer.written
    process = WatchProcess(*args)
    try:
        process.judged(total)
    finally:
        assert process.end() == 0
    check_result(tmp_path, rows[:total], adapt, confirmed)
    return total, confirmed


def check_result(tmp_path, rows, adapt, confirmed):
    whole = undisturbed(tmp_path, rows, adapt)
    store = Store(tmp_path / "state")
    alarms, saved = alarms_of(store), store.meta("engine")
    assert alike(alarms, adapt) == alike(alarms_of(whole.store), adapt)
    assert saved["rows"] == whole.rows == len(rows)
    same = {key: value for key, value in saved["counts"].items() if key != "rotated" and value}
    assert same == {key: value for key, value in whole.counts.items() if value}
    by_number = {alarm["id"]: alarm for alarm in alarms}
    assert {number: by_number[number]["comment"] for number in confirmed} == confirmed
    assert all(by_number[number]["acknowledged"] is not None for number in confirmed)
    events = [json.loads(line) for line in (tmp_path / "alarms.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == list(range(1, len(events) + 1))
    opened = [event["alarm"]["id"] for event in events if event["kind"] == "opened"]
    assert opened == sorted(by_number)
    store.close()
    whole.store.close()


def test_a_few_kills(tmp_path):
    total, _ = check_kills(tmp_path, 2, adapt=False, seed=0)
    assert total > 60


@pytest.mark.slow
@pytest.mark.kills
@pytest.mark.parametrize("adapt", [False, True])
def test_thirty_kills(tmp_path, adapt):
    total, confirmed = check_kills(tmp_path, 30, adapt, seed=1)
    assert total > 1000
    assert confirmed
