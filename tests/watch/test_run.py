"""Runs without a page: what is said at the end, and with which code they end."""

import sqlite3
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from commands import failure
from mercer import ProcessMonitor
from mercer.watch import engine as engine_module
from mercer.watch.run import Place, run
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Batch
from mercer.watch.store import Store
from watch_parts import Listed, plant

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
ROWS = plant(200)
HEADLESS = Place(headless=True)


def test_too_few_rows_to_learn_from_are_no_success():
    said = []
    assert run(Listed(ROWS[:30]), Settings(learn=60), HEADLESS, said.append) == 1
    assert "30 of 60 rows" in said[-1]


def test_rows_that_could_not_be_learned_from_are_told():
    said = []
    assert run(Listed(ROWS * np.nan), Settings(learn=60), HEADLESS, said.append) == 1
    assert any("nothing to learn from" in line for line in said)
    assert "20 of 60 rows" in said[-1]


class Right(Listed):
    """The same rows with the columns of the model."""

    def batches(self, position, stop):
        for batch in super().batches(position, stop):
            named = [
                {"time": row["time"], **dict(zip("abc", list(row.values())[1:], strict=True))} for row in batch.items
            ]
            yield replace(batch, items=named)


def test_a_table_of_other_columns_is_no_success(tmp_path):
    model = ProcessMonitor(alpha=0.03).fit(ROWS)
    model.feature_names_in_ = np.array(["a", "b", "c"], object)
    model.save(tmp_path / "model.mercer")
    settings, place = Settings(model=tmp_path / "model.mercer"), Place(headless=True, state=tmp_path / "state")
    said = []
    assert run(Right(ROWS[:50]), settings, place, said.append) == 0
    assert run(Listed(ROWS), settings, place, said.append) == 1
    assert any("50 rows judged" in line and "150 not judged" in line for line in said)
    assert sum("a, b, c" in line for line in said) == 1


@pytest.mark.parametrize("alpha", ["0", "1", "1.5", "-0.1", "nan"])
def test_alpha_is_a_share(alpha):
    assert "--alpha" in failure("watch", "-", "--headless", "--alpha", alpha)


class Endless(Listed):
    """Rows, and then none until the stop."""

    def __init__(self, rows, waits):
        super().__init__(rows)
        self.waits = waits

    def batches(self, position, stop):
        yield from super().batches(position, stop)
        self.waits.set()
        stop.wait(60)


def stopped_after(event, monkeypatch):
    """Let `run` be stopped as by a signal, as soon as an event is set."""
    from mercer.watch import run as run_module

    class Signals(run_module._Signals):
        def __enter__(self):
            def wait():
                event.wait(60)
                self._stop()

            threading.Thread(target=wait, daemon=True).start()

    monkeypatch.setattr(run_module, "_Signals", Signals)


def test_a_stop_while_it_learns_is_no_failure(monkeypatch):
    said, waits = [], threading.Event()
    stopped_after(waits, monkeypatch)
    assert run(Endless(ROWS[:30], waits), Settings(learn=60), HEADLESS, said.append) == 0


def test_a_stop_with_a_full_disk_ends_with_the_reason(monkeypatch, tmp_path):
    said, failing = [], threading.Event()
    monkeypatch.setattr(engine_module, "_LAST_TRIES", 0.2)

    def save(*_):
        failing.set()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "save", save)
    stopped_after(failing, monkeypatch)
    assert run(Listed(ROWS), Settings(learn=60), Place(headless=True, state=tmp_path), said.append) == 1
    assert "disk is full" in said[-1]


def test_trouble_of_the_source_is_told_once(monkeypatch):
    class Lost(Listed):
        def batches(self, position, stop):
            yield Batch((), trouble="The server does not answer.")
            stop.wait(1.0)
            yield from super().batches(position, stop)

    said = []
    assert run(Lost(ROWS), Settings(learn=60), HEADLESS, said.append) == 0
    assert said[0] == "The server does not answer."
    assert len(said) == 2


@pytest.mark.parametrize(
    ("package", "users", "args"),
    [
        ("uvicorn", ["server"], ["--demo", "--port", "0"]),
        ("starlette.applications", ["server", "api"], ["--demo", "--port", "0"]),
        ("paho.mqtt.client", ["sources.mqtt"], ["mqtt://127.0.0.1/plant"]),
        ("redis", ["sources.redis_stream"], ["redis://127.0.0.1/0?stream=plant"]),
    ],
)
def test_a_package_that_is_not_installed_is_named(package, users, args, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    for user in users:
        monkeypatch.delitem(sys.modules, f"mercer.watch.{user}", raising=False)
    assert "mercer[watch]" in failure("watch", *args)
