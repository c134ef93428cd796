"""Missing and frozen sensors: each formula equals its twin, and rows with NaN are judged by what is there."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.signal import lfilter
from sklearn.covariance import ledoit_wolf

import mercer
from benchmarks.suite.processes import bend, stirred_tank, vector_autoregression
from mercer import KernelPCA, LandmarkKernelPCA, ProcessMonitor
from mercer.monitoring.imputation import Normal, index_and_slope
from mercer.monitoring.limits import Limits
from mercer.monitoring.patterns import scores_without
from mercer.monitoring.sensors import Runs, Sensors, in_words, run_lengths
from mercer.monitoring.stream import filled
from mercer.monitoring.thin_covariance import ThinCovariance, shrinkage
from textbook import monitoring as textbook

SEEDS = st.integers(0, 2**31)
N, SEED = 300, 4
FIELDS = ("t2", "spe", "p", "alarm", "which")


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return vector_autoregression(N + 400, SEED, "sensor", N + 300, 5.0)


@pytest.fixture(scope="module")
def monitor(X) -> ProcessMonitor:
    return ProcessMonitor().fit(X[:N])


def without(X: np.ndarray, *columns: int) -> np.ndarray:
    found = X.copy()
    found[:, columns] = np.nan
    return found


def same(one, other) -> bool:
    pairs = [(getattr(one, name), getattr(other, name)) for name in FIELDS]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


# -- parts -----------------------------------------------------------------------------------------------------------


@given(SEEDS, st.integers(1, 30), st.integers(1, 3), st.integers(0, 29))
def test_runs_are_those_of_the_textbook_also_over_calls(seed, n, d, cut):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, 1.0, np.nan], (n, d))
    starts = rng.random(n) < 0.1
    expected = textbook.run_lengths(X, starts)
    for found, wanted in zip(run_lengths(X, starts), expected, strict=True):
        assert np.array_equal(found, wanted)
    cut = min(cut, n - 1)
    if cut:
        never = np.full(d, 10**6)
        *_, runs = Sensors(never, never).watch(X[:cut], Runs.none(d))
        *_, runs = Sensors(never, never).watch(X[cut:], runs)
        equal, absent = textbook.run_lengths(X, np.zeros(n, bool))
        assert np.array_equal(runs.equal, equal[-1])
        assert np.array_equal(runs.absent, absent[-1])


def test_what_counts_as_long_is_set_by_the_training_rows(rng):
    n = 400
    noise = rng.standard_normal(n)
    repeated = np.repeat(rng.standard_normal(n // 4), 4)  # changes in every fourth row only
    rounded = np.round(2.0 * noise)
    X = np.column_stack([noise, np.ones(n), rng.integers(0, 2, n), repeated, np.round(20.0 * noise), rounded])
    X[100:103, 0] = np.nan
    sensors = Sensors.of(X, np.arange(n) == 0)
    never = np.iinfo(np.int64).max
    assert sensors.frozen[[0, 1, 2, 3]].tolist() == [5, never, never, never]
    assert 5 <= sensors.frozen[4] <= 12
    assert sensors.missing.tolist() == [9, 5, 5, 5, 5, 5]
    more = np.round(20.0 * rng.standard_normal((100_000, 1)))  # a coarse sensor is not taken for a frozen one
    frozen = Sensors(sensors.frozen[4:5], sensors.missing[4:5]).watch(more, Runs.none(1))[1]
    assert not frozen.any()


def test_sensors_in_words():
    frozen, missing = np.array([[False, False], [True, False]]), np.array([[False, False], [False, True]])
    assert in_words(frozen, missing, ["a", "b"]) == ["", "missing: b; frozen: a"]


@settings(deadline=None)
@given(SEEDS, st.integers(1, 6), st.sampled_from([1e-100, 1.0, 1e100]))
def test_filled_values_are_conditional_means(seed, d, scale):
    rng = np.random.default_rng(seed)
    rows = scale * (1.0 + rng.standard_normal((40, d)) @ rng.standard_normal((d, d)))
    normal = Normal.of(rows)
    missing = rng.random(d) < 0.4
    covariance = normal.correlation * normal.unit[:, None] * normal.unit
    x = np.where(missing, np.nan, rows[0])
    found = normal.filled(x[None], missing, normal.weights(missing))[0]
    unit = normal.unit
    expected = textbook.conditional_mean(x / unit, normal.mean / unit, covariance / unit[:, None] / unit)
    assert_allclose(found / unit, expected, rtol=1e-6, atol=1e-6 * np.abs(normal.mean / unit).max())


def test_the_distribution_of_constant_and_of_few_rows_is_usable(rng):
    missing = np.array([True, False, False])
    for rows in (np.ones((20, 3)), rng.standard_normal((2, 3)), np.repeat(rng.standard_normal((30, 1)), 3, axis=1)):
        normal = Normal.of(rows)
        found = normal.filled(np.where(missing, np.nan, rows), missing, normal.weights(missing))
        assert np.isfinite(found).all()
        if len(rows) == 30:
            assert_allclose(found, rows, atol=0.2)


@settings(deadline=None, max_examples=15)
@given(SEEDS)
def test_index_and_slope_of_a_gaussian_kernel_are_those_of_the_textbook(seed):
    rng = np.random.default_rng(seed)
    kernel = KernelPCA(3, kernel="rbf", gamma=0.2)
    model = ProcessMonitor(kernel, drifting="keep").fit(rng.standard_normal((30, 3)))._judge.model
    Z, e = rng.standard_normal((4, 3)), model.expansion
    parts = (e.points, e.coef, e.offset, e.nu, e.mean_norm, model.variances, 0.2, 0.3)
    index, slope = index_and_slope(model, Z, 0.3)
    assert_allclose(index, textbook.gaussian_index(Z, *parts), rtol=1e-7)
    for j in range(3):
        step = 1e-5 * np.eye(3)[j]
        rise = textbook.gaussian_index(Z + step, *parts) - textbook.gaussian_index(Z - step, *parts)
        assert_allclose(slope[:, j], rise / 2e-5, rtol=1e-4, atol=1e-5 * np.abs(slope).max())


def test_the_model_fills_better_than_a_line_where_the_process_bends():
    X = bend(1000, 3)
    monitor = ProcessMonitor(KernelPCA(40, kernel="rbf", gamma=5e-4), drifting="keep").fit(X[:500])
    book, rows, missing = monitor._book, X[500:], np.arange(8) == 0
    pattern = book(missing)
    assert pattern.iterates
    by_line = pattern.imputer.start(rows)
    errors = [np.abs(found - rows)[:, 0].mean() for found in (by_line, filled(without(rows, 0), book))]
    assert errors[1] < 0.85 * errors[0]


@given(SEEDS, st.integers(20, 80))
def test_equivalent_values_have_equal_p_values(seed, n):
    rng = np.random.default_rng(seed)
    ours, theirs = Limits.of(rng.standard_normal(n), 0.9), Limits.of(3.0 + rng.standard_cauchy(n), 0.9)
    values = np.concatenate([theirs.values[::7], theirs.values[:1] + 5.0, theirs.values[-1:] - 5.0])
    assert_allclose(ours.p_values(ours.equivalent(values, theirs)), theirs.p_values(values), rtol=1e-6)
    assert (np.diff(ours.equivalent(np.sort(values), theirs)) >= 0).all()


# -- rows with NaN ---------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=20)
@given(SEEDS, st.floats(0.0, 0.6))
def test_p_values_are_never_nan_and_complete_rows_do_not_change(monitor, X, seed, share):
    rng = np.random.default_rng(seed)
    rows = X[N : N + 12].copy()
    rows[6:][rng.random((6, X.shape[1])) < share] = np.nan
    found, expected = monitor.verdicts(rows), monitor.verdicts(X[N : N + 6])
    assert not np.isnan(found.p).any()
    for name in FIELDS:
        assert np.array_equal(getattr(found, name)[:6], getattr(expected, name))


VARIANTS = {
    "defaults": {},
    "lags": {"lags": 2, "smoothing": 0.3},
    "persist": {"persist": (2, 4), "smoothing": 1.0},
    "gaussian": {"estimator": KernelPCA(6, kernel="rbf", gamma=0.01)},
    "polynomial": {"estimator": KernelPCA(6, kernel="poly", degree=2)},
    "landmarks": {"estimator": LandmarkKernelPCA(6, landmarks=40, gamma=0.02, random_state=0), "lags": 1},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_one_row_at_a_time_gives_the_same_bits_with_missing_values(name, X, rng):
    monitor = ProcessMonitor(**VARIANTS[name]).fit(X[:N])
    rows = X[N : N + 60].copy()
    rows[10:30, 2] = np.nan
    rows[20:22] = np.nan
    rows[25, 3:5] = np.nan
    rows[40:, 7] = rows[40, 7]
    together = monitor.judge(rows)
    monitor.reset()
    alone = [monitor.judge(row[None]) for row in rows]
    for field in FIELDS:
        joined = np.concatenate([getattr(part, field) for part in alone])
        assert np.array_equal(joined, getattr(together, field), equal_nan=joined.dtype.kind == "f"), field
    assert "missing: column 2" in together.which[14]
    assert "frozen: column 7" in together.which[44]
    assert "frozen: column 7" not in together.which[43]


def test_missing_columns_are_judged_on_the_scale_of_complete_rows(monitor, X):
    found = monitor.verdicts(without(X[N:], 0))
    t2, spe = monitor.limits()
    over = (found.t2 >= t2 * (1 - 1e-9)) | (found.spe >= spe * (1 - 1e-9))
    assert np.array_equal(found.p <= monitor.alpha_, over)


@pytest.mark.parametrize("persist", [1, (2, 3)])
def test_p_values_are_those_of_reference_rows_without_the_same_columns(persist, X):
    monitor = ProcessMonitor(smoothing=1.0, persist=persist, drifting="keep", levels=False).fit(X[:N])
    pattern, rows = monitor._book(np.arange(10) < 4), X[N : N + 290]
    z = pattern.chart.standardised(pattern.scores(rows)) / pattern.chart.unit
    k, m = (1, 1) if persist == 1 else persist
    lasting = textbook.kth_largest(z.max(axis=1), k, m)
    expected = np.where(np.isfinite(lasting), pattern.limits.p_values(lasting), 1.0)
    assert_allclose(monitor.p_values(without(rows, 0, 1, 2, 3)), expected, rtol=1e-6)
    _, scores = scores_without(monitor._reference, np.arange(10) < 4)
    held_out = pattern.chart.standardised(scores)
    assert_allclose(held_out.mean(axis=0), 0.0, atol=1e-9)
    assert_allclose(held_out.std(axis=0), 1.0, rtol=1e-9)


@pytest.mark.parametrize("process", [vector_autoregression, stirred_tank])
def test_false_alarms_stay_at_their_rate_without_some_columns(process):
    rates = []
    for seed in range(4):
        rows = process(2000, 900 + seed)
        monitor = ProcessMonitor(alpha=0.05).fit(rows[:500])
        rates.append((monitor.p_values(without(rows[500:], 1, 4, 6)) <= 0.05).mean() / 0.05)
    assert 0.05 <= np.mean(rates) <= 2.0


def test_a_fault_is_found_without_some_columns_and_not_in_a_missing_one(X):
    normal = vector_autoregression(N + 400, SEED)
    faulty = int(np.abs(X - normal).max(axis=0).argmax())
    others = [j for j in range(10) if j != faulty][:2]
    monitor = ProcessMonitor().fit(X[:N])
    assert (monitor.p_values(without(X[N:], *others))[310:] <= 0.01).mean() >= 0.8
    assert (monitor.p_values(without(X[N:], faulty))[310:] <= 0.01).mean() <= 0.05


def test_the_order_of_columns_does_not_matter(X):
    order = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])
    model = {"estimator": KernelPCA(4), "drifting": "keep"}
    expected = ProcessMonitor(**model).fit(X[:N]).p_values(without(X[N:], 1, 3))
    found = ProcessMonitor(**model).fit(X[:N, order]).p_values(without(X[N:], 1, 3)[:, order])
    assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_do_not_matter_to_missing_values(monitor, X, scale):
    rows = without(X[N:], 2)
    found = ProcessMonitor().fit(scale * X[:N]).p_values(scale * rows)
    assert_allclose(found, monitor.p_values(rows), rtol=1e-3, atol=1e-9)


def test_limits_come_from_models_that_did_not_learn_from_the_rows(monitor):
    """The mean of T2 and SPE over the reference rows is that of each part by the model of the others."""
    missing = np.arange(10) == 2
    reference = monitor._reference
    _, scores = scores_without(reference, missing)
    number = 3
    own = reference.owner == number
    rows = reference.rows.lagged
    far = ~np.isin(np.arange(len(rows)), np.flatnonzero(own)[:, None] + np.arange(-reference.gap, reference.gap + 1))
    normal, judge = Normal.of(rows[far]), reference.judges[number]
    expected = judge(normal.filled(rows[own], missing, normal.weights(missing)))
    assert_allclose(scores[own], expected, rtol=1e-9)
    assert abs(own.sum() - len(rows) / 10) <= 1


def test_rows_without_any_value_are_not_judged_and_change_nothing(monitor, X):
    rows = np.insert(X[N : N + 30], [10, 10, 10], np.nan, axis=0)
    found, expected = monitor.verdicts(rows), monitor.verdicts(X[N : N + 30])
    assert np.isnan(found.t2[10:13]).all()
    assert (found.p[10:13] == 1.0).all()
    assert np.array_equal(np.delete(found.p, [10, 11, 12]), expected.p)
    alarm = monitor.verdicts(np.full((6, 10), np.nan))
    assert alarm.alarm.tolist() == [False] * 4 + [True] * 2
    assert alarm.which[4].startswith("missing: column 0, column 1, ")


def test_a_frozen_sensor_counts_as_missing_from_its_alarm_on(monitor, X):
    rows = X[N : N + 80].copy()
    rows[20:, 3] = rows[20, 3]
    found = monitor.verdicts(rows)
    assert np.flatnonzero(["frozen: column 3" in text for text in found.which])[0] == 24
    rows[24:, 3] = np.nan
    assert np.array_equal(found.p, monitor.verdicts(rows).p)
    assert not np.array_equal(found.p[:24], monitor.verdicts(without(rows, 3)).p[:24])


def test_columns_that_drift_may_be_missing(rng):
    X = vector_autoregression(600, 3)
    X[:, 4] = np.cumsum(rng.standard_normal(600))
    monitor = ProcessMonitor().fit(X[:400])
    rows = without(X[400:], 4)
    found = monitor.judge(rows)
    assert not np.isnan(found.p).any()
    assert found.which[10] == "missing: column 4"
    assert (monitor.contributions(rows)[:, 4] == 0).all()


def test_missing_values_contribute_nothing_and_the_fault_is_still_found(X):
    normal = vector_autoregression(N + 400, SEED)
    faulty = int(np.abs(X - normal).max(axis=0).argmax())
    other = (faulty + 1) % 10
    monitor = ProcessMonitor(smoothing=1.0).fit(X[:N])
    found = monitor.contributions(without(X[N + 310 :], other))
    assert (found[:, other] == 0).all()
    assert (found.argmax(axis=1) == faulty).mean() >= 0.9


# -- training rows, tables and files ---------------------------------------------------------------------------------


def test_training_rows_with_nan_are_left_out_with_one_warning(X):
    frame = pd.DataFrame(X, columns=[f"T{i}" for i in range(10)])
    holed = frame[:N].copy()
    holed.iloc[50:60, 3] = np.nan
    holed.iloc[55, 4] = np.nan
    with pytest.warns(UserWarning, match=r"10 of 300 training rows hold NaN \(T3: 10, T4: 1\) and are left out"):
        monitor = ProcessMonitor(lags=1).fit(holed)
    assert monitor.n_samples_seen_ == N - 10
    assert len(monitor._reference.rows) == N - 10 - 2  # the first row, and the one after the hole
    assert monitor._sensors.missing[[3, 4]].tolist() == [30, 5]
    found = monitor.judge(frame[N:].assign(T3=np.nan))
    assert found.which[-1].endswith("missing: T3")
    assert "Missing: T3 for 400 rows." in monitor.summary()
    table = monitor.judge(frame[N:].astype("Float64").mask(frame[N:] > 3.0)).to_frame()
    assert not table["p"].isna().any()
    holed["T3"] = np.nan
    with pytest.raises(ValueError, match=r"got 0 .* hold NaN \(T3: 300, T4: 1\): drop these columns"):
        ProcessMonitor().fit(holed)


def test_infinity_is_refused(monitor, X):
    for call in (monitor.judge, monitor.accept, ProcessMonitor().fit):
        with pytest.raises(ValueError, match="infinity"):
            call(np.where(np.arange(10) == 2, np.inf, X[:50]))


def test_a_file_holds_what_missing_values_need(X, tmp_path):
    monitor = ProcessMonitor(lags=1).fit(X[:N])
    rows = without(X[N:], 2)
    monitor.judge(rows[:33])
    monitor.save(tmp_path / "monitor")
    again = mercer.load(tmp_path / "monitor")
    assert again.summary() == monitor.summary()
    assert same(again.judge(rows[33:]), monitor.judge(rows[33:]))


def test_only_some_patterns_are_kept(monitor, X, rng):
    rows = X[N : N + 80].copy()
    rows[np.arange(80), rng.integers(0, 10, 80)] = np.nan
    rows[np.arange(80), rng.integers(0, 10, 80)] = np.nan
    first = monitor.verdicts(rows)
    assert len(monitor._book.found) <= 64
    assert same(monitor.verdicts(rows), first)


def test_a_masked_cell_is_a_missing_value(rng):
    X, new = rng.standard_normal((400, 3)), rng.standard_normal((50, 3))
    gaps = new > 1.5
    monitor = ProcessMonitor().fit(X)
    expected = monitor.judge(np.where(gaps, np.nan, new))
    monitor.reset()
    found = monitor.judge(np.ma.masked_array(np.where(gaps, 9999.0, new), gaps))
    assert gaps.any()
    np.testing.assert_array_equal(found.p, expected.p)


def test_missing_columns_of_wide_rows_are_expected_by_a_matrix_of_the_rows_side(rng):
    rows = rng.standard_normal((25, 3)) @ rng.standard_normal((3, 60)) + 0.5 * rng.standard_normal((25, 60)) + 4.0
    rows[:, 9] = 1.0  # does not vary
    thin, missing = Normal.of(rows), np.isin(np.arange(60), [2, 9, 30])
    assert isinstance(thin.correlation, ThinCovariance)
    assert thin.correlation.factor.shape == (60, 25)  # nothing of 60 x 60
    Z = (rows - thin.mean) / thin.unit
    found, share = ledoit_wolf(Z, assume_centered=True)
    assert shrinkage(Z) == pytest.approx(share, rel=1e-9)
    whole = Normal(thin.mean, thin.unit, found + 1e-9 * np.trace(found) / 60 * np.eye(60))
    weights = whole.weights(missing)
    assert_allclose(thin.weights(missing), weights, rtol=1e-8, atol=1e-12)
    assert_allclose(thin.spread(missing, weights), whole.spread(missing, weights), rtol=1e-8, atol=1e-12)
    assert shrinkage(np.zeros((3, 5))) == 0.0


def test_rows_of_more_columns_than_training_rows_are_judged_without_some(rng):
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 80)) + 0.3 * rng.standard_normal((60, 80))
    monitor = ProcessMonitor().fit(X[:50])
    usual, odd = without(X[50:53], 4, 7), without(X[50:53], 4, 7)  # too few rows for an alarm about the sensors
    odd[:, 20:40] += 50.0
    assert not monitor.verdicts(usual).alarm.any()
    assert monitor.verdicts(odd).alarm[1:].all()


@pytest.mark.parametrize("levels", [True, False])
def test_a_column_that_is_seldom_measured_does_not_raise_the_rate_of_false_alarms(levels):
    """Only every sixth row is complete and learned from; the rows of the stream are closer to each other than these."""
    rates = []
    for seed in range(3):
        rng = np.random.default_rng(900 + seed)
        factors = lfilter([1.0], [1.0, -0.8], rng.standard_normal((6000, 3)), axis=0)
        X = factors @ rng.standard_normal((3, 6)) + 0.5 * rng.standard_normal((6000, 6))
        X[np.arange(6000) % 6 > 0, 0] = np.nan
        with pytest.warns(UserWarning, match="hold NaN"):
            found = ProcessMonitor(levels=levels).fit(X[:1800])
        rates.append(found.verdicts(X[1800:]).alarm.mean())
    assert np.mean(rates) <= 0.01
