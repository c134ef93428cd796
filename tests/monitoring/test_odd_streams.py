"""`ProcessMonitor` on what real streams bring: no rows at all, time zones, periods, huge numbers, long persistence."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.suite.processes import vector_autoregression
from mercer import KernelPCA, ProcessMonitor
from mercer.monitoring.stream import in_blocks

LINEAR = KernelPCA(3, kernel="linear")
N = 200


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return vector_autoregression(N + 100, 4)


def framed(X: np.ndarray, **options) -> pd.DataFrame:
    return pd.DataFrame(X, index=pd.date_range("2024-01-01", periods=len(X), freq="1min", **options))


@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.parametrize("times", [False, True])
def test_a_chunk_without_rows_says_nothing_and_changes_nothing(adapt, times, X):
    rows = framed(X) if times else X
    monitor = ProcessMonitor(LINEAR, lags=1, persist=(2, 3), adapt=adapt).fit(rows[:N])
    before, nothing, after = (monitor.judge(rows[a:b]) for a, b in ((N, N + 30), (N + 30, N + 30), (N + 30, N + 100)))
    assert len(nothing) == 0
    assert nothing.time.dtype == before.time.dtype
    assert nothing.episodes() == []
    assert len(nothing.to_frame()) == 0
    together = ProcessMonitor(LINEAR, lags=1, persist=(2, 3), adapt=adapt).fit(rows[:N]).judge(rows[N:])
    assert np.array_equal(np.concatenate([before.p, after.p]), together.p)
    assert np.array_equal(np.concatenate([before.time, after.time]), together.time)


def test_a_chunk_without_rows_must_have_the_right_columns(X):
    monitor = ProcessMonitor(LINEAR).fit(X[:N])
    with pytest.raises(ValueError, match="features"):
        monitor.judge(np.empty((0, 3)))


def test_times_with_a_zone_come_back_in_utc_without_a_warning(X):
    rows = framed(X, tz="Europe/Berlin")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monitor = ProcessMonitor(LINEAR).fit(rows[:N])
        verdicts = monitor.judge(rows[N:])
    assert verdicts.time[0] == np.datetime64("2024-01-01T02:20:00")  # 03:20 in Berlin
    assert np.array_equal(verdicts.p, ProcessMonitor(LINEAR).fit(X[:N]).judge(X[N:]).p)


def test_a_clock_that_is_put_back_is_no_step_into_the_past(X):
    index = pd.date_range("2024-10-27 00:00", periods=len(X), freq="1min", tz="Europe/Berlin")  # 02:59 comes twice
    rows = pd.DataFrame(X, index=index)
    assert len(ProcessMonitor(LINEAR).fit(rows[:N]).judge(rows[N:])) == 100


def test_periods_are_times(X):
    rows = framed(X).to_period("min")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdicts = ProcessMonitor(LINEAR).fit(rows[:N]).judge(rows[N:])
    assert verdicts.time[0] == np.datetime64("2024-01-01T03:20:00")


def test_no_alarm_can_need_more_rows_than_there_are_to_set_its_limits(X):
    with pytest.raises(ValueError, match="persist"):
        ProcessMonitor(LINEAR, persist=(80, 150)).fit(X[:N])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ProcessMonitor(LINEAR, persist=(80, 100)).fit(X[:N]).judge(X[N:] + 50.0).alarm[-1]


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_units_do_not_matter_to_the_choice_of_a_kernel(scale, X):
    """Pretended faults had no size in tiny units, and an infinite one in huge units."""
    angle = np.random.default_rng(3).uniform(0.0, 2.0 * np.pi, N)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2.0 * angle)]) + 0.02 * X[:N, :3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ProcessMonitor().fit(ring * scale).choice_ == ProcessMonitor().fit(ring).choice_


@pytest.mark.parametrize("scale", [1e-250, 1e-150, 1e150, 1e250])
def test_units_do_not_matter_however_large_they_are(scale, X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ProcessMonitor(LINEAR).fit(X[:N] * scale).judge((X[N:] + 2.0) * scale)
    assert_allclose(found.p, ProcessMonitor(LINEAR).fit(X[:N]).judge(X[N:] + 2.0).p, rtol=1e-6)


MONITORS = {
    "linear": {"estimator": LINEAR},
    "chosen": {},
    "Gaussian": {"estimator": KernelPCA(3, kernel="rbf", gamma=0.01)},
    "cubic": {"estimator": KernelPCA(3, kernel="poly")},
    "as they are": {"standardize": False},
    "lags": {"estimator": LINEAR, "lags": 1},
    "drifting": {"estimator": LINEAR},
}


@pytest.mark.parametrize("name", MONITORS)
@pytest.mark.parametrize("missing", [False, True])
def test_an_enormous_reading_is_an_alarm_and_changes_no_row_before_it(name, missing, X):
    training = X[:N].copy()
    if name == "drifting":
        training[:, 0] = np.arange(N)
    monitor = ProcessMonitor(smoothing=1.0, levels=False, **MONITORS[name]).fit(training)
    rows = np.tile(training.mean(axis=0), (6, 1)) + 0.1 * X[N : N + 6]
    if missing:
        rows[:, 4] = np.nan
    expected = monitor.verdicts(rows)
    for value in (1e160, np.finfo(float).max, -np.finfo(float).max):
        rows[3, [0, 2]] = value
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found, reasons = monitor.verdicts(rows), monitor.contributions(rows)
        assert found.alarm[3]
        assert np.array_equal(found.p[:3], expected.p[:3])
        assert np.isfinite(found.p).all()
        assert np.isfinite(reasons).all()
        assert reasons[3].argmax() in (0, 2)
    later = slice(4 + monitor.lags_, None)
    assert np.array_equal(found.p[later], expected.p[later])


def test_slow_means_end_soon_after_an_enormous_reading(X):
    monitor = ProcessMonitor(LINEAR).fit(X[:N])
    rows = X[N:].copy()
    rows[10, [0, 2]] = np.finfo(float).max
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert monitor.judge(rows).alarm[10]
    assert np.isfinite(monitor._memory.levels).all()
    assert not monitor.judge(X[N + 60 :]).alarm.any()


def test_a_refused_fit_leaves_the_monitor_as_it_was(X):
    rows = framed(X)
    monitor = ProcessMonitor(LINEAR, alpha=0.01).fit(rows[:N])
    before = {name: id(value) for name, value in vars(monitor).items()}
    for wrong in (np.full((50, 10), np.nan), np.ones((5, 4)), "no rows"):
        with pytest.raises(ValueError):
            monitor.fit(wrong)
        assert {name: id(value) for name, value in vars(monitor).items()} == before
    with pytest.raises(ValueError, match="persist"):
        monitor.set_params(persist=N).fit(X[:N] + 3.0)
    assert monitor.set_params(persist=1).verdicts(rows[N:]).alarm.mean() <= 0.05


def test_the_warning_about_rows_that_are_left_out_points_at_the_caller(X):
    rows = X[:N].copy()
    rows[7] = np.nan
    with pytest.warns(UserWarning, match="are left out") as caught:
        ProcessMonitor(LINEAR).fit(rows)
    assert caught[0].filename == __file__


def test_false_of_numpy_leaves_rows_as_they_are(X):
    monitor = ProcessMonitor(LINEAR, standardize=np.False_).fit(X[:N])
    assert (monitor._judge.scaling.unit == 1.0).all()


def test_one_of_a_kind_is_not_called_many(X):
    text = ProcessMonitor(KernelPCA(1, kernel="linear"), lags=1).fit(X[:N, :1]).summary()
    assert "of 1 variable;" in text
    assert "1 previous row stands" in text


def test_the_bits_of_a_row_do_not_depend_on_its_place_in_a_block():
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(500, 4)), 1.2 * rng.normal(size=(400, 4))
    monitor = ProcessMonitor(KernelPCA(20, kernel="rbf", gamma=0.0125)).fit(rows)
    alone = np.vstack([in_blocks(monitor._judge, row[None], 2) for row in new])
    for first in range(0, 100, 2):
        np.testing.assert_array_equal(in_blocks(monitor._judge, new[first:], 2), alone[first:])


def test_rows_after_a_frozen_sensor_have_the_same_bits_one_by_one():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(900, 4))
    rows[600:630, 2] = rows[600, 2]
    monitor = ProcessMonitor(KernelPCA(20, kernel="rbf", gamma=0.0125)).fit(rows[:500])
    whole = monitor.verdicts(rows[500:])
    found = [monitor.judge(row[None]) for row in rows[500:]]
    np.testing.assert_array_equal(np.concatenate([one.spe for one in found]), whole.spe)
    np.testing.assert_array_equal(np.concatenate([one.p for one in found]), whole.p)
