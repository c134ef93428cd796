"""The engine: learning, judging, alarms, and a state that goes on after a stop at any moment."""

import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from mercer import KernelOutlierDetector, KernelPCA, ProcessMonitor
from mercer.watch import engine as engine_module
from mercer.watch.engine import NotSavedError
from mercer.watch.history import kept_of
from mercer.watch.judges import DetectorJudge, MonitorJudge
from mercer.watch.monitor import Monitor
from mercer.watch.settings import Settings
from mercer.watch.sources.base import Batch
from mercer.watch.store import Store
from watch_parts import NAMES, START, Listed, alarms_of, engine_in, fed, history_of, items, plant
from watch_process import until

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
ROWS = plant(700, faults=((200, 230), (400, 460)))


def told(alarms, adapt=False):
    """Alarms without what the clock changes; a model that adapts explains with what it has learned in the batch."""
    hidden = {"state", "contributions"} if adapt else {"state"}
    return [{key: value for key, value in alarm.items() if key not in hidden} for alarm in alarms]


def in_fault(alarms, row):
    """The alarm that is open some rows after the start of a fault."""
    [found] = [alarm for alarm in alarms if alarm["opened"] <= START + row + 8 <= alarm["closed"]]
    return found


def test_learning_then_alarms_at_the_faults(tmp_path):
    engine = engine_in(tmp_path)
    fed(engine, ROWS, [7, 40, 1])
    assert engine.judge.columns == tuple(NAMES)
    assert engine.rows == 700
    assert engine.counts["judged"] == 640
    first, second = reversed(alarms_of(engine.store))
    assert START + 200 <= first["opened"] <= START + 204
    assert START + 230 <= first["closed"] <= START + 260
    assert START + 400 <= second["opened"] <= START + 404
    assert first["contributions"][0]["variable"] == "heat"
    assert first["contributions"][0]["value"] > 5.0
    assert sum(one["share"] for one in first["contributions"]) == pytest.approx(1.0, abs=1e-4)
    assert [event["kind"] for event in engine.store.events(0)] == ["opened", "closed", "opened", "closed"]
    engine.store.close()


@pytest.mark.parametrize("adapt", [False, True])
def test_a_stop_at_any_moment_changes_nothing(tmp_path, adapt):
    """Killed after a batch, and begun again from the files alone: everything is as without the stop."""
    rng = np.random.default_rng(int(adapt))
    rows = ROWS[:300] if adapt else ROWS
    whole = engine_in(tmp_path / "whole", adapt=adapt)
    fed(whole, rows, [13])
    engine, at, turn = engine_in(tmp_path / "0", adapt=adapt), 0, 0
    while at < len(rows):
        size = int(rng.integers(1, 60))
        engine.take([Batch(items(rows[at : at + size], at), {"row": at + size})])
        at += size
        if rng.uniform() < 0.3:
            engine.save_model(now=rng.uniform() < 0.5)
        if rng.uniform() < 0.5:  # a copy of the files is what a killed process leaves
            turn += 1
            shutil.copytree(tmp_path / str(turn - 1), tmp_path / str(turn))
            engine.store.close()
            engine = engine_in(tmp_path / str(turn), adapt=adapt)
            assert engine.position == {"row": at}
    assert turn > 3
    assert told(alarms_of(engine.store), adapt) == told(alarms_of(whole.store), adapt)
    first = {level: newest - kept_of(3) for level, newest in whole.store.newest().items()}  # older ones may be gone
    here, there = history_of(engine.store), history_of(whole.store)
    assert {key: here[key] for key in here if key[1] > first[key[0]]} == {
        key: there[key] for key in there if key[1] > first[key[0]]
    }
    assert len(here) > len(rows)
    assert (engine.rows, dict(engine.counts)) == (whole.rows, dict(whole.counts))
    np.testing.assert_array_equal(engine.judge.judge(ROWS[:50]).p, whole.judge.judge(ROWS[:50]).p)
    engine.store.close()
    whole.store.close()


def test_what_an_operator_says_outlives_the_process(tmp_path):
    engine = engine_in(tmp_path)
    fed(engine, ROWS[:215], [20])
    [alarm] = alarms_of(engine.store)
    assert alarm["state"] == "open"
    engine.store.change_alarm(alarm["id"], "acknowledged", {"acknowledged": 1.0, "comment": "pump"})
    shutil.copytree(tmp_path, tmp_path.parent / "copy")
    again = engine_in(tmp_path.parent / "copy")
    fed(again, ROWS[:300], [20], first=215)
    [alarm] = alarms_of(again.store)
    assert (alarm["state"], alarm["comment"], alarm["acknowledged"]) == ("closed", "pump", 1.0)
    again.store.close()
    engine.store.close()


