"""`KernelOutlierDetector` on enormous numbers and on NumPy's own booleans, and the scaling that bounds them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer import KernelOutlierDetector, KernelPCA
from mercer.criteria.candidates import Grid
from mercer.criteria.cell_choice import judge_by_cells
from mercer.engine.scaling import Scaling
from mercer.outliers.together import reference_size

LARGEST = np.finfo(float).max


@pytest.fixture
def X(rng) -> np.ndarray:
    return rng.standard_normal((120, 4)) * [1.0, 100.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("kernel", "standardize"),
    [("linear", "soft"), ("linear", False), ("rbf", "soft"), ("rbf", False), ("poly", "soft")],
)
def test_an_enormous_row_is_an_alarm_and_changes_no_other_row(X, kernel, standardize):
    estimator = KernelPCA(3, kernel=kernel, gamma=None if kernel == "linear" else 0.01)
    detector = KernelOutlierDetector(estimator, standardize=standardize, random_state=0).fit(X / X.std(axis=0))
    rows = X[:6] / X.std(axis=0)
    expected = detector.score_samples(rows)
    for value in (1e160, LARGEST, -LARGEST):
        rows[3, [0, 2]] = value
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert detector.predict(rows)[3] == -1
            assert np.isfinite(detector.statistics(rows)).all()
            assert np.isfinite(detector.contributions(rows)).all()
            assert_array_equal(np.delete(detector.score_samples(rows), 3), np.delete(expected, 3))


def test_models_that_share_their_kernel_values_judge_an_enormous_row(rng):
    X = rng.standard_normal((400, 3))
    detector = KernelOutlierDetector(random_state=0).fit(X)
    assert detector._judges.points_are_shared
    assert detector.predict([[0.0, LARGEST, 0.0], [0.0, 0.0, 0.0]]).tolist() == [-1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounded_rows_are_scaled_rows_unless_they_are_enormous(rng, dtype):
    X = rng.standard_normal((30, 3)).astype(dtype)
    scaling = Scaling.of(X * np.array([1.0, 1e-30, 1.0], dtype), "variance")
    X[0, :2] = np.nan, np.finfo(dtype).max
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scaling.bounded(X)
    assert found.dtype == dtype
    assert np.isnan(found[0, 0])
    assert np.isfinite(found[0, 1:]).all()
    assert found[0, 1] > 1e37
    assert_array_equal(found[1:], scaling(X[1:]))


def test_false_of_numpy_leaves_rows_as_they_are(X):
    found, expected = (KernelOutlierDetector(standardize=kind, random_state=0).fit(X) for kind in (np.False_, False))
    assert_array_equal(found._scaling.unit, 1.0)
    assert_array_equal(found.score_samples(X), expected.score_samples(X))
    estimator = KernelPCA(2, kernel="rbf", gamma=0.1)
    assert reference_size(estimator, np.False_, 600) == reference_size(estimator, False, 600) == 0


def test_false_of_numpy_is_compared_as_rows_that_are_not_scaled(X):
    found, expected = (
        judge_by_cells(X, Grid(widths=(1.0,), counts=(2,), scalings=(kind,)), np.random.RandomState(0))
        for kind in (np.False_, False)
    )
    assert_array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("alpha", [0, 1.0, 2.0, -0.1])
def test_limits_exist_only_for_rates(X, alpha):
    detector = KernelOutlierDetector(random_state=0).fit(X)
    with pytest.raises(ValueError, match="alpha must be a rate between 0 and 1"):
        detector.limits(alpha)
