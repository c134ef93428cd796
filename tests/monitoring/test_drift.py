"""Drift: evidence against the model, adaption that does not learn from alarms, and levels that an operator accepts."""

from dataclasses import fields, is_dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import mercer
from benchmarks.suite.processes import vector_autoregression
from mercer import KernelPCA, ProcessMonitor
from mercer.monitoring.adaptation import Pace, Seen, Waiting
from mercer.monitoring.drift import Evidence, factors
from textbook import monitoring as textbook

SEEDS = st.integers(0, 2**31)
N, SEED = 300, 4
FIELDS = ("time", "t2", "spe", "p", "alarm", "which")
BETS = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
LINEAR = KernelPCA(6)


def ramp(X: np.ndarray, start: int, rows_per_deviation: float) -> np.ndarray:
    """Rows whose columns drift from some row on, each in its own direction."""
    way = np.where(np.arange(X.shape[1]) % 2, 1.0, -1.0) * X[:start].std(axis=0)
    return X + np.maximum(np.arange(len(X)) - start, 0)[:, None] / rows_per_deviation * way


def same(one, other) -> bool:
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return one == other


# -- evidence --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(SEEDS, st.integers(1, 60), st.integers(1, 7), st.lists(st.integers(1, 20), max_size=5))
def test_evidence_is_that_of_the_textbook_also_over_calls(seed, n, spacing, cuts):
    rng = np.random.default_rng(seed)
    p, judged = rng.random(n) ** 3, rng.random(n) < 0.8
    looks = np.flatnonzero(judged)[spacing - 1 :: spacing]
    path = textbook.betting(p[looks], BETS, 0.02)
    edges = np.unique(np.clip(np.cumsum([0, *cuts, n]), 0, n))
    evidence = Evidence.none(spacing)
    for first, last in pairwise(edges.tolist()):
        evidence = evidence.after(p[first:last], judged[first:last], spacing, int(first))
    if len(path) and path.max() < 1e4:
        assert evidence.value == pytest.approx(path[-1])
        over = np.flatnonzero(path >= 1000.0)
        assert evidence.since == (looks[over[0]] if len(over) else None)


def test_bets_are_fair_and_a_single_alarm_does_not_decide():
    grid = (np.arange(200_000) + 0.5) / 200_000
    mean = np.mean([factors(p) for p in grid[::40]], axis=0)
    assert (mean <= 1.0 + 1e-3).all()
    evidence = Evidence.none(1).after(np.full(4, 1e-12), np.ones(4, bool), 1, 0)
    assert evidence.since is None
    assert Evidence.none(1).after(np.full(8, 1e-12), np.ones(8, bool), 1, 0).since is not None


def test_the_mean_number_of_looks_until_a_false_signal_is_large():
    rng = np.random.default_rng(0)
    signals = 0
    for _ in range(40):
        evidence = Evidence.none(1)
        signals += evidence.after(rng.random(500), np.ones(500, bool), 1, 0).since is not None
    assert signals <= 20  # 20,000 looks: at most one signal per 1000 of them


# -- rows that are learned from --------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 80), st.integers(1, 10), st.integers(0, 5), st.integers(1, 9))
def test_rows_with_an_alarm_soon_or_many_near_are_not_learned_from(seed, n, soon, more, cut):
    rng = np.random.default_rng(seed)
    wait, alarm, p = soon + more, rng.random(n) < 0.1, rng.random(n)
    rows = np.arange(n, dtype=float)[:, None]
    hidden = rng.random(n) < 0.1
    seen = Seen(np.where(hidden[:, None], np.nan, rows), np.empty((n, 0)), np.ones((n, 2)), p, alarm)
    near = [alarm[max(i - wait, 0) : i + wait + 1].sum() >= (2 * wait + 1) / 4 for i in range(n)]
    follows = [alarm[i : i + soon + 1].any() for i in range(n)]
    count = max(n - wait, 0)
    expected = [i for i in range(count) if not near[i] and not follows[i] and not hidden[i]]
    learned, used, waiting = [], 0, Waiting.none(1, 0)
    for first in range(0, n, 10 * cut):
        waiting = Waiting(waiting.seen.followed_by(seen[first : first + 10 * cut]), waiting.before, 0, waiting.credit)
        found, scores, waiting = waiting.sorted_out(Pace(100, 10, soon, wait), 0.05, 0)
        learned += found.lagged[found.learned, 0].tolist()
        used += int(alarm[found.lagged[:, 0].astype(int)].sum())
        assert len(found) == len(scores)
    assert learned == expected
    assert used <= 0.05 * n
    assert len(waiting.seen) == n - count


