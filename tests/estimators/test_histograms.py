"""Histograms and the chi-squared kernel, which takes no negative numbers: what is found for scores has none."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import mercer
from mercer import (
    HebbianKernelPCA,
    IncrementalKernelPCA,
    KernelPCA,
    LandmarkKernelPCA,
    OnlineRobustKernelPCA,
    RobustKernelPCA,
    load,
)
from mercer.kernels import Chi2

X = np.random.default_rng(0).dirichlet(np.full(6, 0.3), size=150)

CLASSES = [
    KernelPCA,
    LandmarkKernelPCA,
    IncrementalKernelPCA,
    OnlineRobustKernelPCA,
    RobustKernelPCA,
    HebbianKernelPCA,
]


def mean_error(found):
    """Return the mean squared error of rows, as a share of that of the mean row."""
    return ((found - X) ** 2).sum() / ((X - X.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("preimage", ["auto", "ridge"])
@pytest.mark.parametrize("make", CLASSES)
def test_scores_lead_back_to_histograms(make, preimage):
    model = make(4, kernel="chi2", gamma=1.0, preimage=preimage)
    if make is KernelPCA:
        model.set_params(fit_inverse_transform=True)
    elif "random_state" in model.get_params():
        model.set_params(random_state=0)
    found, residual = model.fit(X).inverse_transform(model.transform(X), return_residual=True)
    assert found.min() == 0.0
    assert np.isfinite(residual).all()
    assert mean_error(found) < 0.5


def test_a_fitted_regression_is_saved_with_the_model(tmp_path):
    model = KernelPCA(4, kernel=Chi2(1.0), alpha=0.1, fit_inverse_transform=True).fit(X)
    assert model.dual_coef_.shape == X.shape
    scores = model.transform(X)
    model.save(tmp_path / "chi2.mercer")
    again = load(tmp_path / "chi2.mercer")
    np.testing.assert_array_equal(again.inverse_transform(scores), model.inverse_transform(scores))


def test_histograms_that_are_all_the_same_lead_back_to_themselves():
    same = np.tile(X[:1], (10, 1))
    model = KernelPCA(1, kernel="chi2", alpha=1e-9, fit_inverse_transform=True).fit(same)
    np.testing.assert_allclose(model.inverse_transform(model.transform(same)), same, atol=1e-6)
    assert KernelPCA(kernel="chi2", fit_inverse_transform=True).fit(same).n_components_ == 0


def test_noisy_histograms_are_denoised():
    cleaned = mercer.denoise(X, KernelPCA(4, kernel="chi2"))
    assert cleaned.min() >= 0.0
    assert mean_error(cleaned) < 0.5


def test_hidden_cells_of_histograms_are_predicted():
    scores = cross_val_score(KernelPCA(2, kernel="chi2"), X, error_score="raise")
    assert (scores > 0).all()
