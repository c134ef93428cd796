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
from mercer.estimators.chosen import kernel_pca
from mercer.outliers.detector import KernelOutlierDetector
from mercer.outliers.settings import GRID, settings_of


@dataclass(frozen=True)
class Purpose:
    """How settings for one purpose are compared, and what is made of the best."""

    grid: Grid
    judge: Callable[..., Judged]
    estimator: Callable[[Candidate], Any]
    measured: str  # what the score means


def _with_scaling(candidate: Candidate) -> Any:
    model = kernel_pca(candidate)
    return model if candidate.family.standardize is False else make_pipeline(StandardScaler(), model)


def _detector(candidate: Candidate) -> KernelOutlierDetector:
    settings = settings_of(candidate)
    return KernelOutlierDetector(settings.estimator, standardize=settings.standardize, explained=settings.explained)


_CELLS = "share of the variation of hidden cells that is predicted"
_RECONSTRUCTION = Purpose(Grid(), judge_by_cells, partial(kernel_pca, preimage="auto"), _CELLS)

PURPOSES: dict[str, Purpose] = {
    "reconstruction": _RECONSTRUCTION,
    "denoising": _RECONSTRUCTION,
    "features": Purpose(
        Grid(scalings=("variance", False)), partial(judge_by_cells, most_components=True), _with_scaling, _CELLS
    ),
    "outliers": Purpose(GRID, judge_by_outliers, _detector, "mean rank in finding pretended outliers"),
}