def test_one_alarm_counts_for_the_limits_when_as_many_rows_have_passed_as_the_rate_says():
    """Also where the window is shorter than the mean distance of two false alarms."""
    alarm = np.zeros(100, bool)
    alarm[[50, 60]] = True
    p = np.where(np.arange(100) == 60, 0.009, 0.001)
    seen = Seen(np.zeros((100, 1)), np.empty((100, 0)), np.zeros((100, 2)), p, alarm)
    waiting, used = Waiting(seen, np.zeros(0, bool), 0, 0.0), []
    for _ in range(5):
        waiting = Waiting(seen, waiting.before, 0, waiting.credit)
        found, _, waiting = waiting.sorted_out(Pace(50, 5, 2, 2), 0.004, 0)
        used.append(len(found) - 96)
    assert used == [0, 0, 1, 0, 0]


def test_an_alarm_that_is_far_too_rare_to_be_false_does_not_count_for_the_limits():
    alarm = np.arange(100) == 50
    for p, counts in ((1e-3, 1), (1e-12, 0)):
        seen = Seen(np.zeros((100, 1)), np.empty((100, 0)), np.zeros((100, 2)), np.where(alarm, p, 0.5), alarm)
        found, _, _ = Waiting(seen, np.zeros(0, bool), 0, 1.0).sorted_out(Pace(50, 5, 2, 2), 0.01, 0)
        assert len(found) == 97 + counts


def test_one_enormous_reading_does_not_raise_the_limits():
    X = np.random.default_rng(0).standard_normal((500, 4))
    monitor = ProcessMonitor(KernelPCA(3), adapt=True, smoothing=1.0).fit(X[:N])
    before = monitor.limits()
    X[N + 120, 1] = np.finfo(float).max
    assert monitor.judge(X[N:]).alarm[120]
    assert (monitor.limits() <= 2.0 * before).all()


@pytest.fixture(scope="module")
def drifting() -> np.ndarray:
    return ramp(vector_autoregression(N + 2200, SEED), N, 600.0)


def test_adaption_keeps_the_rate_under_drift_and_finds_an_abrupt_fault(drifting):
    fixed, adapting = (ProcessMonitor(LINEAR, adapt=adapt).fit(drifting[:N]) for adapt in (False, True))
    rows = drifting[N:].copy()
    rows[2000:, 3] += 6.0 * drifting[:N, 3].std()
    without, with_it = fixed.judge(rows).alarm, adapting.judge(rows).alarm
    assert without[1000:2000].mean() >= 0.5
    assert with_it[:2000].mean() <= 0.02
    assert with_it[2005:].mean() >= 0.9
    assert fixed.drift_ >= 1000.0
    assert fixed.drift_since_ < 2000
    assert adapting.drift_since_ is None or adapting.drift_since_ >= 2000
    assert "the model no longer fits" in fixed.summary()
    assert "follow the last 300 rows without alarms" in adapting.summary()


def test_the_rate_of_a_stationary_process_stays_under_adaption():
    """Limits would shrink from refresh to refresh if alarms were simply left out."""
    rates = []
    for seed in (4, 20):
        X = vector_autoregression(N + 2500, seed)
        monitor = ProcessMonitor(LINEAR, adapt=True, alpha=0.05, smoothing=1.0).fit(X[:N])
        rates.append(monitor.judge(X[N:]).alarm[1000:].mean())
        assert monitor.drift_since_ is None
    assert 0.01 <= np.mean(rates) <= 0.09


