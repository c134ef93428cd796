"""`KernelPCA(gamma="select", n_components="select")`: settings by which hidden cells are predicted best."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Points, is_sparse
from mercer.criteria.candidates import COUNTS, WIDTHS, Grid
from mercer.criteria.cell_choice import judge_by_cells
from mercer.events import Channel
from mercer.kernels.resolve import resolve_gamma

SELECT = "select"
_FEWEST_ROWS = 20
_STAGE = "kernels compared"


def wants_selection(gamma: Any, n_components: Any) -> bool:
    """Tell whether a parameter is to be selected."""
    return any(isinstance(value, str) and value == SELECT for value in (gamma, n_components))


def selected(
    X: Points, kernel: Any, gamma: Any, n_components: Any, seed: Any, channel: Channel
) -> tuple[Any, float | None]:
    """Return the number of components and gamma for rows; what is not to be selected stays as it is."""
    rows = _checked(X, kernel)
    number = isinstance(n_components, int | np.integer)
    counts = (int(n_components),) if number else COUNTS
    if kernel == "linear":
        grid = Grid(("linear",), counts=counts)
    elif isinstance(gamma, str) and gamma == SELECT:
        grid = Grid(("rbf",), WIDTHS, counts)
    else:
        grid = Grid(("rbf",), counts=counts, gammas=(resolve_gamma(gamma, rows),))
    rng = np.random.RandomState(0) if seed is None else seed
    judged = judge_by_cells(rows, grid, rng, tell=lambda step, total: channel.emit(_STAGE, step, total))
    keep = n_components if not isinstance(n_components, str) else judged.candidate.n_components
    return keep, judged.candidate.gamma


def _checked(X: Points, kernel: Any) -> Array:
    if kernel not in ("rbf", "linear"):
        raise ValueError(
            f"'select' chooses the width of kernel='rbf' and the number of components of 'rbf' and 'linear'; got "
            f"kernel={kernel!r}. mercer.select compares kernels."
        )
    if is_sparse(X):
        raise TypeError("'select' needs dense rows, because it hides single cells. Pass X.toarray() or numbers.")
    if X.shape[0] < _FEWEST_ROWS or X.shape[1] < 2:
        raise ValueError(
            f"'select' needs at least {_FEWEST_ROWS} rows and 2 columns; got n_samples = {X.shape[0]}, "
            f"n_features = {X.shape[1]}. Pass numbers for gamma and n_components."
        )
    return np.asarray(X, np.float64)