def test_a_new_alarm_of_a_shelved_variable_is_shelved(tmp_path):
    engine = engine_in(tmp_path)
    fed(engine, ROWS[:300], [20])
    engine.store.change_alarm(1, "shelved", {"shelved_until": 4e9})
    fed(engine, ROWS[:450], [20], first=300)
    second, first = alarms_of(engine.store)
    assert (first["state"], second["state"], second["shelved_until"]) == ("closed", "shelved", 4e9)
    engine.store.close()


@pytest.mark.parametrize("kind", ["detector", "monitor"])
def test_saved_models_judge_with_their_own_columns_and_alpha(tmp_path, kind):
    X = plant(200, seed=1)
    if kind == "detector":
        model = KernelOutlierDetector(KernelPCA(3), alpha=0.03, random_state=0).fit(X)
    else:
        model = ProcessMonitor(alpha=0.03).fit(X)
    model.feature_names_in_ = np.array(NAMES, object)
    model.save(tmp_path / "model.mercer")
    engine = engine_in(tmp_path / "state", model=tmp_path / "model.mercer")
    shuffled = [{name: row[name] for name in ("level", "time", "heat", "flow")} for row in items(ROWS)]
    shuffled[10]["heat"] = None
    shuffled[11] = {"time": START + 11}
    engine.take([Batch(shuffled)])
    assert engine.tracker.alpha == 0.03
    assert (engine.counts["judged"], engine.counts["not_judged"]) == (699, 1)
    for fault in (200, 400):
        explanation = in_fault(alarms_of(engine.store), fault)["contributions"]
        assert {one["variable"] for one in explanation} == set(NAMES)
        assert sum(one["share"] for one in explanation) == pytest.approx(1.0, abs=1e-4)
    clean = np.delete(ROWS, [10, 11], axis=0)
    wanted = model.p_values(clean) if kind == "detector" else ProcessMonitor(alpha=0.03).fit(X).judge(ROWS[:10]).p
    np.testing.assert_allclose(engine.judge.judge(clean[:10]).p if kind == "detector" else wanted, wanted[:10])
    engine.store.close()


def test_another_model_begins_anew_and_closes_old_alarms(tmp_path):
    for name, seed in (("one", 1), ("two", 2)):
        model = ProcessMonitor(alpha=0.03).fit(plant(200, seed=seed))
        model.feature_names_in_ = np.array(NAMES, object)
        model.save(tmp_path / name)
    engine = engine_in(tmp_path / "state", model=tmp_path / "one")
    fed(engine, ROWS[:215], [20])
    before = alarms_of(engine.store)
    assert before[0]["state"] == "open"
    engine.store.close()
    engine = engine_in(tmp_path / "state", model=tmp_path / "two")
    assert (engine.rows, engine.position) == (0, None)
    assert {alarm["state"] for alarm in alarms_of(engine.store)} == {"closed"}
    fed(engine, ROWS[:215], [20])
    numbers = [alarm["id"] for alarm in alarms_of(engine.store)]
    assert numbers == list(range(len(numbers), 0, -1))
    assert len(numbers) > len(before)
    engine.store.close()


def test_columns_of_text_are_left_out_and_bad_rows_are_tried_again(tmp_path):
    engine = engine_in(tmp_path)
    words = [{**row, "name": f"sensor {i}"} for i, row in enumerate(items(ROWS))]
    empty = [{"time": START - 100 + i, "flow": None} for i in range(60)]
    engine.take([Batch(empty)])
    assert engine.judge is None
    assert "nothing to learn from" in engine.trouble
    engine.take([Batch(words)])
    assert engine.trouble is None
    assert engine.judge.columns == tuple(NAMES)
    assert (engine.rows, engine.counts["judged"]) == (760, 640)
    engine.store.close()


def test_missing_sensors_and_rows_without_numbers_do_not_stop_it(tmp_path):
    engine = engine_in(tmp_path)
    fed(engine, ROWS[:100], [20])
    rows = items(ROWS[100:160], 100)
    for row in rows:
        row["heat"] = None
    rows[30] = {"time": START + 130, "flow": "broken", "heat": 1e300, "level": float("inf")}
    engine.take([Batch(rows)])
    assert (engine.counts["judged"], engine.counts["not_judged"]) == (99, 1)
    assert engine.counts["missing"] >= 60
    assert engine.counts["text"] == 3
    alarm = alarms_of(engine.store)[0]
    assert alarm["contributions"][0] == {
        "variable": "heat",
        "share": 1,
        "value": None,
        "expected": pytest.approx(0, abs=1),
    }
    json.dumps(alarm, allow_nan=False)
    engine.store.close()