def test_the_rate_stays_where_the_window_is_shorter_than_the_training_rows(rng):
    rates = []
    for _ in range(2):
        X = rng.standard_normal((1300, 4))
        rates.append(ProcessMonitor(KernelPCA(3), adapt=60).fit(X[:1000]).judge(X[1000:]).alarm.mean())
    assert np.mean(rates) <= 0.02


@pytest.mark.parametrize("lags", [0, 2])
def test_a_window_begins_with_the_last_training_rows(lags, drifting):
    rows = drifting[:N].copy()
    rows[-50] = np.nan  # this row, and those whose lags it is, are not known
    with pytest.warns(UserWarning, match="NaN"):
        one = ProcessMonitor(LINEAR, adapt=100, lags=lags).fit(rows)
    with pytest.warns(UserWarning, match="NaN"):
        other = ProcessMonitor(LINEAR, adapt=True, lags=lags).fit(rows[-101 - 2 * lags :])
    assert one.window_ == other.window_ == len(one._reference.rows) == 100
    assert same(one._reference.rows, other._reference.rows)
    assert one.summary().splitlines()[0].startswith("100 normal rows")
    if not lags:
        assert same(one._reference, other._reference)
        assert same(one._calibration, other._calibration)
        assert same(one._slow, other._slow)
        assert one.summary() == other.summary()


def test_persistence_must_fit_into_the_window(drifting):
    with pytest.raises(ValueError, match=r"persist=60 looks at 60 rows; 100 .* at most 50"):
        ProcessMonitor(LINEAR, adapt=100, persist=60).fit(drifting[:N])


def test_alarms_teach_the_model_nothing():
    X = vector_autoregression(N + 300, SEED)
    faulty = X[N:].copy()
    faulty[30:] += 40.0 * X[:N].std(axis=0)
    monitor = ProcessMonitor(LINEAR, adapt=True).fit(X[:N])
    monitor.judge(faulty)
    learned = monitor._reference.rows
    assert np.abs(learned.lagged[learned.learned] / X[:N].std(axis=0)).max() < 20.0
    assert monitor.judge(faulty[30:]).alarm.all()


