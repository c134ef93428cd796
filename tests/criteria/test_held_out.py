"""T2 and SPE without objects of models equal those of `KernelPCA` and of the textbook."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer.criteria.held_out import HeldOut
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial
from mercer.outliers.scores import score_model
from textbook import criteria as naive
from textbook.kernel_pca import median_gamma

LEARNED, OTHERS = np.random.default_rng(0).normal(size=(2, 30, 5)) + 2


@pytest.mark.parametrize(
    ("kernel", "params"),
    [
        (Linear(), {"kernel": "linear"}),
        (RBF(gamma=0.3), {"kernel": "rbf", "gamma": 0.3}),
        (Polynomial(gamma=0.3, degree=2), {"kernel": "poly", "gamma": 0.3, "degree": 2}),
    ],
)
def test_each_number_of_components_is_a_model_of_its_own(kernel, params):
    t2, spe = HeldOut(LEARNED, OTHERS).statistics(kernel, 4)
    assert t2.shape == spe.shape == (30, 4)
    for count in range(1, 5):
        peer = score_model(KernelPCA(count, **params).fit(LEARNED).expansion_, 1.0)(OTHERS)
        assert_allclose(29 * t2[:, count - 1], peer[:, 0], rtol=1e-6)  # variances are eigenvalues / (n - 1)
        assert_allclose(spe[:, count - 1], peer[:, 1], rtol=1e-6, atol=1e-9)


def test_they_are_those_of_the_textbook():
    t2, spe = HeldOut(LEARNED, OTHERS).statistics(RBF(gamma=0.2), 6)
    expected = naive.statistics(LEARNED, OTHERS, 0.2, 6)
    assert_allclose(t2[:, -1], expected[0], rtol=1e-6)
    assert_allclose(spe[:, -1], expected[1], rtol=1e-6)


def test_components_that_are_rounding_errors_are_left_out():
    low = LEARNED[:, :2] @ np.random.default_rng(1).normal(size=(2, 6))
    assert HeldOut(low, low).statistics(Linear(), 6)[0].shape == (30, 2)


def test_the_median_is_that_of_different_rows():
    twice = np.vstack([LEARNED, LEARNED[:5], LEARNED[:5]])
    assert_allclose(HeldOut(twice, OTHERS).median_gamma, median_gamma(twice), rtol=1e-9)
    assert HeldOut(np.ones((9, 4)), OTHERS[:, :4]).median_gamma == 0.25


@pytest.mark.parametrize("value", [1.0, 0.1, 1e-140, 1e60])
@pytest.mark.parametrize("kernel", [Linear(), RBF(gamma=0.3), Polynomial(gamma=0.3, degree=2)])
def test_models_of_equal_rows_have_no_variation_and_so_no_t2(kernel, value):
    others = np.vstack([np.full((9, 4), value), np.zeros((1, 4))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        t2, spe = HeldOut(np.full((30, 4), value), others).statistics(kernel, 3)
    assert t2.shape == spe.shape == (10, 1)
    assert_array_equal(t2, 0.0)
    assert_allclose(spe[:9], 0.0, atol=1e-12 * spe[9, 0])
    assert np.isfinite(spe).all()
