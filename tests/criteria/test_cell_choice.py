"""Scores of hidden cells equal the textbook's, and the linear kernel wins where others are not clearly better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.cell_choice import _decided, judge_by_cells
from mercer.criteria.hidden_cells import hide
from mercer.criteria.trust import Trust
from textbook import criteria as naive

X = np.random.default_rng(0).normal(size=(24, 2)) @ np.random.default_rng(1).normal(size=(2, 5)) + 3


def test_scores_are_shares_of_the_hidden_cells_of_a_quarter_of_the_rows_in_four_patterns():
    rows = X + 0.2 * np.random.default_rng(2).normal(size=X.shape)
    judged = judge_by_cells(rows, Grid(("linear",), counts=(1, 2, 3)), np.random.RandomState(5))
    rng = np.random.RandomState(5)
    rows = rows[rng.permutation(24)]
    order = rng.permutation(24)
    held, learned = np.tile(rows[order[:6]], (4, 1)), rows[order[6:]]
    hidden = hide(held.shape, rng)
    assert [candidate.n_components for candidate in judged.candidates] == [1, 2, 3]
    for r, score in zip((1, 2, 3), judged.scores, strict=True):
        pairs = zip(held, hidden, strict=True)
        predicted = np.array([naive.predicted_by_least_squares(learned, row, h, r) for row, h in pairs])
        assert_allclose(score, naive.share_predicted(predicted, held, hidden, learned.mean(axis=0)), atol=1e-6)


LINEAR, GAUSSIAN = Candidate(Family("linear"), None, 2), Candidate(Family("rbf", 1.0), 0.5, 4)
MORE = Candidate(Family("rbf", 1.0), 0.5, 8)
VARIATION = np.full(25, 4.0)
NOISE = np.tile([1.0, -1.0, 0.0, 0.5, -0.5], 5)  # its standard deviation is the root of a half


@pytest.mark.parametrize(("gain", "chosen"), [(0.10, LINEAR), (0.139, LINEAR), (0.145, GAUSSIAN), (0.5, GAUSSIAN)])
def test_a_kernel_must_be_better_by_one_standard_error_of_the_difference(gain, chosen):
    # the difference has the mean gain and the standard error sqrt(1 / 2) / 5 = 0.141
    errors = np.array([2.0 + NOISE, np.full(25, 2.0 - gain)])
    judged = _decided([LINEAR, GAUSSIAN], errors, VARIATION, 100, 0, None)
    assert judged.candidate == chosen
    assert_allclose(judged.scores, [0.5, 0.5 + gain / 4])
    assert_allclose(judged.errors[0], np.sqrt(0.5) * 5 / 100)  # of a ratio: sd of errors - share * variation
    assert judged.best_linear == 0


@pytest.mark.parametrize(
    ("trust", "chosen"),
    [(None, GAUSSIAN), (Trust((1.0,), (False,)), MORE), (Trust((1.0,), (False,), 5), GAUSSIAN)],
)
def test_trusted_settings_have_their_own_number_of_components(trust, chosen):
    errors = np.array([np.full(25, 3.0), np.full(25, 1.0), np.full(25, 2.0)])
    assert _decided([LINEAR, GAUSSIAN, MORE], errors, VARIATION, 100, 0, trust).candidate == chosen


def test_a_trusted_kernel_is_chosen_by_its_best_number_of_components():
    other = Candidate(Family("rbf", 4.0), 2.0, 8)
    errors = np.array([np.full(25, value) for value in (0.5, 1.0, 3.0, 2.0)])  # 8 components are worse than 4 and than
    candidates = [LINEAR, GAUSSIAN, MORE, other]  # 8 of the other kernel
    assert _decided(candidates, errors, VARIATION, 100, 0, Trust((1.0, 4.0), (False,))).candidate == MORE


def test_without_a_linear_candidate_the_best_is_taken():
    judged = _decided([GAUSSIAN, MORE], np.array([VARIATION, 0.9 * VARIATION]), VARIATION, 100, 3, None)
    assert (judged.candidate, judged.best_linear, judged.skipped) == (MORE, None, 3)
