"""What a detector is made of: its own parameters, or those that `estimator="select"` finds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.criteria.candidates import Candidate, Grid
from mercer.criteria.judged import FEWEST_ROWS, STAGE
from mercer.criteria.outlier_choice import judge_by_outliers
from mercer.estimators.chosen import kernel_pca
from mercer.events import Channel

GRID = Grid(("linear", "poly", "rbf"), scalings=("soft", "variance", False))


@dataclass(frozen=True)
class Settings:
    """The model, the scaling of the columns, and the share of variance that `leading_components` keeps."""

    estimator: Any
    standardize: str | bool
    explained: float


def settings_of(candidate: Candidate) -> Settings:
    """Return the settings that a candidate stands for; all its components are used."""
    return Settings(kernel_pca(candidate), candidate.family.standardize, 1.0)


def selected(X: Array, rng: np.random.RandomState, channel: Channel) -> Settings:
    """Return the settings that find pretended outliers among these rows best."""
    if len(X) < FEWEST_ROWS or (X[0] == X).all():
        raise ValueError(
            f"estimator='select' needs at least {FEWEST_ROWS} rows that are not all equal; got n_samples = {len(X)}. "
            "Leave estimator=None, or pass a decomposition."
        )
    judged = judge_by_outliers(X, GRID, rng, tell=lambda step, total: channel.emit(STAGE, step, total))
    return settings_of(judged.candidate)
