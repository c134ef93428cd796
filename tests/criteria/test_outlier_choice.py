"""Areas, ranks and the combined index of candidates equal their textbook twins; the choice is a trusted one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.outlier_choice import _decided, area, combined, judge_by_outliers, mean_ranks
from mercer.criteria.pretended_outliers import pretended_outliers
from mercer.criteria.shared_distances import SharedDistances
from mercer.criteria.trust import Trust
from textbook import criteria as naive

X = np.random.default_rng(0).normal(size=(60, 4))
VALUES = st.lists(st.integers(-3, 3), min_size=1, max_size=9)
TRUST = Trust((4.0,), (False,))


@given(VALUES, VALUES)
def test_the_area_is_the_probability_of_the_right_order(normal, pretended):
    got = area(np.array(normal, float)[:, None], np.array(pretended, float)[:, None])
    assert_allclose(got[0], naive.area(normal, pretended), atol=1e-12)


@given(st.integers(2, 8), st.integers(0, 99))
def test_mean_ranks_go_from_0_to_1_and_ties_share_them(n, seed):
    areas = np.random.default_rng(seed).integers(0, 4, (n, 4)) / 4
    assert_allclose(mean_ranks(areas), naive.mean_ranks(areas.tolist()), atol=1e-12)


def test_units_come_from_the_held_rows_alone():
    t2, spe = np.random.default_rng(1).exponential(size=(2, 50, 3))
    got = combined(t2, spe, 20)
    for column in range(3):
        expected = naive.combined_of(t2[:, column], spe[:, column], 20)
        assert_allclose(got[:, column], expected, atol=1e-12)


def test_scores_are_mean_ranks_of_areas_that_are_averaged_over_two_draws():
    grid = Grid(("rbf",), (1.0, 4.0), (2, 5))
    judged = judge_by_outliers(X, grid, np.random.RandomState(7), trust=TRUST)
    rng = np.random.RandomState(7)
    rows = X[rng.permutation(60)]
    areas = np.zeros((4, 4))
    settings = [(width, count) for width in (4.0, 1.0) for count in (2, 5)]  # the trusted width is tried first
    for _ in range(2):
        order = rng.permutation(60)
        held, learned = rows[order[:20]], rows[order[20:]]
        others = np.concatenate([held, *pretended_outliers(rows, 20, rng)])
        median = SharedDistances(learned).median_gamma
        for place, (width, count) in enumerate(settings):
            t2, spe = naive.statistics(learned, others, width * median, count)
            index = naive.combined_of(t2, spe, 20)
            for kind in range(4):
                start = 20 + 20 * kind
                areas[place, kind] += naive.area(index[:20], index[start : start + 20]) / 2
    assert [(c.family.width, c.n_components) for c in judged.candidates] == settings
    assert_allclose(judged.scores, naive.mean_ranks(areas.round(12).tolist()), atol=1e-12)
    assert (judged.candidate.family.width, judged.candidate.n_components) == (4.0, 5)


LINEAR = Candidate(Family("linear"), None, 2)
TRUSTED, OTHER = (Candidate(Family("rbf", width), 0.5, 8) for width in (4.0, 16.0))


@pytest.mark.parametrize(
    ("lead", "chosen"),
    [((0.1, 0.1, 0.1, 0.1), LINEAR), ((0.2, 0.2, 0.2, -0.01), TRUSTED), ((0.05, 0.05, 0.05, 0.08), TRUSTED)],
)
def test_linear_pca_needs_a_lead_for_every_kind(lead, chosen):
    # the best of all, which is not trusted, is never taken
    areas = {LINEAR: 0.7 + np.tile(lead, (2, 1)), TRUSTED: np.full((2, 4), 0.7), OTHER: np.full((2, 4), 0.99)}
    judged = _decided(areas, TRUST, 60, 0)
    assert judged.candidate == chosen
    assert int(np.argmax(judged.scores)) == 2


def test_rows_far_from_the_origin_for_which_a_polynomial_has_no_digits_left_raise_no_warning(recwarn):
    grid = Grid(("poly", "rbf"), counts=(2, 4))
    judged = judge_by_outliers(X + 1e9, grid, np.random.RandomState(0), trust=TRUST)
    assert np.isfinite(judged.scores).all()
    assert judged.candidate.family.kernel == "rbf"
    assert not recwarn.list
