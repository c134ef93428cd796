"""Columns that have one unit already, such as pixels, are not divided by units of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import MinMaxScaler

import mercer
from mercer import KernelOutlierDetector
from mercer.engine.scaling import Scaling, have_one_unit, resolved_scaling

DIGITS, LABELS = load_digits(return_X_y=True)
GRADES = np.random.default_rng(0).integers(1, 6, (50, 4)).astype(float)


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (DIGITS, True),
        (DIGITS[LABELS == 3], True),
        (GRADES, True),
        (np.column_stack([GRADES, np.arange(50.0)]), False),  # an age beside grades
        (np.column_stack([GRADES, np.ones(50)]), True),  # constant columns do not count
        (GRADES * [1.0, 1.0, 2.0, 2.0], False),
        (load_wine().data, False),
        (load_breast_cancer().data, False),
        (np.random.default_rng(0).integers(0, 256, (100, 20)).astype(float), True),  # few reach black and white exactly
        (np.random.default_rng(0).uniform(size=(100, 5)), False),  # nearly the same limits
        (np.random.default_rng(0).standard_normal((100, 40)), False),
        (MinMaxScaler().fit_transform(load_wine().data), True),  # somebody gave them one unit
        (GRADES * 3e307, True),
        (np.ones((5, 3)), False),
        (np.arange(5.0)[:, None], False),  # one column
    ],
    ids=[
        *("digits", "threes", "grades", "age", "constant", "two scales", "wine", "cancer", "grey", "uniform"),
        *("normal", "from 0 to 1"),
        *("enormous", "equal", "one"),
    ],
)
def test_one_unit_is_seen_by_common_limits(X, expected):
    assert have_one_unit(X) is expected
    assert resolved_scaling("auto", X) == ("common" if expected else "soft")
    for kind in ("soft", "variance", True, False):
        assert resolved_scaling(kind, X) is kind


def test_one_unit_divides_all_columns():
    scaling = Scaling.of(GRADES, "common")
    assert_array_equal(scaling.unit, 2.0)
    assert_allclose(scaling(GRADES), (GRADES - GRADES.mean(axis=0)) / 2.0)
    assert_array_equal(Scaling.of(np.ones((5, 3)), "common").unit, 1.0)
    enormous = Scaling.of(GRADES * 3e307, "common")
    assert_allclose(enormous(GRADES * 3e307), scaling(GRADES), atol=1e-12)


@pytest.mark.parametrize("white", [1.0, 255.0])
def test_grey_values_may_have_any_unit(white):
    rows, new = DIGITS[LABELS == 2], DIGITS[LABELS == 3][:30]
    usual = KernelOutlierDetector(random_state=0).fit(rows).p_values(new)
    assert_allclose(KernelOutlierDetector(random_state=0).fit(rows * white / 16).p_values(new * white / 16), usual)


@pytest.mark.parametrize("n", [100, 320])  # models apart, and with one kernel matrix
def test_a_detector_of_pictures_takes_pixels_as_they_are(n, tmp_path):
    X = DIGITS[:n]
    detector = KernelOutlierDetector(random_state=0).fit(X)
    assert_array_equal(detector._scaling.unit, 8.0)
    plain = KernelOutlierDetector(standardize=False, random_state=0).fit(X)
    assert_allclose(detector.p_values(DIGITS[-50:]), plain.p_values(DIGITS[-50:]), atol=2 / n)
    detector.save(tmp_path / "detector")
    assert_array_equal(mercer.load(tmp_path / "detector").score_samples(X), detector.score_samples(X))


def test_other_digits_are_found_better_than_with_units_of_each_pixel():
    found = {}
    for kind in ("auto", "soft"):
        precisions = []
        for digit in range(10):
            normal, other = DIGITS[digit == LABELS], DIGITS[(digit + 1) % 10 == LABELS][:10]
            detector = KernelOutlierDetector(standardize=kind, random_state=0).fit(normal[:100])
            labels = np.repeat([0, 1], [len(normal) - 100, 10])
            scores = detector.score_samples(np.vstack([normal[100:], other]))
            precisions.append(average_precision_score(labels, -scores))
        found[kind] = np.mean(precisions)
    assert found["auto"] > found["soft"] + 0.02
    assert found["auto"] > 0.75


def test_selected_settings_for_pictures_are_not_scaled():
    found = mercer.select(DIGITS[LABELS == 2], "outliers", contaminated=False, random_state=0)
    assert found.estimator.standardize is False
    found = mercer.select(load_wine().data, "outliers", contaminated=False, random_state=0)
    assert found.estimator.standardize in ("soft", "variance")
