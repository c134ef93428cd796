"""Trusted settings: which candidates they are, and what happens where none of them is there."""

from mercer.criteria.candidates import Candidate, Family
from mercer.criteria.trust import Trust


def made(kernel="rbf", width=1.0, count=4, scaling="soft"):
    return Candidate(Family(kernel, width, standardize=scaling), 0.1, count)


def test_they_have_the_kernel_the_width_the_scaling_and_the_most_components():
    trust = Trust((0.25, 1.0), ("soft",))
    others = [made(width=4.0), made(kernel="poly"), made(kernel="linear", width=None), made(scaling=False)]
    assert trust.among([made(count=2), made(count=8), *others, made(width=0.25, count=8)]) == [1, 6]


def test_the_number_of_components_is_the_nearest_to_the_trusted_one():
    candidates = [made(count=1), made(count=3), made(count=8)]
    assert Trust((1.0,), ("soft",), 2).among(candidates) == [0]
    assert Trust((1.0,), ("soft",), 9).among(candidates) == [2]


def test_where_none_is_trusted_every_kernel_is():
    candidates = [made(width=16.0, count=2), made(width=16.0, count=8), made(kernel="linear", width=None, count=8)]
    assert Trust((1.0,), ("soft",)).among(candidates) == [1, 2]


def test_trusted_widths_come_first_in_their_order():
    assert Trust((0.25, 1.0), ()).first((4.0, 1.0, 16.0, 0.25)) == (1.0, 0.25, 4.0, 16.0)
