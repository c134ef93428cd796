"""What a selection is for: the candidates, the criterion and the estimator of each purpose."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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


def grid_of(purpose: str, given: Mapping[str, Sequence[Any]] | None) -> Grid:
    """Return the grid of a purpose, restricted or changed by what the user gave."""
    grid = PURPOSES[purpose].grid
    if given is None:
        return grid
    names = {"kernel": "kernels", "width": "widths", "gamma": "gammas", "n_components": "counts"}
    allowed = dict(names, standardize="scalings") if len(grid.scalings) > 1 else names
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        raise ValueError(
            f"candidates for purpose={purpose!r} may have the keys {', '.join(allowed)}; got {', '.join(unknown)}."
        )
    changed = replace(grid, **{allowed[name]: tuple(values) for name, values in given.items()})
    _check(purpose, changed)
    return changed


def _check(purpose: str, grid: Grid) -> None:
    kernels, scalings = PURPOSES[purpose].grid.kernels, PURPOSES[purpose].grid.scalings
    wrong: list[Any] = [kernel for kernel in grid.kernels if kernel not in kernels]
    wrong += [kind for kind in grid.scalings if kind not in scalings]
    if wrong:
        raise ValueError(
            f"purpose={purpose!r} compares the kernels {', '.join(map(repr, kernels))} and standardize="
            f"{' or '.join(map(repr, scalings))}; got {', '.join(map(repr, wrong))}."
        )
    numbers = (*grid.widths, *grid.gammas, *grid.counts)
    if not grid.kernels or not grid.counts or not grid.scalings or any(not number > 0 for number in numbers):
        raise ValueError("candidates need at least one value per key, and widths, gammas and numbers above 0.")
