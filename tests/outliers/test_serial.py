"""Rows that follow each other: the detector says so, sorted tables do not disturb it, and folds can be contiguous."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import mercer
from mercer import KernelOutlierDetector, LandmarkKernelPCA
from mercer.errors import NoAlarmWarning, SerialRowsWarning
from mercer.outliers.folds import contiguous_folds, gap_of
from mercer.outliers.serial import looks_serial, neighbours_alike
from textbook import outlier as textbook


def autoregression(n, decay, rng, d=3):
    x, rows = rng.standard_normal(d), np.empty((n, d))
    for t in range(n):
        x = decay * x + np.sqrt(1 - decay**2) * rng.standard_normal(d)
        rows[t] = x
    return rows


@given(st.integers(0, 2**31), st.integers(30, 90), st.integers(2, 60))
def test_the_measure_is_that_of_the_textbook(seed, n, values):
    scores = np.random.default_rng(seed).integers(0, values, n).astype(float)
    if np.ptp(scores) > 0:
        assert_allclose(neighbours_alike(scores), textbook.neighbours_alike(scores), atol=1e-9)


@pytest.mark.parametrize("n", [30, 100, 1000])
def test_fewer_than_one_percent_of_tables_without_an_order_are_told(n):
    rng = np.random.default_rng(n)
    told = sum(looks_serial(np.exp(2 * rng.standard_normal(n))) is not None for _ in range(1000))
    assert told <= 15


def test_constant_scores_and_few_rows_tell_nothing():
    assert looks_serial(np.ones(200)) is None
    assert looks_serial(np.arange(29.0)) is None
    assert looks_serial(np.arange(30.0) ** 2) is not None


def test_a_table_sorted_by_class_is_no_time_series(rng):
    sizes, levels = (900, 60, 200, 40), (0.0, 4.0, 1.0, 9.0)
    scores = np.concatenate([level + rng.exponential(size=n) for n, level in zip(sizes, levels, strict=True)])
    assert neighbours_alike(scores)[0] > 0.2
    assert looks_serial(scores) is None


@pytest.mark.parametrize(("classes", "size"), [(2, 50), (3, 50), (10, 30), (8, 22), (10, 120)])
def test_tables_sorted_by_classes_of_more_than_20_rows_are_hardly_ever_told(classes, size):
    """Classes that differ much are told in at most one table of twenty."""
    told = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        scores = rng.exponential(size=(classes, size)) + 2.0 * rng.standard_normal((classes, 1))
        told += looks_serial(scores.ravel()) is not None
    assert told <= 10


@pytest.mark.parametrize("decay", [0.85, 0.99])
@pytest.mark.parametrize("calibration", ["cv+", "split"])
def test_rows_in_the_order_of_time_are_told_and_shuffled_ones_are_not(rng, decay, calibration):
    X = autoregression(400, decay, rng)
    detector = KernelOutlierDetector(calibration=calibration, random_state=0)
    with pytest.warns(SerialRowsWarning, match=r"lag-1 autocorrelation of the scores 0\.\d\d.*ProcessMonitor"):
        detector.fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector.fit(rng.permutation(X))
        KernelOutlierDetector(contamination=0.1, random_state=0).fit(X)
        KernelOutlierDetector(calibration="blocked").fit(X)


def test_rows_between_the_folds_are_put_back_in_their_order(rng):
    X = rng.standard_normal((200, 3))
    X[:, 0] = np.where(np.arange(200) % 2, 3.0, 0.0) + 0.1 * X[:, 0]  # every second row is like the next but one
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector = KernelOutlierDetector(random_state=0).fit(X)
    assert detector.predict(X).mean() > 0.9


def test_real_tables_are_not_told_without_reason(data_set):
    for name in ("odds_wbc", "odds_musk"):  # sorted by class, and by molecule
        X = data_set(name)["X"]
        with warnings.catch_warnings():
            warnings.simplefilter("error", SerialRowsWarning)
            landmarks = LandmarkKernelPCA(4, gamma="median", landmarks=50, random_state=0)
            detector = KernelOutlierDetector(landmarks, random_state=0).fit(X)
        assert detector.n_features_in_ == X.shape[1]


def test_blocked_folds_are_contiguous_and_keep_their_distance(rng):
    X = autoregression(300, 0.9, rng)
    detector = KernelOutlierDetector(calibration="blocked", n_folds=4).fit(X)
    folds = list(contiguous_folds(300, 4, gap_of(X)))
    assert gap_of(X) > 5
    assert [len(scores) for scores in detector.calibration_.folds] == [75] * 4
    for (held, learned), scores, judge in zip(folds, detector.calibration_.folds, detector._judges, strict=True):
        assert_allclose(judge.scaling.mean, X[learned].mean(axis=0))
        assert_allclose(scores, judge(X[held]))


def test_blocked_folds_give_fewer_false_alarms_to_later_rows():
    rates = {"cv+": [], "blocked": []}
    for seed in range(6):
        rows = autoregression(2300, 0.95, np.random.default_rng(seed), d=6)
        for calibration, found in rates.items():
            detector = KernelOutlierDetector(alpha=0.05, calibration=calibration, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SerialRowsWarning)
                found.append((detector.fit(rows[:300]).predict(rows[300:]) < 0).mean())
    assert np.mean(rates["blocked"]) < 0.9 * np.mean(rates["cv+"])


def test_a_blocked_detector_is_saved_and_few_rows_suffice(rng, tmp_path):
    X = rng.standard_normal((40, 2))
    detector = KernelOutlierDetector(calibration="blocked").fit(X)
    detector.save(tmp_path / "d")
    assert np.array_equal(mercer.load(tmp_path / "d").p_values(X), detector.p_values(X))
    with pytest.warns(NoAlarmWarning):
        assert len(KernelOutlierDetector(calibration="blocked").fit(X[:2]).calibration_.folds) == 2
