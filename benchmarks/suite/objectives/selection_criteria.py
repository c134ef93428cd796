"""Three criteria for the settings of denoising: hidden cells, errors of pre-images, and parallel analysis."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.rival_criteria import by_parallel_analysis, by_preimages
from benchmarks.suite.selection import DEFAULTS, every, noise_reduced_by
from benchmarks.suite.selection_sets import Noisy, denoising_cases
from mercer.criteria.candidates import Candidate, Grid
from mercer.criteria.cell_choice import judge_by_cells
from mercer.estimators.chosen import model_of

GAUSSIAN = Grid(kernels=("rbf",))


def by_cells(X: np.ndarray, grid: Grid) -> Candidate:
    return judge_by_cells(X, grid, np.random.RandomState(0)).candidate


def by(choose: Callable[[np.ndarray, Grid], Candidate]) -> Callable[[Noisy], Callable[[], Any]]:
    return lambda case: lambda: model_of(choose(case.learned, GAUSSIAN), preimage="auto")


def reduction(case: Noisy, estimator: Any) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reduced = noise_reduced_by(estimator, case)(every(case))
    return {"error reduced by": reduced, "components": float(estimator.n_components)}


OBJECTIVE = Objective(
    name="selection_criteria",
    question="which criterion finds the better width and number of components for denoising?",
    datasets=denoising_cases(),
    solvers=[
        Solver("default: median width, 4 components", lambda case: lambda: DEFAULTS["denoising"]),
        Solver("hidden cells", by(by_cells)),
        Solver("error of pre-images (Alam and Fukumizu)", by(by_preimages), peer=True),
        Solver("kernel parallel analysis (Jørgensen and Hansen)", by(by_parallel_analysis), peer=True),
    ],
    quality=reduction,
    rounds=0,
    default=False,
)
