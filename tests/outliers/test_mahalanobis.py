"""The Mahalanobis distance of a detector: equal to its textbook twin, and it finds relations that are broken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import LedoitWolf
from sklearn.metrics import average_precision_score

import mercer
from mercer import KernelOutlierDetector, KernelPCA
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.judgement import judge_rows
from textbook import outlier as naive

KINDS = {
    "plain": lambda rng: rng.standard_normal((30, 4)),
    "related": lambda rng: (
        rng.standard_normal((30, 2)) @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((30, 4))
    ),
    "a column twice": lambda rng: rng.standard_normal((30, 3))[:, [0, 0, 1, 2]],
    "a constant column": lambda rng: rng.standard_normal((30, 4)) * [1.0, 0.0, 2.0, 3.0] + 5.0,
    "far from the origin": lambda rng: rng.standard_normal((30, 4)) + 1e5,
    "any units": lambda rng: rng.standard_normal((30, 4)) * [1e-9, 1.0, 1e3, 1e12],
    "few rows": lambda rng: rng.standard_normal((5, 4)),
    "one column": lambda rng: rng.standard_normal((30, 1)),
    "two values": lambda rng: np.where(rng.standard_normal((30, 1)) > 0, 1.0, -1.0) * [1.0, -1.0],
}


@given(st.integers(0, 10**6), st.sampled_from(sorted(KINDS)))
def test_distances_equal_the_textbook(seed, kind):
    rng = np.random.default_rng(seed)
    X = KINDS[kind](rng)
    new = X.mean(axis=0) + (X[:5] - X.mean(axis=0)) * rng.uniform(0.5, 3.0, (5, 1))
    assert_allclose(Ellipsoid.of(X)(new), naive.mahalanobis(X, new), rtol=1e-5, atol=1e-7)


def test_distances_equal_those_of_scikit_learn(rng):
    X = sensors(rng, 60)
    peer = LedoitWolf().fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert_allclose(Ellipsoid.of(X)(X), peer.mahalanobis((X - X.mean(axis=0)) / X.std(axis=0)), rtol=1e-5)


def test_equal_rows_have_distance_zero():
    X = np.full((10, 3), 7.0)
    assert_array_equal(Ellipsoid.of(X)(X), 0.0)
    assert Ellipsoid.of(X)(X + 1.0)[0] > 0


def test_distances_of_enormous_rows_are_numbers():
    ellipsoid = Ellipsoid.of(np.random.default_rng(0).standard_normal((30, 3)))
    found = ellipsoid(np.array([[1e300, 0.0, 0.0], [1e30, 0.0, 0.0], [1e10, 0.0, 0.0]]))
    assert np.isfinite(found).all()
    assert found[0] > found[1] > found[2] > 1e15


def test_contributions_are_what_a_predicted_value_would_save_and_name_the_sensor():
    rng = np.random.default_rng(1)
    X, new = sensors(rng, 300), sensors(rng, 50)
    new[np.arange(50), np.arange(50) % 10] += 1.5
    detector = KernelOutlierDetector(random_state=0).fit(X)
    found = detector.contributions(new, "mahalanobis")
    wrong = np.arange(50) % 10
    assert_array_equal(found.argmax(axis=1), wrong)
    assert_array_equal(detector.contributions(new).argmax(axis=1), wrong)
    ellipsoid = Ellipsoid.of(X)
    for value in (new[3, wrong[3]] - 1.5, 0.0, 2.0):  # no other value of the feature saves more
        other = new[3].copy()
        other[wrong[3]] = value
        saved = ellipsoid(new[3:4])[0] - ellipsoid(other[None])[0]
        assert saved <= found[3, wrong[3]] * (1 + 1e-9)
    assert ellipsoid(new[3:4])[0] - found[3, wrong[3]] < ellipsoid(X).max()


def sensors(rng, n, noise=0.1):
    """Ten sensors that follow two hidden quantities."""
    loadings = np.random.default_rng(7).standard_normal((2, 10))
    X = rng.standard_normal((n, 2)) @ loadings
    return X / np.linalg.norm(loadings, axis=0) + noise * rng.standard_normal((n, 10))


def test_a_broken_relation_is_found_although_all_values_are_usual():
    rng = np.random.default_rng(0)
    X, new = sensors(rng, 400), sensors(rng, 440)
    new[np.arange(400, 440), rng.integers(10, size=40)] += 1.0
    labels = np.arange(440) >= 400
    precision = {
        statistic: average_precision_score(
            labels, -KernelOutlierDetector(statistic=statistic, random_state=0).fit(X).score_samples(new)
        )
        for statistic in ("all", "both")
    }
    assert precision["all"] > 0.95
    assert precision["both"] < 0.5


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "related"])
@pytest.mark.parametrize("n", [150, 400])
def test_clean_rows_raise_alarms_at_the_promised_rate(kind, n):
    rates = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = sensors(rng, n + 2000) if kind == "related" else rng.standard_normal((n + 2000, 10))
        if kind == "heavy tails":
            rows /= np.sqrt(rng.chisquare(3, (n + 2000, 10)) / 3)
        detector = KernelOutlierDetector(alpha=0.05, random_state=seed).fit(rows[:n])
        assert detector.limits().shape == (3,)
        rates.append((detector.predict(rows[n:]) == -1).mean())
    assert 0.03 < np.mean(rates) < 0.065


def test_rows_far_away_are_ordered_where_a_gaussian_kernel_sees_none_of_them():
    X = np.random.default_rng(0).standard_normal((200, 3))
    far = np.array([[1e3, 0, 0], [2e3, 0, 0], [4e3, 0, 0]])
    model = KernelPCA(4, kernel="rbf", gamma=1.0)
    both = KernelOutlierDetector(model, statistic="both", random_state=0).fit(X).score_samples(far)
    found = KernelOutlierDetector(model, random_state=0).fit(X).statistics(far)
    assert both[0] == both[1] == both[2]
    assert found[0, 2] < found[1, 2] < found[2, 2]


def test_with_few_rows_for_the_columns_it_is_left_out(rng):
    X = rng.standard_normal((39, 20))
    detector = KernelOutlierDetector(random_state=0).fit(X)
    assert detector.statistics(X).shape == (39, 2)
    both = KernelOutlierDetector(statistic="both", random_state=0).fit(X)
    assert_array_equal(detector.score_samples(X + 1), both.score_samples(X + 1))
    with pytest.raises(ValueError, match="at least twice as many training rows"):
        detector.contributions(X, "mahalanobis")
    with pytest.raises(ValueError, match="got 'T2'"):
        detector.contributions(X, "T2")
    assert KernelOutlierDetector(random_state=0).fit(rng.standard_normal((40, 20))).statistics(X).shape == (39, 3)


@pytest.mark.parametrize("n", [100, 320])  # models apart, and with one kernel matrix
def test_a_saved_detector_knows_its_ellipsoids(rng, tmp_path, n):
    X = sensors(rng, n)
    detector = KernelOutlierDetector(random_state=0).fit(X)
    detector.save(tmp_path / "detector")
    again = mercer.load(tmp_path / "detector")
    assert_array_equal(again.statistics(2 * X), detector.statistics(2 * X))
    assert_array_equal(again.contributions(X, "mahalanobis"), detector.contributions(X, "mahalanobis"))


def test_training_rows_of_wide_tables_raise_alarms_at_the_promised_rate_too():
    rates = []
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((600, 120))
        rates.append((KernelOutlierDetector(alpha=0.05, random_state=seed).fit_predict(X) == -1).mean())
    assert 0.03 < np.mean(rates) < 0.06


@pytest.mark.parametrize("model", [KernelPCA(3), KernelPCA(3, kernel="cosine")])
def test_a_statistic_that_is_only_rounding_does_not_explain_rows(rng, model):
    X = rng.standard_normal((200, 3)) @ [[1.0, 0.5, 0.2], [0.0, 1.0, 0.4], [0.0, 0.0, 0.3]]
    detector = KernelOutlierDetector(model, explained=1.0, standardize="variance", random_state=0).fit(X)
    for feature in range(3):
        new = 0.3 * X[:40]
        new[:, feature] += 8 * X[:, feature].std()
        found = detector.contributions(new)
        assert np.abs(found).max() < 1e9
        assert (found.argmax(axis=1) == feature).mean() > 0.9


def test_the_statistic_that_decides_is_named(rng):
    X, new = sensors(rng, 400), sensors(rng, 30)
    new[:, 4] += 1.5
    detector = KernelOutlierDetector(random_state=0).fit(X)
    assert judge_rows(detector, new).by_distance.all()
    assert not judge_rows(KernelOutlierDetector(statistic="both", random_state=0).fit(X), new).by_distance.any()
    ring = np.random.default_rng(0).uniform(0, 2 * np.pi, 400)
    circle = np.column_stack([np.cos(ring), np.sin(ring)]) + 0.05 * rng.standard_normal((400, 2))
    inside = judge_rows(KernelOutlierDetector(random_state=0).fit(circle), np.zeros((1, 2)))
    assert inside.p_values[0] <= 0.05
    assert not inside.by_distance[0]
