"""Loss functions: the formulas, their derivatives, and arguments that overflow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.engine.psi import PSI_NAMES, Psi, psi_value, psi_weight
from textbook import robust as naive

every_psi = pytest.mark.parametrize("name", PSI_NAMES)
Z = np.concatenate([[0.0, 1e-9], np.linspace(0.01, 6, 40)])
PARAMETERS = [(2.0, 0.7), (0.3, 3.0), (0.07, 0.01)]


@every_psi
@pytest.mark.parametrize(("beta", "xi"), PARAMETERS)
def test_values_and_weights_are_those_on_paper(name, beta, xi):
    psi = Psi(name, beta, xi)
    assert_allclose(psi.value(Z), [naive.psi(name, z, beta, xi) for z in Z], rtol=1e-9, atol=1e-14)
    assert_allclose(psi.weight(Z), [naive.psi_dot(name, z, beta, xi) for z in Z], rtol=1e-12, atol=1e-14)


@every_psi
@pytest.mark.parametrize(("beta", "xi"), PARAMETERS)
def test_the_weight_is_the_derivative_of_the_value(name, beta, xi):
    psi, h = Psi(name, beta, xi), 1e-6
    z = np.linspace(0.011, 5, 60)
    assert_allclose((psi.value(z + h) - psi.value(z - h)) / (2 * h), psi.weight(z), atol=2e-5 * max(1, 1e-2 / xi))


@every_psi
@given(z=st.floats(0, 1e300), more=st.floats(0, 1e300), beta=st.floats(1e-12, 1e12), xi=st.floats(1e-12, 1e12))
def test_weights_fall_from_at_most_one_and_nothing_overflows(name, z, more, beta, xi):
    with np.errstate(all="raise"):
        psi = Psi(name, beta, xi)
        weights, values = psi.weight([z, z + more]), psi.value([z, z + more])
    assert 0 <= weights[1] <= weights[0] <= 1
    assert np.isfinite(values).all()
    assert values[1] >= values[0] - 1e-12 * abs(values[0])
    assert values[0] <= z + 1e-12 * z + math.log(2) / beta  # Psi_2 lies log(2) / beta above 0 at most


@pytest.mark.parametrize("name", ["none", "exp", "logistic"])
def test_negative_residuals_give_what_the_formulas_say(name):
    for z in (-0.1, -1.0, -20.0):
        assert Psi(name, 0.8, 0.5).value(z) == pytest.approx(naive.psi(name, z, 0.8, 0.5), rel=1e-12)
        assert Psi(name, 0.8, 0.5).weight(z) == pytest.approx(naive.psi_dot(name, z, 0.8, 0.5), rel=1e-12)


@every_psi
def test_very_negative_residuals_stay_finite(name):
    assert np.isfinite(Psi(name, 3.0, 0.5).weight([-1e3, -1e300])).all()
    assert np.isfinite(Psi(name, 3.0, 0.5).value([-1e3, -1e300])).all()


def test_the_classes_and_the_compiled_functions_are_the_same():
    for kind, name in enumerate(PSI_NAMES):
        psi = Psi(name, 1.3, 0.9)
        assert psi.kind == kind
        for z in (0.0, 0.5, 2.0):
            assert psi.value(z) == psi_value(kind, z, 1.3, 0.9)
            assert psi.weight(z) == psi_weight(kind, z, 1.3, 0.9)


def test_shapes_are_kept():
    z = np.arange(6.0).reshape(2, 3)
    assert Psi("exp").weight(z).shape == Psi("exp").value(z.tolist()).shape == (2, 3)
    assert Psi("exp").weight(2.0).shape == ()
    assert Psi("tukey").weight(np.empty(0)).shape == (0,)
    assert_allclose(Psi("exp", 2.0).weight(z[:, ::2]), np.exp(-2.0 * z[:, ::2]))


def test_beta_zero_is_the_limit():
    assert Psi("exp", 0.0).value(3.0) == 3.0
    assert Psi("exp", 0.0).weight(3.0) == 1.0
    assert Psi("logistic", 0.0, 1.0).value(3.0) == pytest.approx(Psi("logistic", 1e-9, 1.0).value(3.0), rel=1e-6)
