"""The rows of the toy examples in their own space, and the first directions in it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import INK, canvas, plain_axes
from mercer.plots.outlier import by_kind

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def input_space(
    X: npt.ArrayLike,  # (n, 2)
    kinds: npt.ArrayLike,
    models: Mapping[str, Any] | None = None,
) -> "Figure":
    """Draw two-dimensional rows by kind; for linear models also their first components [kim2019, figures 4 and 6]."""
    X, kinds = np.asarray(X, np.float64), np.asarray(kinds)
    axes = plain_axes(canvas(None, 5, 4), "Normal rows and two kinds of outliers", "first feature", "second feature")
    by_kind(axes, X, kinds)
    for (name, model), style in zip((models or {}).items(), ("-", "--", ":", "-.", (0, (6, 2))), strict=False):
        direction = _first_direction(model)
        if direction is not None:
            reach = np.abs(X @ direction).max() * np.array([-1.0, 1.0])
            axes.plot(*np.outer(direction, reach), linestyle=style, color=INK, linewidth=1, label=name)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_aspect("equal", adjustable="datalim")
    return axes.figure  # type: ignore[no-any-return]


def _first_direction(model: Any) -> Array | None:
    """Return the first component in input space, where the kernel is linear."""
    expansion = model.expansion_
    if expansion.kernel.name != "linear":
        return None
    direction = np.asarray(expansion.coef[0] @ expansion.points, np.float64)
    return np.asarray(direction / np.linalg.norm(direction) * np.sign(direction[0] or 1.0))
