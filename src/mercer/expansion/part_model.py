"""A model of all rows but a part of them, with what the rows of that part look like to it."""

from dataclasses import dataclass

from mercer.arrays import Array
from mercer.expansion.model import Expansion


@dataclass(frozen=True, eq=False)
class PartModel:
    """A model that was fitted without one part of the rows, on the points of all; it does not use those of the part."""

    expansion: Expansion
    scores: Array  # (p, r), of the rows of the part
    norms: Array  # (p,), their squared distances from the mean
    means: Array  # (r,), of the scores of the rows that the model was fitted to; zero where it is centred
    variances: Array  # (r,), of the same scores