VARIANTS = {
    "linear": {"estimator": LINEAR},
    "lags": {"estimator": LINEAR, "lags": 1, "persist": (2, 3)},
    "window": {"adapt": 150},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_one_row_at_a_time_gives_the_same_bits_under_adaption(name, drifting, rng):
    one, other = (ProcessMonitor(**{"adapt": True, **VARIANTS[name]}).fit(drifting[:N]) for _ in range(2))
    rows = drifting[N : N + 150].copy()
    rows[rng.random(150) < 0.03, 2] = np.nan
    rows[100:110] += 50.0
    together = one.judge(rows)
    alone = [other.judge(row[None]) for row in rows]
    for field in FIELDS:
        joined = np.concatenate([getattr(part, field) for part in alone])
        assert same(joined, getattr(together, field)), field
    for part in ("_reference", "_memory", "_waiting", "_calibration", "_slow"):
        assert same(getattr(one, part), getattr(other, part)), part
    assert len(one._reference.judges) <= 20  # those of ten parts, and of ten refreshes
    assert len(one._reference.rows) <= one.window_


def test_a_stream_that_adapts_goes_on_from_a_file(drifting, tmp_path):
    monitor = ProcessMonitor(adapt=True, lags=1).fit(drifting[:N])
    monitor.judge(drifting[N : N + 77])
    monitor.save(tmp_path / "monitor")
    again = mercer.load(tmp_path / "monitor")
    rows = drifting[N + 77 : N + 200].copy()
    rows[50:, 1] = np.nan
    found, expected = again.judge(rows), monitor.judge(rows)
    assert all(same(getattr(found, field), getattr(expected, field)) for field in FIELDS)
    assert again.drift_ == monitor.drift_
    assert again.summary() == monitor.summary()
    assert repr(again) == repr(monitor)


def test_verdicts_predict_and_p_values_do_not_adapt(drifting):
    monitor = ProcessMonitor(LINEAR, adapt=True).fit(drifting[:N])
    before = monitor._reference, monitor._waiting, monitor._memory
    monitor.predict(drifting[N:])
    assert (monitor._reference, monitor._waiting, monitor._memory) == before


def test_a_failed_refresh_leaves_the_monitor_as_it_was(drifting, monkeypatch):
    monitor = ProcessMonitor(LINEAR, adapt=True).fit(drifting[:N])
    monitor.judge(drifting[N : N + 20])
    before = monitor._reference, monitor._waiting, monitor._memory

    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(ProcessMonitor, "_renew", fails)
    with pytest.raises(MemoryError):
        monitor.judge(drifting[N + 20 : N + 200])
    assert (monitor._reference, monitor._waiting, monitor._memory) == before


def test_true_of_numpy_is_no_window_of_one_row(drifting):
    assert ProcessMonitor(LINEAR, adapt=np.True_).fit(drifting[:N]).window_ == N


def test_wrong_windows_are_refused(drifting):
    for wrong in (5, "yes", 1.5):
        with pytest.raises(ValueError, match="adapt"):
            ProcessMonitor(adapt=wrong).fit(drifting[:N])


# -- accepted levels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"adapt": True}, {"lags": 1}, {"drifting": "keep", "smoothing": 0.1}])
def test_an_accepted_level_is_normal_from_then_on(parameters):
    X = vector_autoregression(N + 600, SEED)
    moved = X[N:].copy()
    moved[:, 2:5] += 8.0 * X[:N, 2:5].std(axis=0)
    monitor = ProcessMonitor(LINEAR, **parameters).fit(X[:N])
    assert monitor.judge(moved[:200]).alarm[-100:].all()
    assert monitor.drift_ > 1000.0
    assert monitor.accept(moved[100:200]) is monitor
    assert monitor.n_samples_seen_ == N + 100 - monitor.lags_
    assert monitor.drift_ == 0.0
    assert monitor.judge(moved[200:400]).alarm.mean() <= 0.03
    assert monitor.verdicts(X[N:]).alarm.mean() <= 0.05  # the old level is still known
    assert monitor.judge(moved[400:] + 30.0 * X[:N].std(axis=0)).alarm[-50:].all()


def test_two_accepted_levels_and_rows_that_cannot_be_accepted():
    X = vector_autoregression(N + 400, SEED)
    monitor = ProcessMonitor(LINEAR).fit(X[:N])
    for level in (20.0, -20.0):
        monitor.accept(X[N : N + 60] + level)
    assert np.unique(monitor._reference.rows.segment).tolist() == [0, 1, 2]
    for level in (0.0, 20.0, -20.0):
        assert monitor.predict(X[N + 100 :] + level).mean() >= 0.9
    before = monitor._reference
    with pytest.raises(ValueError, match=r"at least 10 rows .* got 3 \(n_samples = 5\)"):
        monitor.accept(np.where(np.arange(5)[:, None] < 2, np.nan, X[:5]))
    with pytest.raises(ValueError, match="features"):
        monitor.accept(X[:20, :4])
    assert monitor._reference is before


def test_frames_with_times_and_nan_come_back_under_adaption(drifting):
    index = pd.date_range("2024-01-01", periods=N + 200, freq="1min")
    frame = pd.DataFrame(drifting[: N + 200], index=index, columns=[f"T{i}" for i in range(10)])
    frame.iloc[N + 50 : N + 70, 2] = np.nan
    monitor = ProcessMonitor(LINEAR, adapt=True).fit(frame[:N])
    table = monitor.judge(frame[N:]).to_frame()
    assert table.index.equals(pd.Index(index[N:], name="time"))
    assert table["which"].str.contains("missing: T2").sum() == 16
    assert not table["p"].isna().any()
    assert_allclose(monitor.judge(frame[N:][-1:]).p >= 0, True)
