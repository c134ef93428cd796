"""`ProcessMonitor` on what real streams bring: no rows at all, time zones, periods, huge numbers, long persistence."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.suite.processes import vector_autoregression
from mercer import KernelPCA, ProcessMonitor

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


@pytest.mark.parametrize("scale", [1e-250, 1e-150, 1e150, 1e250])
def test_units_do_not_matter_however_large_they_are(scale, X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ProcessMonitor(LINEAR).fit(X[:N] * scale).judge((X[N:] + 2.0) * scale)
    assert_allclose(found.p, ProcessMonitor(LINEAR).fit(X[:N]).judge(X[N:] + 2.0).p, rtol=1e-6)


def test_one_of_a_kind_is_not_called_many(X):
    text = ProcessMonitor(KernelPCA(1, kernel="linear"), lags=1).fit(X[:N, :1]).summary()
    assert "of 1 variable;" in text
    assert "1 previous row stands" in text
