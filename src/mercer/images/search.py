"""The best of many candidates, drawn in rounds around the best so far."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mercer.arrays import Array

_FINER = 1.7  # by how much the Gaussian of one round of candidates is narrower than that of the round before
_DENSE = 3  # times as many candidates in the first round of a wide search


class Found(NamedTuple):
    """A candidate with its patch and what speaks against it."""

    state: Array  # (4,)
    patch: Array  # (pixels,)
    residual: float
    cost: float
    around: float  # median of the residuals of all candidates of the first round


Judge = Callable[[Array], tuple[Array, Array, Array]]  # states -> patches, residuals, costs


Round = tuple[int, Array]  # number of candidates, (4,) standard deviations of their relative steps


def near_rounds(count: int, rounds: int, deviations: Array) -> list[Round]:
    """Return rounds of equally many candidates, each narrower than the one before."""
    return [(share, deviations * _FINER**-i) for i, share in enumerate(shares(count, rounds))]


def wide_rounds(count: int, reach: float, spread: Array, n_lost: int) -> list[Round]:
    """Return a first round that covers the surroundings, and three around what is best there.

    Size and turn, like a random walk, can have gone farther the longer the object is lost.
    """
    farther = 1.0 + np.sqrt(n_lost)
    first = np.array([reach, reach, farther * spread[2], farther * spread[3]])
    rest = np.array([1.0, 1.0, 2.0, 2.0]) * spread
    return [(_DENSE * count, first), *((max(count // 2, 1), rest * share) for share in (1.0, 0.6, 0.3))]


def best_candidate(
    start: Array,  # (4,), the state around which candidates are drawn
    rounds: list[Round],
    moved: Callable[[Array, Array], Array],  # state, relative steps -> states
    judge: Judge,
    random: np.random.RandomState,
) -> Found:
    """Return the candidate with the least cost; the start itself is the first candidate."""
    best = Found(start, start, np.inf, np.inf, np.inf)
    for number, (count, deviations) in enumerate(rounds):
        steps = random.standard_normal((count, 4)) * deviations
        if number == 0:
            steps[0] = 0.0
        states = moved(best.state, steps)
        patches, residuals, costs = judge(states)
        i = int(np.argmin(costs))
        if costs[i] < best.cost:
            around = float(np.median(residuals)) if number == 0 else best.around
            best = Found(states[i], patches[i], float(residuals[i]), float(costs[i]), around)
    return best


def shares(total: int, parts: int) -> list[int]:
    """Divide a number into nearly equal parts; the first ones are larger where the division leaves a remainder."""
    return [total // parts + (i < total % parts) for i in range(parts)]
