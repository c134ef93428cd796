"""What `Selection.why` says: it compares what is returned, and each sentence is true of this choice."""

import re

import numpy as np
import pytest

import mercer
from mercer.criteria.candidates import Candidate, Family
from mercer.criteria.judged import Judged
from mercer.selection.reasons import reason
from selection_data import low_rank


def bent() -> np.ndarray:
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(200, 3))
    return np.sin(plane @ rng.normal(size=(3, 8))) + 0.1 * rng.normal(size=(200, 8))


B = bent()
LINEAR, GAUSSIAN = Candidate(Family("linear"), None, 2), Candidate(Family("rbf", 1.0), 0.5, 4)


def outliers(contaminated=None, **candidates):
    return mercer.select(B, "outliers", contaminated=contaminated, candidates=candidates or None, random_state=0)


def best(found, **values):
    table = found.table
    for name, value in values.items():
        table = table[table[name] == value]
    return table.iloc[0]


def made(scores, chosen, **more) -> Judged:
    """A comparison of a linear and a Gaussian candidate."""
    return Judged([LINEAR, GAUSSIAN], np.array(scores), np.array([0.01, 0.01]), chosen, 0, 50, **more)


@pytest.mark.parametrize("contaminated", [None, True, False])
def test_for_outliers_the_returned_setting_is_compared(contaminated):
    found = outliers(contaminated)
    own, linear = best(found, chosen=True)["score"], best(found, kernel="linear")["score"]
    assert f": it has a mean rank of {own:.2f} (1: always the best)" in found.why
    higher = "a higher score, " if linear > own else "the score "
    assert f"The best linear PCA, with 4 components, has {higher}{linear:.2f} instead of {own:.2f}." in found.why
    assert "so a higher score did not decide." in found.why


def test_where_linear_pca_is_clearly_better_it_is_not_about_as_well():
    found = mercer.select(low_rank(), "outliers", random_state=0)
    assert "about as well" not in found.why
    assert "has a higher score" in found.why


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((0.371, 0.374), "Linear PCA finds them about as well (score 0.37)."),
        ((0.380, 0.374), "The best linear PCA, with 2 components, has a higher score, 0.38 instead of 0.37."),
        ((0.300, 0.374), "The best linear PCA, with 2 components, has the score 0.30 instead of 0.37."),
    ],
)
def test_only_a_linear_score_that_is_a_little_lower_is_about_as_well(scores, told):
    assert told in reason(made(scores, 1), "outliers", 50)


def test_one_score_is_printed_in_one_way():
    text = reason(made((0.3, 0.857), 1), "outliers", 50)
    assert re.findall(r"0\.8\d", text) == ["0.86", "0.86"]


def test_linear_pca_finds_them_as_well_as_any_only_where_no_kernel_has_a_higher_score():
    assert "linear PCA finds them as well as any" in reason(made((0.8, 0.7), 0), "outliers", 50)
    text = reason(made((0.8, 0.9), 0), "outliers", 50)
    assert "as well as any" not in text
    assert "No kernel among which the choice is made finds them better than linear PCA." in text


@pytest.mark.parametrize("contaminated", [None, True, False])
@pytest.mark.parametrize("scaling", ["variance", False])
def test_where_only_a_scaling_is_given_the_width_is_a_trusted_one(contaminated, scaling):
    found = outliers(contaminated, standardize=[scaling])
    row = best(found, chosen=True)
    assert row["width"] in ((0.25, 1.0) if contaminated is False else (1.0,))
    assert found.estimator.standardize == row["standardize"] == scaling


@pytest.mark.parametrize("contaminated", [None, True])
@pytest.mark.parametrize(
    "given",
    [{"n_components": [20]}, {"kernel": ["poly"]}, {"gamma": [0.5, 5.0]}, {"standardize": [False]}, {"width": [4.0]}],
)
def test_other_settings_are_not_called_the_default(contaminated, given):
    why = outliers(contaminated, **given).why
    assert "these settings" not in why
    assert "good on many other tables" not in why
    assert ("pass contaminated=True or False" in why) == (contaminated is None)


def test_candidates_with_the_default_among_them_lead_to_it():
    found = outliers(True, width=[1.0, 4.0], standardize=["variance", "soft"])
    assert "no rule was better than these settings, the detector's default" in found.why
    assert found.estimator.get_params(deep=False).keys() == mercer.KernelOutlierDetector().get_params().keys()
    assert found.estimator.standardize == mercer.KernelOutlierDetector().standardize


@pytest.mark.parametrize("given", [{"gamma": [0.5, 5.0]}, {"n_components": [2, 4]}])
def test_settings_are_called_good_on_other_tables_only_where_they_are(given):
    for purpose, more in (("features", {}), ("outliers", {"contaminated": False})):
        usual = mercer.select(B, purpose, random_state=0, **more).why
        other = mercer.select(B, purpose, candidates=given, random_state=0, **more).why
        assert "The choice is made among few settings that were good on many other tables" in usual
        assert "among few settings" not in other


@pytest.mark.parametrize("purpose", ["reconstruction", "denoising"])
def test_a_kernel_that_is_better_by_less_than_the_standard_error_is_told(purpose):
    found = mercer.select(B[:20], purpose, random_state=0)
    lead = found.table["score"].max() - best(found, chosen=True)["score"]
    told = re.search(
        r"The best kernel is better by (\S+), which is not more than the standard error, (\S+)\.", found.why
    )
    assert told is not None
    assert told[1] == f"{lead:.3f}"
    assert lead <= float(told[2]) + 5e-4
    assert "as well as any" not in found.why


def test_linear_pca_explains_as_well_as_any_where_it_is_the_best_or_equal():
    for scores in ((0.5, 0.4), (0.5, 0.5), (0.5, 0.5004)):
        text = reason(made(scores, 0), "reconstruction", 50)
        assert "A kernel does not help here: linear PCA explains the held-out rows as well as any." in text


def test_what_predicts_nothing_is_told_of_the_choice():
    none = reason(made((0.001, 0.003), 0), "reconstruction", 50)
    assert "No candidate predicts them better than the means of the columns do." in none
    text = reason(made((0.001, 0.08), 0, lead_error=0.1), "reconstruction", 50)
    assert "It predicts them no better than the means of the columns do. The best kernel is better by 0.079" in text
    assert "No candidate" not in text
