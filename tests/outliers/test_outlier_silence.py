"""A detector that cannot raise an alarm says so when it is fitted, and only then."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import KernelOutlierDetector, KernelPCA, LandmarkKernelPCA, OnlineRobustKernelPCA
from mercer.errors import NoAlarmWarning
from mercer.outliers.calibration import allowed_count, rows_needed
from mercer.outliers.scores import score_model

FAR = 1e3 * np.vstack([np.eye(3), -np.eye(3), np.ones((1, 3))])  # standard deviations


def told(call):
    """Return what a call returns, and the texts of the warnings that no alarm is possible."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [str(one.message) for one in caught if issubclass(one.category, NoAlarmWarning)]


def fitted(X, **parameters):
    return told(lambda: KernelOutlierDetector(random_state=0, **parameters).fit(X))


@given(st.floats(1e-6, 0.999) | st.integers(2, 3000).map(lambda n: 1 / n))
def test_the_number_of_rows_needed_is_the_smallest_that_allows_an_alarm(alpha):
    needed = rows_needed(alpha)
    assert allowed_count(alpha, needed) >= 1
    assert needed == 1 or allowed_count(alpha, needed - 1) == 0


@pytest.mark.parametrize("statistic", ["all", "both", "spe"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(("calibration", "needed"), [("cv+", 19), ("split", 38)])
@pytest.mark.parametrize("short", [0, 1])
def test_the_warning_comes_exactly_when_no_row_can_alarm(rng, statistic, kernel, calibration, needed, short):
    X = rng.standard_normal((needed - short, 3))
    estimator = KernelPCA(1, kernel=kernel, gamma="median" if kernel == "rbf" else None)
    detector, texts = fitted(X, estimator=estimator, statistic=statistic, calibration=calibration, alpha=0.05)
    alarms = (detector.predict(FAR) == -1).any()
    assert alarms == (not texts)
    assert alarms == (short == 0)
    if texts:
        assert f"needs at least {needed} rows; got {needed - 1}" in texts[0]
        assert "\n" not in texts[0]


def test_the_rate_that_the_warning_proposes_is_enough(rng):
    X = rng.standard_normal((50, 3))
    _, [text] = fitted(X, alpha=0.01)
    assert "needs at least 99 rows; got 50" in text
    proposed = float(text.split("alpha=")[-1].rstrip("."))
    assert 1 / 51 <= proposed < 1 / 50
    detector, texts = fitted(X, alpha=proposed)
    assert not texts
    assert (detector.predict(FAR) == -1).all()


def test_the_default_rate_needs_rows_too(rng):
    assert fitted(rng.standard_normal((18, 3)))[1]
    with pytest.warns(NoAlarmWarning) as caught:
        KernelOutlierDetector().fit(rng.standard_normal((18, 3)))
    assert caught[0].filename == __file__  # the user's line, not one of the library
    assert not fitted(rng.standard_normal((19, 3)))[1]


@pytest.mark.parametrize("alpha", [0.02, 0.03, 0.045])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_training_rows_as_far_away_as_a_row_can_be_hide_all_others(rng, alpha, kernel):
    """With two of them the smallest p-value of a row far away is 3 / (n + 1)."""
    X = np.vstack([rng.standard_normal((78, 3)), [[500.0, 0, 0], [0, 500.0, 0]]])
    estimator = KernelPCA(4, kernel=kernel, gamma=0.2)
    detector, texts = fitted(X, estimator=estimator, statistic="both", alpha=alpha, standardize=False)
    alarms = (detector.predict(1e3 * FAR) == -1).any()
    assert alarms == (alpha >= 3 / 81)
    assert alarms == (not texts)
    if texts:
        assert "2 of 80 rows" in texts[0]
    detector, texts = fitted(X, estimator=estimator, alpha=alpha, standardize=False)
    assert not texts  # Mahalanobis distances grow without end
    assert (detector.predict(1e3 * FAR) == -1).all()


def test_a_statistic_that_does_not_see_distance_is_told(rng):
    X = rng.standard_normal((60, 3))
    detector, [text] = fitted(X, estimator=KernelPCA(4, kernel="rbf", gamma=2.0), statistic="t2")
    assert (detector.predict(FAR) == 1).all()
    assert "Use statistic='all'" in text
    detector, texts = fitted(X, estimator=KernelPCA(2, kernel="linear"), statistic="t2")
    assert (detector.predict(FAR) == -1).any()
    assert not texts


@pytest.mark.parametrize(
    "model",
    [
        LandmarkKernelPCA(3, gamma=0.3, landmarks=20, center=True, random_state=0),
        LandmarkKernelPCA(3, gamma=0.3, landmarks=20, center=False, random_state=0),
        OnlineRobustKernelPCA(3, gamma=0.3, landmarks=20, feature_map="empirical", random_state=0),
    ],
    ids=["centred", "not centred", "empirical"],
)
def test_scores_infinitely_far_away_are_those_of_rows_very_far_away(rng, model):
    X = rng.standard_normal((60, 3))
    judge = score_model(model.fit(X).expansion_, 1.0, X)
    np.testing.assert_allclose(judge.far_away(), judge(FAR)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("contamination", [0.005, 0.02, 0.1])
def test_contamination_warns_only_of_rows_that_hide_others(rng, contamination):
    clean = rng.standard_normal((12, 3))
    detector, texts = fitted(clean, contamination=contamination)
    assert not texts  # however few the rows, the farthest ones raise an alarm
    assert (detector.predict(FAR) == -1).all()
    X = np.vstack([rng.standard_normal((95, 3)), 1e4 * np.eye(5, 3), [[0, 0, -1e4]]])
    X[-3:-1, 0] = [2e4, -1e4]
    estimator = KernelPCA(4, kernel="rbf", gamma=0.2)
    given = {"statistic": "both", "contamination": contamination, "standardize": False}
    detector, texts = fitted(X, estimator=estimator, **given)
    alarms = (detector.predict(1e6 * FAR) == -1).any()
    assert alarms == (not texts)
    assert alarms == (contamination == 0.1)


def test_training_rows_cannot_alarm_where_each_meets_its_own_score(rng):
    X = rng.standard_normal((30, 3))
    X[7] += 3
    detector = KernelOutlierDetector(alpha=0.05, random_state=0)
    labels, [text] = told(lambda: detector.fit_predict(X))
    assert (labels == 1).all()
    assert "No training row can raise an alarm" in text
    assert "at least 39 rows" in text
    assert (detector.predict(FAR) == -1).all()
    more = np.vstack([X, rng.standard_normal((9, 3))])
    labels, texts = told(lambda: detector.fit_predict(more))
    assert labels[7] == -1
    assert not texts
