"""Trusted settings: which candidates they are, and what happens where none of them is there."""

import pytest

from mercer.criteria.candidates import Candidate, Family, Grid
from mercer.criteria.trust import Trust


def made(kernel="rbf", width=1.0, count=4, scaling="soft"):
    return Candidate(Family(kernel, width, standardize=scaling), 0.1, count)


def test_they_have_the_kernel_the_width_the_scaling_and_the_most_components():
    trust = Trust((0.25, 1.0), ("soft",))
    others = [made(width=4.0), made(kernel="poly"), made(kernel="linear", width=None), made(scaling=False)]
    assert trust.among([made(count=2), made(count=8), *others, made(width=0.25, count=8)]) == ([1, 6], True)


def test_the_number_of_components_is_the_nearest_to_the_trusted_one():
    candidates = [made(count=1), made(count=3), made(count=8)]
    assert Trust((1.0,), ("soft",), 2).among(candidates) == ([0], True)
    assert Trust((1.0,), ("soft",), 9).among(candidates) == ([2], True)


def test_where_none_is_trusted_every_kernel_is():
    candidates = [made(width=16.0, count=2), made(width=16.0, count=8), made(kernel="linear", width=None, count=8)]
    assert Trust((1.0,), ("soft",)).among(candidates) == ([1, 2], False)


def test_where_no_scaling_is_trusted_the_width_still_is():
    grid = Grid(widths=(1.0, 64.0), counts=(4,), scalings=("variance",))
    candidates = [Candidate(family, 0.1, 4) for family in grid.families()]
    places, trusted = Trust((1.0,), ("soft",), 4).for_grid(grid).among(candidates)
    assert [candidates[i].family.width for i in places] == [1.0]
    assert not trusted


def test_conditions_stay_where_the_grid_meets_them_though_the_time_was_over():
    grid = Grid(widths=(1.0,), counts=(4,), scalings=("soft", False))
    tried = [made(kernel="linear", width=None), made(scaling="soft")]  # nothing without scaling
    assert Trust((1.0,), (False,), 4).for_grid(grid).among(tried) == ([0, 1], False)


@pytest.mark.parametrize(("count", "given", "trusted"), [(4, (2, 4), True), (4, (20,), False), (None, (20,), False)])
def test_another_number_of_components_is_not_trusted(count, given, trusted):
    grid = Grid(widths=(1.0,), counts=given, scalings=("soft",))
    places, found = Trust((1.0,), ("soft",), count).for_grid(grid).among([made(count=one) for one in given])
    assert (places, found) == ([len(given) - 1], trusted)


def test_trusted_widths_come_first_in_their_order():
    assert Trust((0.25, 1.0), ()).first((4.0, 1.0, 16.0, 0.25)) == (1.0, 0.25, 4.0, 16.0)
