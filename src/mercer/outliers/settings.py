"""What a detector is made of: its own parameters, or those that `estimator="select"` finds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.criteria.candidates import Candidate, Grid
from mercer.criteria.judged import FEWEST_ROWS
from mercer.criteria.outlier_choice import judge_by_outliers
from mercer.criteria.trust import Trust
from mercer.estimators.chosen import MANY_ROWS, model_of
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
from mercer.events import Channel

_USUAL: dict[str, Any] = {"n_components": 4, "kernel": "rbf", "gamma": "median"}
GRID = Grid(("linear", "poly", "rbf"), scalings=("soft", "variance", False))


@dataclass(frozen=True)
class Settings:
    """What the models of a detector are made of."""

    estimator: Any
    standardize: str | bool
    explained: float  # share of the variance that `leading_components` keeps
    trim: float  # share of the rows that models do not learn from; they are then fitted apart


def usual_model(n: int, rng: np.random.RandomState) -> KernelPCA | LandmarkKernelPCA:
    """Return what suits most tables of n rows, not fitted: the exact model, or landmarks for many rows."""
    return landmark_model(rng.randint(2**31)) if n > MANY_ROWS else exact_model()


def exact_model() -> KernelPCA:
    """Return what suits most tables of few rows, not fitted."""
    return KernelPCA(**_USUAL)


def landmark_model(seed: Any) -> LandmarkKernelPCA:
    """Return what suits most tables of many rows, not fitted."""
    return LandmarkKernelPCA(**_USUAL, random_state=seed)


def fresh(estimator: Any, n: int, usual: bool) -> Any:
    """Return a copy that is not fitted, for n rows; the usual model never has more components than there can be."""
    copied = clone(estimator)
    return copied.set_params(n_components=max(1, min(_USUAL["n_components"], n - 1))) if usual else copied


@dataclass(frozen=True)
class Rule:
    """Among which settings the choice is made, and how the detector uses it."""

    trust: Trust
    trim: float  # share of the rows that is left out of the models
    explained: float = 1.0


MANY = Trust((0.25, 1.0), ("soft", "variance"))  # with as many components as possible: they describe clean rows best

# By whether there are outliers among the rows. Many components describe a group of outliers, too, and no other rule was
# better than the detector's default on tables that were kept apart.
RULES: dict[bool | None, Rule] = {
    False: Rule(MANY, 0.0),
    True: Rule(Trust((1.0,), ("soft",), 4, alone=True), 0.0, 0.8),
    None: Rule(MANY, 0.05),  # nobody knows
}


def is_default(candidate: Candidate) -> bool:
    """Tell whether a candidate is what a detector takes without any settings; it finds the scaling itself."""
    family = candidate.family
    return (family.kernel, family.width, candidate.n_components) == ("rbf", 1.0, 4) and family.standardize != "variance"


def settings_of(
    candidate: Candidate, trim: float, explained: float = 1.0, *, many: bool = False, seed: int = 0
) -> Settings:
    """Return the settings that a candidate stands for; the model of many rows has landmarks."""
    return Settings(model_of(candidate, many, seed), candidate.family.standardize, explained, trim)


def selected(X: Array, trim: float, rng: np.random.RandomState, channel: Channel) -> Settings:
    """Return the trusted settings that find pretended outliers best."""
    if len(X) < FEWEST_ROWS or (X[0] == X).all():
        raise ValueError(
            f"estimator='select' needs at least {FEWEST_ROWS} rows that are not all equal; got n_samples = {len(X)}. "
            "Leave estimator=None, or pass a decomposition."
        )
    judged = judge_by_outliers(X, GRID, rng, trust=MANY, channel=channel)
    many = len(X) > MANY_ROWS
    return settings_of(judged.candidate, trim, many=many, seed=int(rng.randint(2**31)) if many else 0)
