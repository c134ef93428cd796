"""Areas, ranks and the combined index of candidates equal their textbook twins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.criteria.candidates import Grid
from mercer.criteria.outlier_choice import _area, _combined, _mean_ranks, judge_by_outliers
from mercer.criteria.pretended_outliers import pretended_outliers
from mercer.criteria.shared_distances import SharedDistances
from mercer.kernels.distance import RBF
from textbook import criteria as naive

X = np.random.default_rng(0).normal(size=(60, 4))
VALUES = st.lists(st.integers(-3, 3), min_size=1, max_size=9)


@given(VALUES, VALUES)
def test_the_area_is_the_probability_of_the_right_order(normal, pretended):
    got = _area(np.array(normal, float)[:, None], np.array(pretended, float)[:, None])
    assert_allclose(got[0], naive.area(normal, pretended), atol=1e-12)


@given(st.integers(2, 8), st.integers(0, 99))
def test_mean_ranks_go_from_0_to_1_and_ties_share_them(n, seed):
    areas = np.random.default_rng(seed).integers(0, 4, (n, 4)) / 4
    assert_allclose(_mean_ranks(areas), naive.mean_ranks(areas.tolist()), atol=1e-12)


def test_the_index_combines_t2_and_spe_as_the_detector_does():
    model = SharedDistances(X).model(RBF(gamma=0.2), 8)
    got = _combined(model, X, [3, 8])
    assert_allclose(got[:, 0], naive.combined(X, 0.2, 3), atol=1e-8)
    assert_allclose(got[:, 1], naive.combined(X, 0.2, 8), atol=1e-8)


def test_scores_are_mean_ranks_of_areas_that_are_averaged_over_three_draws():
    grid = Grid(("rbf",), (1.0, 4.0), (2, 5))
    judged = judge_by_outliers(X, grid, np.random.RandomState(7))
    rng = np.random.RandomState(7)
    rows = X[rng.permutation(60)]
    draws = [np.concatenate([rows, *pretended_outliers(rows, rng)]) for _ in range(3)]
    areas = np.zeros((4, 4))
    for mixed in draws:
        median = SharedDistances(mixed).median_gamma
        settings = [(width, count) for width in (1.0, 4.0) for count in (2, 5)]
        for place, (width, count) in enumerate(settings):
            index = naive.combined(mixed, width * median, count)
            for kind in range(4):
                areas[place, kind] += naive.area(index[:60], index[60 + 4 * kind : 64 + 4 * kind]) / 3
    assert [(c.family.width, c.n_components) for c in judged.candidates] == settings
    assert_allclose(judged.scores, naive.mean_ranks(areas.round(12).tolist()), atol=1e-12)
    assert judged.chosen == int(np.argmax(judged.scores))


def test_rows_far_from_the_origin_for_which_a_polynomial_has_no_digits_left_raise_no_warning(recwarn):
    judged = judge_by_outliers(X + 1e9, Grid(("poly", "rbf"), counts=(2, 4)), np.random.RandomState(0))
    assert np.isfinite(judged.scores).all()
    assert judged.candidate.family.kernel == "rbf"
    assert not recwarn.list
