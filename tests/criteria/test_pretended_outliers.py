"""Pretended outliers are of the kinds that their text describes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer.criteria.pretended_outliers import KINDS, pretended_outliers

X = np.random.default_rng(0).normal(size=(80, 30))


def made(X, seed=0, count=4):
    return pretended_outliers(X, count, np.random.RandomState(seed))


@pytest.mark.parametrize("count", [1, 4, 25])
def test_each_kind_has_the_number_of_rows_that_is_asked_for(count):
    assert made(X[:20, :3], count=count).shape == (KINDS, count, 3)


def test_exchanged_cells_are_those_of_the_same_column_in_other_rows():
    changed = []
    for seed in range(20):
        for row in made(X, seed)[0]:
            own = np.argmax((row == X).sum(axis=1))
            others = np.flatnonzero(X[own] != row)
            assert all(row[j] in X[:, j] for j in others)
            changed.append(len(others))
    assert 0.08 < np.mean(changed) / 30 < 0.16  # a tenth, and one more


def test_single_rows_move_by_half_a_difference_of_two_rows():
    tiny = X[:20, :2]
    pairs = (tiny[:, None] - tiny).reshape(-1, 2)
    for row in made(tiny)[1]:
        away = tiny[:, None] + 0.5 * pairs  # all rows by all differences
        assert np.abs(away - row).max(axis=2).min() < 1e-12


@pytest.mark.parametrize(("kind", "share"), [(2, 1.0), (3, 0.7)])
def test_groups_move_as_a_whole_by_one_difference(kind, share):
    tiny = X[:20, :2]
    differences = (tiny[:, None] - tiny).reshape(-1, 2)
    group = made(tiny)[kind]
    fits = [all(np.abs(tiny + share * way - row).max(axis=1).min() < 1e-12 for row in group) for way in differences]
    assert any(fits)


def test_they_follow_the_seed_the_shift_and_the_scale_of_the_rows():
    assert_array_equal(made(X, 3), made(X, 3))
    assert not np.array_equal(made(X, 3), made(X, 4))
    assert_allclose(made(8 * X + 5, 3), 8 * made(X, 3) + 5, atol=1e-12)


def test_the_rows_stay_as_they_are():
    before = X.copy()
    made(X)
    assert_array_equal(X, before)