def test_rows_that_the_model_cannot_compute_do_not_stop_it(tmp_path, monkeypatch):
    engine = engine_in(tmp_path)
    fed(engine, ROWS[:100], [20])
    judge = engine.judge.judge
    monkeypatch.setattr(engine.judge, "judge", lambda rows: np.linalg.inv(np.zeros((2, 2))))
    fed(engine, ROWS[:120], [20], first=100)
    assert (engine.counts["judged"], engine.counts["not_judged"]) == (40, 20)
    assert "could not be judged" in engine.trouble
    monkeypatch.setattr(engine.judge, "judge", judge)
    fed(engine, ROWS[:140], [20], first=120)
    assert engine.rows == 140
    engine.store.close()


def detector(folder, **parameters):
    """The file of a detector of rows that are far from zero."""
    X = plant(200, seed=1) + 100.0
    model = KernelOutlierDetector(KernelPCA(3, kernel="rbf"), alpha=0.03, random_state=0, **parameters).fit(X)
    model.feature_names_in_ = np.array(NAMES, object)
    model.save(folder / "model.mercer")
    return folder / "model.mercer"


@pytest.mark.parametrize("scaled", [True, False])
def test_a_missing_cell_is_never_zero(tmp_path, scaled):
    """A detector of unscaled rows knows no means: it does not judge rows with missing cells."""
    engine = engine_in(tmp_path / "state", model=detector(tmp_path, standardize="soft" if scaled else False))
    rows = items(plant(60, seed=2) + 100.0)
    for row in rows[20:40]:
        row["level"] = None
    engine.take([Batch(rows)])
    assert engine.counts["not_judged"] == (0 if scaled else 20)
    assert engine.counts["judged"] == (60 if scaled else 40)
    assert engine.counts["alarm_rows"] <= 8
    assert (engine.trouble is None) if scaled else ("missing cells" in engine.trouble)
    engine.store.close()


def test_a_detector_without_means_expects_nothing(tmp_path):
    engine = engine_in(tmp_path / "state", model=detector(tmp_path, standardize=False))
    engine.take([Batch(items(plant(60, seed=2, faults=((30, 60),)) + 100.0))])
    alarm = alarms_of(engine.store)[0]
    assert {one["expected"] for one in alarm["contributions"]} == {None}
    engine.store.close()


def test_unscaled_rows_of_a_selected_model_have_no_means():
    X = plant(60, seed=1) + 100.0
    model = KernelOutlierDetector(KernelPCA(3), standardize=False, random_state=0).fit(X)
    model.estimator, model.standardize = "select", "soft"  # as where the choice fell on no scaling
    rows = X[:4].copy()
    rows[2, 1] = np.nan
    assert DetectorJudge(model).judge(rows).judged.tolist() == [True, True, False, True]


@pytest.mark.parametrize("content", ["nothing", "another class"])
def test_a_wrong_model_leaves_a_state_as_it_is(tmp_path, content):
    engine = engine_in(tmp_path / "state")
    fed(engine, ROWS[:215], [20])
    before = (alarms_of(engine.store), history_of(engine.store), engine.store.meta("engine"))
    engine.store.close()
    wrong = tmp_path / "wrong.mercer"
    if content == "nothing":
        wrong.write_bytes(b"no model at all")
    else:
        KernelPCA(2).fit(ROWS[:50]).save(wrong)
    store = Store(tmp_path / "state")
    with pytest.raises(ValueError, match=r"wrong\.mercer"):
        Monitor(Listed(ROWS), store, Settings(model=wrong))
    store.close()
    engine = engine_in(tmp_path / "state")
    assert (alarms_of(engine.store), history_of(engine.store), engine.store.meta("engine")) == before
    assert engine.rows == 215
    engine.store.close()


@pytest.mark.parametrize("kind", ["header", "names"])
def test_rows_without_a_column_of_the_model_are_told_and_not_judged(tmp_path, kind):
    engine = engine_in(tmp_path / "state", model=detector(tmp_path))
    strange = ["a,b,c", *["1,2,3"] * 5] if kind == "header" else [{"a": 1.0, "b": 2.0}] * 5
    engine.take([Batch(strange, fresh=True)])
    assert (engine.counts["judged"], engine.counts["not_judged"]) == (0, 5)
    assert "flow" in engine.trouble
    assert "a, b" in engine.trouble
    engine.take([Batch(["flow,heat,level", "100,101,102"], fresh=True)])
    assert engine.trouble is None
    assert engine.counts["judged"] == 1
    engine.store.close()


