"""Quantiles of few values, computed without the time that numpy's checks take."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer.engine.upper_units import UpperUnits, quantiles


@given(st.integers(1, 40), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4), st.integers(0, 10**6))
def test_quantiles_equal_those_of_numpy(n, shares, seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.standard_normal((n, 3)) * 10.0 ** rng.integers(-3, 4, 3), 2)  # some are equal
    before = values.copy()
    assert_allclose(quantiles(values, *shares), np.quantile(values, shares, axis=0), rtol=1e-13, atol=1e-13)
    assert_allclose(quantiles(values[:, 0], *shares), np.quantile(values[:, 0], shares), rtol=1e-13, atol=1e-13)
    assert_array_equal(values, before)


def test_units_are_the_median_and_the_distance_to_the_largest_tenth():
    units = UpperUnits.of(np.column_stack([np.arange(101.0), np.full(101, 7.0)]))
    assert_array_equal(units.middle, [50.0, 7.0])
    assert_allclose(units.spread, [40.0, 7e-12])  # equal values: a spread at which nothing else is equal
