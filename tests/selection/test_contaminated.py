"""`select(..., contaminated=...)`: choices for rows with outliers among them, without, and where nobody knows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mercer
from selection_data import curve

X = curve(120)
WIDE = np.hstack([X, curve(120, seed=5)])


@pytest.mark.parametrize(
    ("rows", "contaminated", "trim", "count"),
    [
        (X, False, 0.0, 40),
        (X, None, 0.0, 4),
        (X, True, 0.0, 4),
        (WIDE, False, 0.0, 40),
        (WIDE, None, 0.05, 40),
        (WIDE, True, 0.0, 4),
    ],
)
def test_many_components_for_clean_rows_and_for_many_columns_the_default_for_others(rows, contaminated, trim, count):
    found = mercer.select(rows, "outliers", contaminated=contaminated, random_state=0)
    assert (found.estimator.trim, found.estimator.estimator.n_components) == (trim, count)
    row = found.table[found.table["chosen"]].iloc[0]
    assert (row["width"] == 1.0) if count == 4 else (row["width"] in (0.25, 1.0))
    assert row["standardize"] in ("soft", "variance")
    assert ("a twentieth of its rows" in found.why) == (trim > 0)
    assert ("no rule was better than these settings" in found.why) == (contaminated is True)
    assert ("With fewer than 16 columns" in found.why) == (contaminated is None and rows is X)
    assert ("pass contaminated=True or False where that is known" in found.why) == (contaminated is None)
    assert len(found.table) > 150  # all candidates are told


@pytest.mark.parametrize("contaminated", [True, None])
def test_for_rows_with_outliers_it_is_the_detector_without_any_settings(contaminated):
    found = mercer.select(X, "outliers", contaminated=contaminated, random_state=0).estimator.set_params(random_state=0)
    default = mercer.KernelOutlierDetector(random_state=0)
    scores, expected = found.fit(X).score_samples(X), default.fit(X).score_samples(X)
    assert_array_equal(scores, expected)


def test_constant_columns_are_not_counted():
    rng = np.random.default_rng(1)
    rows = np.sin(rng.normal(size=(200, 3)) @ rng.normal(size=(3, 8))) + 0.1 * rng.normal(size=(200, 8))
    more = np.column_stack([rows, np.tile([1.0, 0.1, 0.0, -7.0], (200, 2))])
    few, many = (mercer.select(one, "outliers", random_state=0) for one in (rows, more))
    assert repr(few.estimator) == repr(many.estimator)
    assert "With fewer than 16 columns" in many.why
    for found in (few, many):  # with as many linear components as varying columns nothing is left for SPE
        assert found.table["n_components"][found.table["kernel"] == "linear"].max() == 7


@pytest.mark.parametrize("wrong", ["yes", 0.05, 2])
def test_other_values_are_refused(wrong):
    with pytest.raises(ValueError, match="contaminated must be True, False or None; got"):
        mercer.select(X, "outliers", contaminated=wrong)


def test_it_is_only_for_outliers():
    with pytest.raises(ValueError, match="contaminated is only for purpose='outliers'; got purpose='features'"):
        mercer.select(X, "features", contaminated=True)


def test_linear_pca_leads_for_clean_rows_only():
    rng = np.random.default_rng(0)
    sensors = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 10)) + 0.02 * rng.standard_normal((120, 10))
    kernels = [
        mercer.select(sensors, "outliers", contaminated=known, random_state=0).estimator.estimator.kernel
        for known in (False, True)
    ]
    assert kernels == ["linear", "rbf"]
