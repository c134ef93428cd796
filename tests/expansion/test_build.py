"""The builders give the model that its coefficients, or its vectors in some coordinates, stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.expansion.build import in_coordinates, in_input_space, of_components, on_rows
from mercer.kernels import RBF, Linear
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.operator import CentredOperator
from mercer.kernels.tiles import SymmetricTiles


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
def test_on_rows_projects_on_combinations_of_centred_rows(center, order, rng):
    X, new, w = rng.standard_normal((9, 3)), rng.standard_normal((4, 3)), rng.uniform(0.5, 1.0, 9)
    w /= w.sum()
    A = np.asarray(rng.standard_normal((2, 9)), order=order)
    before, kernel, zero = A.copy(), RBF(0.4), np.zeros(9)
    operator = CentredOperator(SymmetricTiles(kernel, X, np.float64, 0), np.ones(9), weights=w, center=center)
    model = on_rows(kernel, X, operator, A, np.array([2.0, 1.0]), np.eye(2))
    m = w if center else zero
    centre = np.eye(9) - np.outer(np.ones(9), m)
    against = (kernel(new, X) - kernel(X) @ m) @ centre.T  # <phi(x) - mean, phi(x_i) - mean>
    assert_allclose(model.project(new), against @ A.T, atol=1e-12)
    assert_array_equal(A, before)
    assert (model.nu is None) != center
    assert model.n_seen == 9
    assert on_rows(kernel, X, operator, A, np.ones(2), np.eye(2), 30).n_seen == 30


@pytest.mark.parametrize("center", [True, False])
def test_vectors_in_coordinates_of_landmarks(center, rng):
    X, new = rng.standard_normal((6, 3)), rng.standard_normal((5, 3))
    space = LandmarkMap.of(RBF(0.4), X)
    W, mean = rng.standard_normal((2, space.rank)), rng.standard_normal(space.rank) * center
    model = in_coordinates(space, W, mean, np.ones(2), n_seen=7, trace=3.0, center=center)
    F = space.features(new) - mean
    assert_allclose(model.project(new), F @ W.T, atol=1e-10)
    norms = model.project_with_norm(new)[1]
    assert_allclose(norms, (F**2).sum(axis=1) + space.missing(new, F + mean), atol=1e-10)
    assert_allclose(model.gram, model.inner(model), atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
def test_vectors_of_input_space(center, rng):
    W, mean, X = rng.standard_normal((2, 4)), rng.standard_normal(4) * center, rng.standard_normal((5, 4))
    model = in_input_space(W, mean, np.ones(2), n_seen=7, trace=3.0, center=center)
    scores, norms = model.project_with_norm(X)
    assert_allclose(scores, (X - mean) @ W.T, atol=1e-12)
    assert_allclose(norms, ((X - mean) ** 2).sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("size", [1e9, 1e20])
def test_vectors_of_input_space_keep_their_digits_beside_a_long_mean(size, rng):
    W, mean = np.linalg.qr(rng.standard_normal((4, 2)))[0].T, size * rng.standard_normal(4)
    X = mean + size * rng.standard_normal((5, 4))
    model = in_input_space(W, mean, np.ones(2), n_seen=7, trace=3.0, center=True)
    assert_allclose(model.project(X), (X - mean) @ W.T, rtol=1e-12, atol=1e-12 * size)


def test_components_without_variance_have_no_length(rng):
    coef = np.vstack([np.eye(1, 3), np.zeros((1, 3))])
    model = of_components(
        Linear(), np.eye(3), coef, np.zeros(2), np.array([2.0, 0.0]), n_seen=3, nu=None, mean_norm=0.0, trace=2.0
    )
    assert_array_equal(model.gram, np.diag([1.0, 0.0]))
    assert_allclose(model.inner(model), model.gram)
