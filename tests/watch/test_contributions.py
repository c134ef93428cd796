"""Explanations of alarms: what the monitor names comes first."""

import numpy as np
import pytest

from mercer import ProcessMonitor
from mercer.monitoring.causes import SLOW
from mercer.watch.contributions import of_monitor
from mercer.watch.judges import EXPLAINED, MonitorJudge


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((1200, 2)) @ rng.standard_normal((2, 6)) + 0.5 * rng.standard_normal((1200, 6))
    X[700:, 4] += 0.5 * X[:400, 4].std()
    return X


def test_the_column_whose_slow_mean_is_away_comes_first(rows):
    judge = MonitorJudge(ProcessMonitor().fit(rows[:400]))
    found = judge.judge(rows[400:])
    slow = [i for i in range(740, 1200) if found.which[i - 400].startswith(SLOW)]
    assert len(slow) >= 20
    firsts = [judge.explain(rows[i + 1 - EXPLAINED : i + 1], found.which[i - 400])[0]["variable"] for i in slow]
    assert firsts.count("column4") >= 0.9 * len(slow)


@pytest.mark.parametrize("which", ["level: column 2", "relation: column 2; frozen: column 5"])
def test_named_columns_count_at_least_as_much_as_a_limit(rows, which):
    model = ProcessMonitor().fit(rows[:400])
    shown = of_monitor(model, MonitorJudge(model).columns, rows[399:400] * 0.0, which)
    assert shown[0]["variable"] == "column2"
    assert shown[0]["share"] >= 0.4


def test_sensors_are_named_without_contributions(rows):
    model = ProcessMonitor().fit(rows[:400])
    shown = of_monitor(model, MonitorJudge(model).columns, rows[:1], "missing: column 1; frozen: column 3")
    assert [one["share"] for one in shown[:3]] == [0.5, 0.5, 0.0]
    assert {one["variable"] for one in shown[:2]} == {"column1", "column3"}


def test_names_may_hold_the_signs_that_separate_them(rows):
    names = ("T, inlet", "T", "inlet", "flow; l/s", "a; spe", "b")
    model = ProcessMonitor().fit(rows[:400])
    model.feature_names_in_ = np.array(names, object)
    for which, expected in [
        ("frozen: T, inlet", {"T, inlet"}),
        ("missing: inlet; frozen: T, flow; l/s", {"inlet", "T", "flow; l/s"}),
        ("frozen: a; spe, T", {"a; spe", "T"}),
    ]:
        shown = of_monitor(model, names, rows[:1], which)
        assert {one["variable"] for one in shown if one["share"]} == expected
