"""What a selection is for: the candidates, the criterion and the estimator of each purpose."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.criteria.candidates import Candidate, Grid
from mercer.criteria.cell_choice import judge_by_cells
from mercer.criteria.judged import Judged
from mercer.criteria.outlier_choice import judge_by_outliers
from mercer.criteria.trust import Trust
from mercer.estimators.chosen import model_of
from mercer.outliers.detector import KernelOutlierDetector
from mercer.outliers.settings import (
    GRID,
    UNKNOWN_MANY_COLUMNS,
    Rule,
    exact_model,
    is_default,
    landmark_model,
    rule_for,
    settings_of,
)
from mercer.selection.reasons import NEAREST_TO_DEFAULT, ONE_TRUSTED, among_few, taken_for_noise


def _nothing(judged: Judged) -> str:
    return ""


def _never(judged: Judged) -> bool:
    return False


@dataclass(frozen=True)
class Purpose:
    """How settings for one purpose are compared, and what is made of the best."""

    grid: Grid
    judge: Callable[..., Judged]
    estimator: Callable[[Candidate, bool], Any]  # of a candidate, and whether it is for many rows
    measured: str  # what the score means
    takes_default: Callable[[Judged], bool] = _never  # whether the choice is the detector's default
    among: Callable[[Judged], str] = _nothing  # why a higher score did not decide
    note: Callable[[Judged], str] = _nothing  # what a user should know about the choice

    def made(self, judged: Judged, many: bool) -> Any:
        """Return the estimator of the choice; `many` tells whether it is for many rows."""
        if self.takes_default(judged):
            # gamma and scaling as words, not as found for these rows: each of its models then measures them itself
            return KernelOutlierDetector(landmark_model(0) if many else exact_model())
        return self.estimator(judged.candidate, many)


def _with_scaling(candidate: Candidate, many: bool) -> Any:
    model = model_of(candidate, many)
    return make_pipeline(StandardScaler(), model) if candidate.family.standardize else model


def _detector(candidate: Candidate, many: bool, rule: Rule) -> KernelOutlierDetector:
    found = settings_of(candidate, rule.trim, rule.explained, many=many)
    return KernelOutlierDetector(
        found.estimator, standardize=found.standardize, explained=found.explained, trim=found.trim
    )


def _takes_default(judged: Judged, rule: Rule) -> bool:
    """Tell whether the choice is the detector's default, and not the same kernel with another scaling that was given.

    Where the time was over, another scaling was not given, only tried earlier.
    """
    return rule.usual and is_default(judged.candidate) and (judged.trusted or judged.skipped > 0)


def _among(judged: Judged, rule: Rule) -> str:
    if not rule.usual:
        return among_few(judged)
    return ONE_TRUSTED if _takes_default(judged, rule) else NEAREST_TO_DEFAULT


def _note(judged: Judged, rule: Rule) -> str:
    return rule.note if not rule.usual or _takes_default(judged, rule) else rule.other_note


def _outliers(rule: Rule) -> Purpose:
    return Purpose(
        GRID,
        partial(judge_by_outliers, trust=rule.trust),
        partial(_detector, rule=rule),
        "mean rank in finding pretended outliers",
        takes_default=partial(_takes_default, rule=rule),
        among=partial(_among, rule=rule),
        note=partial(_note, rule=rule),
    )


_MODEL = partial(model_of, preimage="auto")
_CELLS = "share of the variation of hidden cells that is predicted"
_FEATURES = Trust((0.25, 1.0), ("variance", False))

PURPOSES: dict[str, Purpose] = {
    "reconstruction": Purpose(Grid(), judge_by_cells, _MODEL, _CELLS),
    "denoising": Purpose(Grid(), partial(judge_by_cells, must_change=True), _MODEL, _CELLS, note=taken_for_noise),
    "features": Purpose(
        Grid(widths=(1.0, 0.25, 4.0), scalings=("variance", False)),
        partial(judge_by_cells, trust=_FEATURES),
        _with_scaling,
        _CELLS,
        among=among_few,
    ),
    "outliers": _outliers(UNKNOWN_MANY_COLUMNS),
}


def purpose_of(name: str, contaminated: bool | None, n_columns: int) -> Purpose:
    """Return a purpose; for outliers, that of tables with outliers among the rows, or none, or where nobody knows."""
    return _outliers(rule_for(contaminated, n_columns)) if name == "outliers" else PURPOSES[name]
