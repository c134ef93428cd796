"""What a detector is made of: its own parameters, or those that `estimator="select"` finds."""

from dataclasses import dataclass, replace
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
    note: str  # what a user should know about it
    trim: float = 0.0  # share of the rows that is left out of the models
    explained: float = 1.0
    usual: bool = False  # whether it takes the detector's default
    other_note: str = ""  # instead of the note, where the default is not among the candidates


MANY = Trust((0.25, 1.0), ("soft", "variance"))  # with as many components as possible: they describe clean rows best

MANY_COLUMNS = 16  # from here on many components pay where nobody knows whether there are outliers among the rows

# docs/evidence_settings.md has the figures
CLEAN = Rule(MANY, "")
CONTAMINATED = Rule(
    Trust((1.0,), ("soft",), 4, alone=True),
    " With outliers among the rows no rule was better than these settings, the detector's default, on other tables.",
    explained=0.8,
    usual=True,
)
UNKNOWN_FEW_COLUMNS = replace(
    CONTAMINATED,
    note=f" With fewer than {MANY_COLUMNS} columns no rule was reliably better than these settings, the detector's"
    " default, on other tables; pass contaminated=True or False where that is known.",
    other_note=" Where it is known whether outliers are among the rows, pass contaminated=True or False.",
)
UNKNOWN_MANY_COLUMNS = Rule(
    MANY,
    " Every model leaves out a twentieth of its rows, in case there are outliers among them; pass contaminated=True or"
    " False where that is known.",
    trim=0.05,
)


def rule_for(contaminated: bool | None, n_columns: int) -> Rule:
    """Return the rule for tables with outliers among the rows, without any, or where nobody knows.

    Many components describe a group of outliers, too, and no other rule was better than the detector's default on
    tables that were kept apart. Where nobody knows, they pay in tables of many columns, such as pictures.
    """
    if contaminated is None:
        return UNKNOWN_MANY_COLUMNS if n_columns >= MANY_COLUMNS else UNKNOWN_FEW_COLUMNS
    return CONTAMINATED if contaminated else CLEAN


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
