"""Models of appearance as the tracker sees them: residuals, scores and slopes, and the Gauss-Newton step."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from sklearn.base import BaseEstimator

from mercer import IncrementalKernelPCA, KernelPCA
from mercer.images.kernel_view import KernelView, view_of
from mercer.images.linear_view import LinearView, linear_view
from mercer.images.refine import Valley
from mercer.images.search import Found
from textbook.tracking import explicit_quadratic


def test_a_gauss_newton_step_ends_at_the_least_of_a_quadratic(rng):
    """Where patches change linearly with the state, the step is the exact one: that of least squares."""
    axes = np.linalg.qr(rng.standard_normal((12, 3)))[0].T
    view, share, slopes = (
        LinearView(rng.standard_normal(12), axes, np.ones(3)),
        np.array([0.1, 0.5, 2.0]),
        np.eye(4, 12),
    )
    slopes = np.eye(4, 12) + 0.3 * rng.standard_normal((4, 12))
    found = Found(np.zeros(4), 0.1 * rng.standard_normal(12) + view.mean, 0.0, 0.8, 0.0)
    off = 0.1 * rng.standard_normal(4)
    nearby = view.nearby(found.patch, found.patch + 0.1 * slopes, found.patch - 0.1 * slopes, 0.1)
    step = Valley(view, share, 0.05, np.ones(4)).step(nearby, found.cost, off)

    def cost(z):
        away = found.patch + z @ slopes - view.mean
        scores = axes @ away
        return away @ away - scores @ scores + share @ scores**2 + 0.05 * 0.8 * (off + z) @ (off + z)

    expected = optimize.minimize(cost, np.zeros(4), tol=1e-12).x
    assert np.linalg.norm(step) < 1.5
    assert_allclose(step, expected, atol=1e-5)


def test_a_view_in_pixels_has_the_residuals_and_scores_of_the_model(rng):
    X, Y = rng.standard_normal((40, 6)), rng.standard_normal((5, 6))
    model = IncrementalKernelPCA(3, kernel="linear", forgetting=0.95).partial_fit(X)
    residuals, scores = linear_view(model).residuals_and_scores(Y)
    assert_allclose(residuals, model.reconstruction_error(Y), atol=1e-9)
    assert_allclose(scores, model.transform(Y), atol=1e-9)
    assert_allclose(linear_view(model).variances, model.explained_variance_)
    assert linear_view(IncrementalKernelPCA(3, gamma=1.0).partial_fit(X)) is None
    skewed = replace(model.expansion_, gram=2 * model.expansion_.gram)
    assert linear_view(SimpleNamespace(expansion_=skewed, explained_variance_=np.ones(3))) is None
    assert linear_view(BaseEstimator()) is None


def quadratic(row):
    """The map of (x . y)^2, for rows."""
    return np.array([explicit_quadratic(one) for one in np.atleast_2d(row)])


@pytest.mark.parametrize("center", [True, False])
def test_a_view_in_feature_space_has_the_slopes_of_the_mapped_patches(rng, center):
    """Inner products of slopes, components and the patch, computed with explicit maps of the kernel (x . y)^2."""
    X = rng.standard_normal((30, 4))
    kernel = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 0.0}
    model = KernelPCA(3, center=center, **kernel).fit(X)
    patch, ahead, behind = rng.standard_normal(4), rng.standard_normal((4, 4)), rng.standard_normal((4, 4))
    found = view_of(model).nearby(patch, ahead, behind, 0.1)
    mapped = quadratic(X)
    mean = mapped.mean(axis=0) if center else np.zeros(16)
    axes = np.linalg.svd(mapped - mean, full_matrices=False)[2][:3]
    slopes, away = (quadratic(ahead) - quadratic(behind)) / 0.2, quadratic(patch)[0] - mean
    signs = np.sign(axes @ away * found.scores)
    assert_allclose(found.products, slopes @ slopes.T, atol=1e-7)
    assert_allclose(found.inside, slopes @ axes.T * signs, atol=1e-7)
    assert_allclose(found.along, slopes @ away, atol=1e-7)
    assert_allclose(found.scores, axes @ away * signs, atol=1e-7)
    residuals, scores = view_of(model).residuals_and_scores(ahead)
    assert_allclose(residuals, model.reconstruction_error(ahead), atol=1e-7)
    assert_allclose(scores, model.transform(ahead), atol=1e-7)


def test_models_without_orthonormal_components_have_no_view(rng):
    X = rng.standard_normal((30, 4))
    assert isinstance(view_of(KernelPCA(3, kernel="linear").fit(X)), LinearView)
    whole = KernelPCA(3, kernel="rbf", gamma=1.0).fit(X)
    assert isinstance(view_of(whole), KernelView)
    skewed = replace(whole.expansion_, gram=2 * whole.expansion_.gram)
    assert view_of(SimpleNamespace(expansion_=skewed, explained_variance_=np.ones(3))) is None
    empirical = replace(whole.expansion_, empirical=True)
    assert view_of(SimpleNamespace(expansion_=empirical, explained_variance_=np.ones(3))) is None
    assert view_of(BaseEstimator()) is None
