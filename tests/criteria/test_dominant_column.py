"""A column that decides alone is told; columns of one size, and two columns, are not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.criteria.dominant_column import warn_of_one_column

WINE = load_wine().data  # proline has 100 % of the variance


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising"])
def test_select_tells_of_units_that_differ(purpose):
    with pytest.warns(UserWarning, match=r"Column 12 .* 100% of the variance"):
        mercer.select(WINE, purpose, random_state=0, candidates={"n_components": [2], "width": [1]})


def test_kernel_pca_that_selects_tells_it_too():
    with pytest.warns(UserWarning, match="Column 12 "):
        mercer.KernelPCA(2, kernel="rbf", gamma="select").fit(WINE)


def test_nothing_is_told_where_columns_are_scaled_by_themselves():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mercer.select(WINE, "features", random_state=0, candidates={"n_components": [2], "width": [1]})
        mercer.select(StandardScaler().fit_transform(WINE), random_state=0, candidates={"n_components": [2]})
    assert [str(warning.message) for warning in told] == []


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_the_unit_of_the_table_does_not_matter(unit):
    X = unit * np.random.default_rng(0).standard_normal((30, 3)) * [10.0, 1.0, 1.0]
    with pytest.warns(UserWarning, match="Column 0 "):
        warn_of_one_column(X)


@pytest.mark.parametrize("X", [WINE[:, -2:], np.ones((5, 4)), np.zeros((5, 4))], ids=["two", "ones", "zeros"])
def test_two_columns_or_equal_rows_are_not_told(X):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warn_of_one_column(X)
    assert told == []
