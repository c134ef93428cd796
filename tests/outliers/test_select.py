"""`KernelOutlierDetector(estimator="select")`: settings that are found, and alarms at the promised rate."""

import logging
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import mercer
from mercer import KernelOutlierDetector
from selection_data import curve, low_rank

X, NEW = curve(200), curve(50, seed=9)
# cells of different rows of the curve, so that each is ordinary and the row is not
MIXED = np.column_stack([np.random.default_rng(j).permutation(column) for j, column in enumerate(NEW.T)])


def detector(**more):
    return KernelOutlierDetector("select", random_state=0, **more)


def test_it_takes_what_mercer_select_finds():
    fitted, found = detector().fit(X), mercer.select(X, "outliers", contaminated=False, random_state=0).estimator
    own, given = fitted.estimator_.get_params(), found.estimator.get_params()
    assert own == given
    assert fitted.estimator == "select"
    again = clone(found).set_params(random_state=0).fit(X)
    assert (again.predict(MIXED) == -1).mean() > 0.85


@pytest.mark.parametrize("calibration", ["cv+", "split", "blocked"])
def test_rows_unlike_the_others_raise_alarms(calibration):
    fitted = detector(calibration=calibration, alpha=0.05).fit(X)
    assert (fitted.predict(MIXED) == -1).mean() > 0.85
    assert (fitted.predict(NEW) == 1).mean() > 0.8


@pytest.mark.parametrize("make", [curve, low_rank])
@pytest.mark.parametrize("calibration", ["cv+", "split"])
def test_clean_rows_raise_alarms_at_the_promised_rate(make, calibration):
    rates = []
    for seed in range(2):
        rows = make(2300, seed=seed)
        fitted = KernelOutlierDetector("select", alpha=0.05, calibration=calibration, random_state=seed)
        rates.append((fitted.fit(rows[:300]).predict(rows[300:]) == -1).mean())
    assert 0.02 < np.mean(rates) < 0.085


def test_the_detector_is_saved_pickled_and_cloned(tmp_path):
    fitted = detector().fit(X)
    fitted.save(tmp_path / "detector")
    for other in (mercer.load(tmp_path / "detector"), pickle.loads(pickle.dumps(fitted))):
        assert_array_equal(other.score_samples(NEW), fitted.score_samples(NEW))
        assert_allclose(other.contributions(MIXED[:3]), fitted.contributions(MIXED[:3]))
        assert other.estimator == "select"
    assert clone(fitted).estimator == "select"


def test_contributions_sum_to_the_statistic_and_name_the_changed_column():
    rows = low_rank(200)
    fitted, wrong = detector().fit(rows), rows[:1].copy()
    wrong[0, 5] += 8
    shares = fitted.contributions(wrong)
    assert shares.shape == (1, 12)
    assert int(shares[0].argmax()) == 5


def test_the_default_settings_find_none_of_them():
    assert (KernelOutlierDetector(random_state=0).fit(X).predict(MIXED) == -1).mean() < 0.2


def test_given_scaling_and_share_are_not_used():
    a, b = detector().fit(X), detector(standardize=False, explained=0.3).fit(X)
    assert_array_equal(a.score_samples(NEW), b.score_samples(NEW))


def test_a_share_of_outliers_can_be_given_instead():
    fitted = detector(contamination=0.1).fit(X)
    assert (fitted.predict(X) == -1).mean() == pytest.approx(0.1, abs=0.02)


def test_the_same_seed_gives_the_same_detector():
    assert_array_equal(detector().fit(X).score_samples(NEW), detector().fit(X).score_samples(NEW))


def test_ordinary_rows_raise_no_warning_and_stay_as_they_are(recwarn):
    before = X.copy()
    detector().fit(X).predict(NEW)
    assert not recwarn.list
    assert_array_equal(X, before)


@pytest.mark.parametrize("rows", [X[:19], np.ones((40, 3))])
def test_rows_that_cannot_be_compared_are_refused(rows):
    with pytest.raises(ValueError, match="estimator='select' needs at least 20 rows that are not all equal; got"):
        detector().fit(rows)


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="'estimator' parameter"):
        KernelOutlierDetector("selected").fit(X)


def test_progress_is_shown(caplog):
    with caplog.at_level(logging.INFO, "mercer"):
        detector(verbose=2).fit(X[:60])
    assert "kernels compared: step 27 of 27" in caplog.text


def test_rows_that_are_all_equal_but_one_are_compared_without_warnings():
    rows = np.vstack([np.ones((49, 4)), np.zeros((1, 4))])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = mercer.select(rows, "outliers", random_state=0)
        scores = detector().fit(rows).score_samples(rows)
    assert np.isfinite(found.table["score"]).all()
    assert np.isfinite(scores).all()
    assert scores.argmin() == 49
