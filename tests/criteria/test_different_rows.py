"""Equal rows count once in comparisons, so that no row is both learned and held out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer.criteria.candidates import Grid
from mercer.criteria.cell_choice import judge_by_cells
from mercer.criteria.different_rows import different_rows
from mercer.criteria.outlier_choice import judge_by_outliers
from mercer.criteria.trust import Trust

NOISE = np.random.default_rng(0).normal(size=(150, 8))
GRID = Grid(widths=(1.0, 0.25), counts=(2, 16, 64))
TRUST = Trust((0.25, 1.0), (False,))


def test_of_different_rows_the_first_ones_of_the_order_are_taken():
    order = np.random.RandomState(0).permutation(150)
    for most in (1, 20, 150, 500):
        assert_array_equal(different_rows(NOISE, order, most), order[:most])


@pytest.mark.parametrize("most", [1, 3, 5, 50])
def test_of_equal_rows_the_first_in_the_order_is_taken(most):
    kinds = np.array([0, 1, 0, 0, 2, 0, 1, 3, 0, 0, 4, -0.0])
    order = np.array([11, 0, 2, 6, 1, 3, 5, 8, 9, 4, 10, 7])
    assert_array_equal(different_rows(kinds[:, None], order, most), [11, 6, 4, 10, 7][:most])


def test_noise_that_comes_twice_is_not_predicted():
    judged = judge_by_cells(np.vstack([NOISE, NOISE]), GRID, np.random.RandomState(0))
    assert judged.scores.max() < 0.05
    assert judged.n_rows == 150


def test_normal_rows_that_come_twice_are_not_told_from_outliers_by_their_copies():
    # a model of as many components as possible knows copies of its rows by heart; of new noise it knows nothing
    judged = judge_by_outliers(np.vstack([NOISE, NOISE]), GRID, np.random.RandomState(0), trust=TRUST)
    assert judged.n_rows == 150
    most = max(candidate.n_components for candidate in judged.candidates)
    pairs = zip(judged.candidates, judged.scores, strict=True)
    assert max(score for candidate, score in pairs if candidate.n_components == most) < 0.5


@pytest.mark.parametrize("count", [2, 19])
def test_hidden_cells_need_twenty_different_rows(count):
    rows = np.vstack([NOISE[:count]] * 15)
    with pytest.raises(ValueError, match=f"at least 20 different rows.* got {count} among {15 * count} rows"):
        judge_by_cells(rows, GRID, np.random.RandomState(0))
    assert judge_by_cells(np.vstack([NOISE[:20]] * 2), GRID, np.random.RandomState(0)).n_rows == 20


def test_for_outliers_fewer_different_rows_are_taken_with_their_copies():
    rows = np.vstack([NOISE[:19]] * 3)
    judged = judge_by_outliers(rows, GRID, np.random.RandomState(0), trust=TRUST)
    assert judged.n_rows == 57
    assert np.isfinite(judged.scores).all()