def test_a_header_without_a_column_of_the_model_is_told_before_any_row(tmp_path):
    engine = engine_in(tmp_path / "state", model=detector(tmp_path))
    engine.take([Batch(["a,b,c"], fresh=True)])
    assert "flow" in engine.trouble
    engine.store.close()


class FullDisk:
    """A method that fails some times, and then does what it did before."""

    def __init__(self, monkeypatch, owner, name, error, times=10**9):
        self.method, self.error, self.times = getattr(owner, name), error, times
        monkeypatch.setattr(owner, name, lambda *args: self(*args))

    def __call__(self, *args):
        if self.times:
            self.times -= 1
            raise self.error
        return self.method(*args)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), sqlite3.OperationalError("full")])
def test_a_state_that_cannot_be_written_for_a_while_loses_nothing(tmp_path, monkeypatch, error):
    monkeypatch.setattr(engine_module, "_PATIENCE", 0.01)
    engine = engine_in(tmp_path)
    disk = FullDisk(
        monkeypatch, *((MonitorJudge, "save") if isinstance(error, OSError) else (engine.store, "save")), error, 3
    )
    fed(engine, ROWS[:100], [100])
    assert disk.times == 0
    assert engine.trouble is None
    assert (engine.rows, engine.counts["judged"], engine.counts["state_errors"]) == (100, 40, 3)
    engine.store.close()


def test_a_model_that_cannot_be_saved_is_tried_again(tmp_path, monkeypatch):
    engine = engine_in(tmp_path)
    fed(engine, ROWS[:100], [20])
    disk = FullDisk(monkeypatch, MonitorJudge, "save", OSError(28, "No space left on device"), 1)
    engine.save_model(now=True)
    assert "model cannot be saved" in engine.trouble
    fed(engine, ROWS[:120], [20], first=100)
    engine.models._failed_at = -1e9  # long ago
    engine.save_model()
    assert engine.trouble is None
    assert disk.times == 0
    assert [path.name for path in tmp_path.glob("model-*")] == ["model-120.mercer"]
    engine.store.close()


@pytest.mark.parametrize("before", [0, 100])
def test_a_monitor_ends_although_its_state_cannot_be_written(tmp_path, monkeypatch, before):
    monkeypatch.setattr(engine_module, "_LAST_TRIES", 0.2)
    store = Store(tmp_path)
    monitor = Monitor(Listed(ROWS, size=100), store, Settings(learn=60))
    if before:
        monitor.engine.take([next(Listed(ROWS, size=before).batches(None, None))])
    disk = FullDisk(monkeypatch, store, "save", sqlite3.OperationalError("disk is full"))
    monitor.start()
    until(lambda: monitor.engine.trouble, "the trouble", seconds=20)
    monitor.stop()
    assert monitor.join(20)
    assert "disk is full" in monitor.status.failure
    disk.times = 0
    monitor.close()
    again = engine_in(tmp_path)
    assert (again.rows, again.position) == (before, {"row": before} if before else None)
    again.store.close()


def test_after_a_stop_a_save_is_tried_for_a_while(tmp_path, monkeypatch):
    engine = engine_in(tmp_path)
    engine.stopping.set()
    disk = FullDisk(monkeypatch, engine.store, "save", sqlite3.OperationalError("locked"), 2)
    fed(engine, ROWS[:20], [20])
    assert engine.store.meta("engine")["rows"] == 20
    monkeypatch.setattr(engine_module, "_LAST_TRIES", 0.1)
    disk.times = 10**9
    with pytest.raises(NotSavedError, match="locked"):
        fed(engine, ROWS[:40], [20], first=20)
    engine.store.close()


def test_one_process_per_state(tmp_path):
    engine = engine_in(tmp_path)
    with pytest.raises(ValueError, match="Another process"):
        engine_in(tmp_path)
    engine.store.close()


def test_a_state_that_is_no_state_is_refused_in_plain_words(tmp_path):
    (tmp_path / "watch.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(ValueError, match="cannot be read"):
        engine_in(tmp_path)


def test_a_state_that_another_program_locks_is_not_said_to_be_broken(tmp_path, monkeypatch):
    Store(tmp_path).close()
    monkeypatch.setattr("mercer.watch.schema._PATIENCE", 0.01)
    with closing(sqlite3.connect(tmp_path / "watch.sqlite", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ValueError, match=r"cannot be opened \(database is locked\)\. Try again") as found:
            Store(tmp_path)
    assert "delete" not in str(found.value)
