"""What a detector is made of: its own parameters, or those that `estimator="select"` finds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.criteria.candidates import Candidate, Grid
from mercer.criteria.judged import FEWEST_ROWS, STAGE
from mercer.criteria.outlier_choice import judge_by_outliers
from mercer.criteria.trust import Trust
from mercer.estimators.chosen import kernel_pca
from mercer.events import Channel

GRID = Grid(("linear", "poly", "rbf"), scalings=("soft", "variance", False))


@dataclass(frozen=True)
class Settings:
    """The model, the scaling of the columns, and the share of variance that `leading_components` keeps."""

    estimator: Any
    standardize: str | bool
    explained: float
    trim: float


@dataclass(frozen=True)
class Rule:
    """Among which settings the choice is made, and which share of the rows is left out of the models."""

    trust: Trust
    trim: float


_SCALED = ("soft", "variance")
_MANY = Trust((0.25, 1.0), _SCALED)

# Whether there are outliers among the rows: many components describe clean rows best, but also a group of outliers.
RULES: dict[bool | None, Rule] = {
    False: Rule(_MANY, 0.0),
    True: Rule(Trust((1 / 16,), _SCALED, 2), 0.1),
    None: Rule(_MANY, 0.05),  # nobody knows
}


def settings_of(candidate: Candidate, trim: float) -> Settings:
    """Return the settings that a candidate stands for; all its components are used."""
    return Settings(kernel_pca(candidate), candidate.family.standardize, 1.0, trim)


def selected(X: Array, trim: float, rng: np.random.RandomState, channel: Channel) -> Settings:
    """Return the settings that find pretended outliers among these rows best; with `trim`, for rows with outliers."""
    if len(X) < FEWEST_ROWS or (X[0] == X).all():
        raise ValueError(
            f"estimator='select' needs at least {FEWEST_ROWS} rows that are not all equal; got n_samples = {len(X)}. "
            "Leave estimator=None, or pass a decomposition."
        )

    def tell(step: int, total: int) -> None:
        channel.emit(STAGE, step, total)

    judged = judge_by_outliers(X, GRID, rng, trust=RULES[trim > 0].trust, tell=tell)
    return settings_of(judged.candidate, trim)
