"""`select(..., contaminated=...)`: choices for rows with outliers among them, without, and where nobody knows."""

import numpy as np
import pytest

import mercer
from selection_data import curve

X = curve(120)
GROUP = np.vstack(
    [np.random.default_rng(0).normal(size=(190, 4)), np.random.default_rng(1).normal(size=(10, 4)) / 5 + 4]
)


@pytest.mark.parametrize(("contaminated", "trim", "count"), [(None, 0.05, 40), (False, 0.0, 40), (True, 0.1, 2)])
def test_many_components_for_clean_rows_and_two_for_others(contaminated, trim, count):
    found = mercer.select(X, "outliers", contaminated=contaminated, random_state=0)
    assert (found.estimator.trim, found.estimator.estimator.n_components) == (trim, count)
    row = found.table[found.table["chosen"]].iloc[0]
    assert (row["width"] == 1 / 16) if contaminated else (row["width"] in (0.25, 1.0))
    assert row["standardize"] in ("soft", "variance")
    assert ("a twentieth of its rows" in found.why) == (contaminated is None)
    assert ("a tenth of its rows" in found.why) == (contaminated is True)
    assert len(found.table) > 150  # all candidates are told


def test_a_group_among_the_rows_is_found_by_the_settings_for_such_rows():
    areas = {}
    for contaminated in (False, True):
        found = mercer.select(GROUP, "outliers", contaminated=contaminated, random_state=0)
        scores = found.estimator.set_params(random_state=0).fit(GROUP).score_samples(GROUP)
        areas[contaminated] = (scores[190:, None] < scores[:190]).mean()
    assert areas[True] > 0.99
    assert areas[True] > areas[False]


@pytest.mark.parametrize("wrong", ["yes", 0.05, 2])
def test_other_values_are_refused(wrong):
    with pytest.raises(ValueError, match="contaminated must be True, False or None; got"):
        mercer.select(X, "outliers", contaminated=wrong)


def test_it_is_only_for_outliers():
    with pytest.raises(ValueError, match="contaminated is only for purpose='outliers'; got purpose='features'"):
        mercer.select(X, "features", contaminated=True)
