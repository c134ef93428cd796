"""`ProcessMonitor`: streams, times, rates, files, and what it finds."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import mercer
from benchmarks.suite.processes import plant, stirred_tank, vector_autoregression
from mercer import KernelPCA, LandmarkKernelPCA, ProcessMonitor
from mercer.monitoring.stream import in_blocks
from textbook import monitoring as textbook

FIELDS = ("time", "t2", "spe", "p", "alarm", "which")
N = 300
SEED = 4  # of a process without columns that drift


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return vector_autoregression(N + 400, SEED, "sensor", N + 300, 5.0)


@pytest.fixture(scope="module")
def frame(X) -> pd.DataFrame:
    index = pd.date_range("2024-01-01", periods=len(X), freq="1min")
    return pd.DataFrame(X, index=index, columns=[f"v{i}" for i in range(X.shape[1])])


def joined(parts) -> dict[str, np.ndarray]:
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS}


def same(one, other) -> bool:
    kinds = {name: np.asarray(getattr(one, name) if not isinstance(one, dict) else one[name]) for name in FIELDS}
    others = {name: np.asarray(getattr(other, name) if not isinstance(other, dict) else other[name]) for name in FIELDS}
    return all(np.array_equal(kinds[name], others[name], equal_nan=kinds[name].dtype.kind == "f") for name in FIELDS)


VARIANTS = {
    "defaults": {},
    "lags": {"lags": 2},
    "persist": {"persist": (2, 4), "smoothing": 0.3},
    "gaussian": {"estimator": KernelPCA(6, kernel="rbf", gamma=0.01)},
    "landmarks": {"estimator": LandmarkKernelPCA(6, landmarks=40, gamma=0.02, random_state=0), "lags": 1},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_one_row_at_a_time_gives_the_same_bits_as_all_at_once(name, X):
    monitor = ProcessMonitor(**VARIANTS[name]).fit(X[:N])
    together = monitor.judge(X[N:])
    monitor.reset()
    alone = joined([monitor.judge(X[i : i + 1]) for i in range(N, len(X))])
    assert same(alone, together)
    monitor.reset()
    cuts = [N, N + 1, N + 70, N + 71, N + 200, len(X)]
    assert same(joined([monitor.judge(X[a:b]) for a, b in pairwise(cuts)]), together)
    assert together.alarm[-50:].any()


def test_t2_and_spe_are_those_of_the_textbook(X):
    monitor = ProcessMonitor(KernelPCA(4), smoothing=1.0, drifting="keep").fit(X[:N])
    found = monitor.judge(X[N : N + 50])
    expected = textbook.t2_and_spe(X[:N], X[N : N + 50], 4)
    high = 4.0 * monitor._limits.at(0.01)
    assert (monitor._chart.standardised(expected) < high).all()
    assert_allclose(np.column_stack([found.t2, found.spe]), expected, rtol=1e-8)


def test_an_alarm_is_a_p_value_of_at_most_alpha_and_a_statistic_above_its_limit(X):
    for alpha in (0.001, 0.05):
        monitor = ProcessMonitor(alpha=alpha).fit(X[:N])
        found = monitor.judge(X[N:])
        assert np.array_equal(found.alarm, found.p <= alpha)
        t2, spe = monitor.limits()
        over = (found.t2 >= t2 * (1 - 1e-12)) | (found.spe >= spe * (1 - 1e-12))
        slow = monitor._slow
        deviations, _ = slow.followed(X[N:], np.zeros(slow.width), alpha, in_blocks)
        limits = np.concatenate([slow.levels.limits(alpha), slow.relations.levels.limits(alpha)])
        away = (np.abs(deviations) >= limits * (1 - 1e-12)).any(axis=1)
        assert np.array_equal(found.alarm, over | away)
        assert np.array_equal(monitor.slow_means(X[N:]) >= 1 - 1e-12, away)
        assert {text.partition(":")[0] for text in found.which[found.alarm]} <= {"t2", "spe", "level", "relation"}
        assert set(found.which[~found.alarm]) == {""}
        assert np.array_equal(monitor.predict(X[N:]), np.where(found.alarm, -1, 1))
        assert np.array_equal(monitor.p_values(X[N:]), found.p)


def test_predict_leaves_the_stream_alone(X):
    expected, monitor = (ProcessMonitor().fit(X[:N]) for _ in range(2))
    first = expected.judge(X[N : N + 90])
    assert same(monitor.judge(X[N : N + 90]), first)
    monitor.predict(X[:50] + 100.0)
    assert same(monitor.judge(X[N + 90 :]), expected.judge(X[N + 90 :]))


def test_a_fault_is_found_and_normal_rows_are_not(X):
    found = ProcessMonitor().fit(X[:N]).judge(X[N:])
    assert found.alarm[:300].mean() <= 0.02
    assert found.alarm[310:].mean() >= 0.9
    first, last = found.episodes()[-1]
    assert 300 <= first <= 310
    assert last == 399


@pytest.mark.parametrize("process", [vector_autoregression, stirred_tank, plant])
def test_false_alarms_of_normal_continuations(process):
    """A short version of the objective `monitor_false_alarms`."""
    rates = []
    for seed in range(4):
        rows = process(2500, 900 + seed)
        rates.append((ProcessMonitor().fit(rows[:500]).p_values(rows[500:]) <= 0.05).mean() / 0.05)
    assert np.mean(rates) <= 2.0


def test_a_small_lasting_shift_of_one_variable_is_found_by_its_level(rng):
    X = rng.standard_normal((1500, 8))
    X[:, 4:] += X[:, :4]
    X[1000:, 6] += 1.5  # 1.06 standard deviations
    with_levels, without = (ProcessMonitor(levels=levels).fit(X[:400]) for levels in (True, False))
    found = with_levels.verdicts(X[400:])
    assert found.alarm[:600].mean() <= 0.02
    assert found.alarm[660:].mean() >= 0.9
    assert without.verdicts(X[400:]).alarm[660:].mean() <= found.alarm[660:].mean()
    named = found.which[660:]
    assert (np.char.find(named, "level: column 6") >= 0).mean() >= 0.5
    assert (np.char.find(named, "relation: column 6") >= 0).mean() >= 0.5
    assert set(without.verdicts(X[400:]).which) <= {"", "t2", "spe"}
    assert (with_levels.contributions(X[400:])[660:].argmax(axis=1) == 6).mean() >= 0.95


def test_models_of_parts_have_the_level_of_the_model_of_all_rows():
    """With 40 variables and 200 rows, models of fewer rows have clearly larger statistics of new rows."""
    gaps, plain = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((3000, 40)) @ rng.standard_normal((40, 40))
        monitor = ProcessMonitor(n_folds=4, gap=0, levels=False, smoothing=1.0).fit(X[:200])
        scores = monitor._reference.scores
        new, whole = np.log(monitor._judge(X[200:]).mean(axis=0)), np.log(scores.mean(axis=0))
        gaps.append(whole - new)
        plain.append(whole - np.log(monitor._reference.judges[0].factors) - new)
    assert np.mean(plain, axis=0)[1] >= 0.1
    assert np.abs(np.mean(gaps, axis=0)).max() <= 0.6 * np.mean(plain, axis=0)[1]


def test_a_wild_row_raises_an_alarm_that_ends_soon(X):
    monitor = ProcessMonitor(smoothing=0.1).fit(X[:N])
    rows = X[N : N + 100].copy()
    rows[10] += 1e3
    alarm = monitor.judge(rows).alarm
    assert alarm[10]
    assert not alarm[:10].any()
    assert not alarm[40:].any()


def test_the_stream_and_the_memory_in_a_file(X, tmp_path):
    monitor = ProcessMonitor(lags=2, persist=(2, 3)).fit(X[:N])
    monitor.judge(X[N : N + 33])
    monitor.save(tmp_path / "monitor")
    again = mercer.load(tmp_path / "monitor")
    assert same(again.judge(X[N + 33 :]), monitor.judge(X[N + 33 :]))
    assert again.summary() == monitor.summary()


# -- times -----------------------------------------------------------------------------------------------------------


def test_times_come_back_and_a_frame_gives_the_same(X, frame):
    monitor = ProcessMonitor(lags=1).fit(frame[:N])
    found = monitor.judge(frame[N:])
    assert np.array_equal(found.time, frame.index[N:].values)
    plain = ProcessMonitor(lags=1).fit(X[:N]).judge(X[N:])
    assert np.array_equal(found.p, plain.p)
    table = found.to_frame()
    assert table.index.equals(pd.Index(frame.index[N:].values, name="time"))
    assert list(table.columns) == ["t2", "spe", "p", "alarm", "which"]


def test_after_a_gap_in_time_the_stream_begins_anew(frame):
    monitor = ProcessMonitor(lags=2, smoothing=0.2).fit(frame[:N])
    later = frame[N:].copy()
    later.index = later.index.where(np.arange(len(later)) < 100, later.index + pd.Timedelta("1h"))
    found = monitor.judge(later)
    assert np.flatnonzero(np.isnan(found.t2)).tolist() == [0, 1, 100, 101]
    assert (found.p[[0, 1, 100, 101]] == 1.0).all()
    monitor.reset()
    assert np.array_equal(monitor.judge(later[100:]).p, found.p[100:])
    monitor.reset()
    parts = [monitor.judge(later[:100]), monitor.judge(later[100:])]
    assert np.array_equal(np.concatenate([part.p for part in parts]), found.p)


def test_gaps_in_the_training_rows_are_not_lags(frame):
    cut = frame[:N].drop(frame.index[100:150])
    monitor = ProcessMonitor(lags=2).fit(cut)
    assert monitor.n_samples_seen_ == N - 50
    short = frame[:N].iloc[::30]
    short.index = short.index.map(lambda time: time + pd.Timedelta(days=int(time.hour)))
    with pytest.raises(ValueError, match="needs at least 10 rows with 3 previous rows"):
        ProcessMonitor(lags=3).fit(short)


def test_times_must_be_in_order(frame):
    with pytest.raises(ValueError, match="not in order"):
        ProcessMonitor().fit(frame[:N][::-1])
    monitor = ProcessMonitor().fit(frame[:N])
    monitor.judge(frame[N + 10 : N + 20])
    with pytest.raises(ValueError, match="older than the last row"):
        monitor.judge(frame[N : N + 5])
    monitor.reset().judge(frame[N : N + 5])
    broken = frame[:N].copy()
    broken.index = broken.index.where(np.arange(N) != 7, pd.NaT)
    with pytest.raises(ValueError, match="NaT"):
        ProcessMonitor().fit(broken)


# -- rates -----------------------------------------------------------------------------------------------------------


def test_rates_in_rows_and_per_period(X, frame):
    assert ProcessMonitor(arl0=500).fit(X[:N]).alpha_ == pytest.approx(0.002)
    assert ProcessMonitor(false_alarms_per=("1D", 2)).fit(frame[:N]).alpha_ == pytest.approx(2 / 1440)
    assert ProcessMonitor().fit(X[:N]).alpha_ == 0.01
    with pytest.raises(ValueError, match="give one of them"):
        ProcessMonitor(alpha=0.01, arl0=100).fit(X[:N])
    with pytest.raises(ValueError, match="needs the times"):
        ProcessMonitor(false_alarms_per=("1D", 2)).fit(X[:N])
    for wrong in (("1D",), ("1D", 0), ("1D", "two")):
        with pytest.raises(ValueError, match="a period and a number"):
            ProcessMonitor(false_alarms_per=wrong).fit(frame[:N])
    with pytest.raises(ValueError, match="less than 1"):
        ProcessMonitor(false_alarms_per=("1min", 2)).fit(frame[:N])


def test_persistence_is_calibrated(X):
    single, lasting = (ProcessMonitor(smoothing=1.0, persist=k).fit(X[:N]) for k in (1, 3))
    assert lasting._limits.at(0.01) < single._limits.at(0.01)
    found = lasting.judge(np.vstack([X[N : N + 20], X[N + 20 : N + 23] + 50.0]))
    assert found.alarm.tolist() == [False] * 22 + [True]
    for wrong in (0, (3, 2), (1, 2, 3), (1.5, 2)):
        with pytest.raises(ValueError, match="persist"):
            ProcessMonitor(persist=wrong).fit(X[:N])


# -- what is learned -------------------------------------------------------------------------------------------------


def test_columns_that_drift_are_left_out(rng):
    X = vector_autoregression(600, 3)
    X[:, 4] = np.cumsum(rng.standard_normal(600))
    frame = pd.DataFrame(X, columns=[f"v{i}" for i in range(10)])
    monitor = ProcessMonitor().fit(frame[:400])
    assert np.flatnonzero(monitor.drifting_).tolist() == [4]
    assert "hardly known from these rows: v4." in monitor.summary()
    moved = frame[400:].copy()
    moved["v4"] += 3.0 * frame["v4"][:400].std()
    before, after = monitor.verdicts(frame[400:]), monitor.verdicts(moved)
    assert np.array_equal(before.t2, after.t2)
    assert np.array_equal(before.spe, after.spe)
    moved["v4"] += 1e9
    assert set(monitor.verdicts(moved).which) == {"level: v4"}
    assert (monitor.contributions(moved).argmax(axis=1) == 4).all()
    kept = ProcessMonitor(drifting="keep").fit(frame[:400])
    assert kept.predict(moved)[-1] == -1
    walks = np.cumsum(rng.standard_normal((400, 3)), axis=0)
    assert not ProcessMonitor().fit(walks).drifting_.any()


def test_linear_is_chosen_for_a_linear_process_and_a_curve_for_a_curve(rng):
    X = plant(500, 1)
    monitor = ProcessMonitor().fit(X)
    assert monitor.n_components_ >= 20
    angle = np.cumsum(rng.normal(0, 1.5, 500))
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle)]) + 0.03 * rng.standard_normal((500, 3))
    curved = ProcessMonitor().fit(circle)
    assert "Gaussian" in curved.kernel_
    assert "pretended faults, linear models" in curved.summary()
    assert curved.predict(np.zeros((30, 3)))[-1] == -1


def test_given_estimators_are_taken_as_they_are(X):
    monitor = ProcessMonitor(KernelPCA(3, kernel="rbf", gamma=0.05)).fit(X[:N])
    assert monitor.n_components_ == 3
    assert "RBF(gamma=0.05), as given" in monitor.summary()
    with pytest.raises(TypeError, match="decomposition of this package"):
        ProcessMonitor(ProcessMonitor()).fit(X[:N])
    with pytest.raises(ValueError, match="precomputed"):
        ProcessMonitor(KernelPCA(kernel="precomputed")).fit(X[:N])


@pytest.mark.parametrize("scale", [1e-120, 1.0, 1e120])
def test_units_do_not_matter(X, scale):
    expected = ProcessMonitor().fit(X[:N]).p_values(X[N:])
    assert_allclose(ProcessMonitor().fit(scale * X[:N]).p_values(scale * X[N:]), expected, rtol=1e-3, atol=1e-9)


def test_difficult_rows(rng):
    constant = np.ones((40, 3))
    monitor = ProcessMonitor().fit(constant)
    assert monitor.predict(constant).tolist() == [1] * 40
    assert monitor.predict([[1.0, 1.0, 2.0]]).tolist() == [-1]
    one = rng.standard_normal((200, 1))
    assert ProcessMonitor().fit(one).predict([[30.0]]).tolist() == [-1]
    twice = np.repeat(rng.standard_normal((200, 2)), 2, axis=1)
    broken = twice[:30].copy()
    broken[:, 3] = -broken[:, 3]
    assert ProcessMonitor().fit(twice).predict(broken)[-1] == -1
    repeated = np.repeat(rng.standard_normal((50, 3)), 4, axis=0)
    assert np.isfinite(ProcessMonitor().fit(repeated).p_values(repeated)).all()
    with pytest.raises(ValueError, match="needs at least 10 rows"):
        ProcessMonitor().fit(one[:9])


def test_refused_rows_leave_the_stream_as_it_was(X):
    expected, monitor = (ProcessMonitor(lags=1).fit(X[:N]) for _ in range(2))
    expected.judge(X[N : N + 30])
    monitor.judge(X[N : N + 30])
    for wrong in (np.full((3, 10), np.inf), X[:3, :4], X[0]):
        with pytest.raises(ValueError):
            monitor.judge(wrong)
    assert same(monitor.judge(X[N + 30 :]), expected.judge(X[N + 30 :]))


def test_verdicts_cannot_be_changed(X):
    found = ProcessMonitor().fit(X[:N]).judge(X[N:])
    assert len(found) == len(X) - N
    with pytest.raises(ValueError, match="read-only"):
        found.p[0] = 0.5
    assert clone(ProcessMonitor(persist=(2, 3))).persist == (2, 3)


# -- why -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lags", [0, 1])
def test_the_variable_with_the_fault_contributes_most(lags):
    first = []
    for seed in (4, 8, 20):
        normal, faulty = (vector_autoregression(700, seed, fault, 500, 3.0) for fault in (None, "sensor"))
        variable = int(np.abs(faulty - normal).max(axis=0).argmax())
        monitor = ProcessMonitor(lags=lags).fit(faulty[:400])
        rows = faulty[400:]
        found = monitor.verdicts(rows).alarm & (np.arange(300) >= 100)
        assert found.sum() >= 50
        first += (monitor.contributions(rows)[found].argmax(axis=1) == variable).tolist()
    assert np.mean(first) >= 0.9


def test_contributions_have_the_columns_of_the_rows_and_begin_anew_after_a_gap(frame):
    monitor = ProcessMonitor(lags=1, smoothing=0.3).fit(frame[:N])
    later = frame[N:].copy()
    later.index = later.index.where(np.arange(len(later)) < 100, later.index + pd.Timedelta("1h"))
    found = monitor.contributions(later)
    assert found.shape == later.shape
    assert (found >= 0).all()
    assert_allclose(monitor.contributions(later[100:]), found[100:], atol=1e-12)


def test_the_summary_says_where_limits_are_beyond_what_the_training_rows_show(rng):
    X = rng.standard_normal((200, 3))
    rare, usual = ProcessMonitor(arl0=10_000).fit(X).summary(), ProcessMonitor(alpha=0.02).fit(X).summary()
    assert "A rate of 0.0001 is rarer than" in rare
    assert "is rarer than" not in usual
