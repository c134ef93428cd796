"""`KernelPCA(gamma="select", n_components="select")`: settings by which hidden cells are predicted best."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Points, is_sparse
from mercer.criteria.candidates import COUNTS, WIDTHS, Grid
from mercer.criteria.cell_choice import judge_by_cells
from mercer.criteria.dominant_column import warn_of_one_column
from mercer.criteria.judged import FEWEST_ROWS, SELECT
from mercer.events import Channel
from mercer.kernels.resolve import resolve_gamma


def wants_selection(gamma: Any, n_components: Any) -> bool:
    """Tell whether a parameter is to be selected."""
    return _is_select(gamma) or _is_select(n_components)


def _is_select(value: Any) -> bool:
    return isinstance(value, str) and value == SELECT


def selected(
    X: Points, kernel: Any, gamma: Any, n_components: Any, seed: Any, channel: Channel
) -> tuple[Any, float | None]:
    """Return the number of components and gamma for rows; what is not to be selected stays as it is."""
    if isinstance(kernel, str) and kernel == "linear" and _is_select(gamma):
        gamma = 1.0 / X.shape[1]  # this kernel ignores gamma
        if not _is_select(n_components):
            return n_components, gamma
    rows = _checked(X, kernel)
    warn_of_one_column(rows)
    number = isinstance(n_components, int | np.integer)
    counts = (int(n_components),) if number else COUNTS
    if kernel == "linear":
        grid = Grid(("linear",), counts=counts)
    elif _is_select(gamma):
        grid = Grid(("rbf",), WIDTHS, counts)
    else:
        grid = Grid(("rbf",), counts=counts, gammas=(resolve_gamma(gamma, rows),))
    rng = np.random.RandomState(0) if seed is None else seed
    judged = judge_by_cells(rows, grid, rng, channel=channel)
    keep = judged.candidate.n_components if _is_select(n_components) else n_components
    return keep, resolve_gamma(gamma, rows) if kernel == "linear" else judged.candidate.gamma


def _checked(X: Points, kernel: Any) -> Array:
    if not isinstance(kernel, str) or kernel not in ("rbf", "linear"):
        advice = "mercer.select compares kernels."
        if isinstance(kernel, str) and kernel == "precomputed":
            advice = "It hides cells of rows, which a matrix of kernel values does not have: pass the rows themselves."
        raise ValueError(
            f"'select' chooses the width of kernel='rbf' and the number of components of 'rbf' and 'linear'; got "
            f"kernel={kernel!r}. {advice}"
        )
    if is_sparse(X):
        raise TypeError("'select' needs dense rows, because it hides single cells. Pass X.toarray() or numbers.")
    if X.shape[0] < FEWEST_ROWS or X.shape[1] < 2:
        raise ValueError(
            f"'select' needs at least {FEWEST_ROWS} rows and 2 columns; got n_samples = {X.shape[0]}, "
            f"n_features = {X.shape[1]}. Pass numbers for gamma and n_components."
        )
    if (X[0] == X).all():
        raise ValueError("'select': all rows are equal, so no setting is better than another. Pass numbers instead.")
    return np.asarray(X, np.float64)
