"""Without an estimator, detectors of many rows take landmarks: exact models would take minutes."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from mercer import KernelOutlierDetector, KernelPCA, LandmarkKernelPCA
from mercer.outliers import settings


@pytest.fixture
def few_are_many(monkeypatch):
    """Let 900 rows count as many, so that the test takes no time."""
    monkeypatch.setattr(settings, "MANY_ROWS", 900)


def curve(n: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    t = rng.uniform(-2, 2, n)
    return np.column_stack([t, t**2, np.sin(2 * t)]) + 0.1 * rng.standard_normal((n, 3))


@pytest.mark.parametrize("params", [{}, {"trim": 0.05}, {"calibration": "split"}, {"contamination": 0.02}])
def test_landmarks_rank_rows_as_the_exact_model_does(few_are_many, params):
    X, new = curve(1000), np.random.default_rng(1).uniform([-2, 0, -1], [2, 4, 1], (300, 3))
    many = KernelOutlierDetector(random_state=0, **params).fit(X)
    exact = KernelOutlierDetector(KernelPCA(4, kernel="rbf", gamma="median"), random_state=0, **params).fit(X)
    assert type(many.estimator_) is LandmarkKernelPCA
    assert many.estimator_.n_components == 4
    assert spearmanr(many.score_samples(new), exact.score_samples(new))[0] > 0.98


def test_landmarks_have_the_selected_settings(monkeypatch):
    X, new = curve(1000), np.random.default_rng(1).uniform([-2, 0, -1], [2, 4, 1], (300, 3))
    exact = KernelOutlierDetector("select", random_state=0).fit(X)
    monkeypatch.setattr(settings, "MANY_ROWS", 900)
    many = KernelOutlierDetector("select", random_state=0).fit(X)
    assert type(many.estimator_) is LandmarkKernelPCA
    assert type(exact.estimator_) is KernelPCA
    for name in ("n_components", "kernel", "gamma"):
        assert getattr(many.estimator_, name) == getattr(exact.estimator_, name)
    assert spearmanr(many.score_samples(new), exact.score_samples(new))[0] > 0.95


def test_a_seed_decides_about_the_landmarks_too(few_are_many):
    X = curve(1000)
    one, two, other = (KernelOutlierDetector(random_state=seed).fit(X).score_samples(X) for seed in (0, 0, 1))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_up_to_the_limit_the_model_is_exact(few_are_many):
    assert type(KernelOutlierDetector(random_state=0).fit(curve(900)).estimator_) is KernelPCA


def test_the_limit_is_that_of_the_documentation():
    assert f"more than {settings.MANY_ROWS:,} rows" in (KernelOutlierDetector.__doc__ or "")
