"""Figures of robust models: which rows they believed."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WARM = "#d1495b"  # tells the contaminated rows from the others, also in grey


def sample_weights(
    model: Any,  # a fitted model with `weights_`, or the weights, (n,)
    contaminated: npt.ArrayLike | None = None,  # (n,) booleans, or row numbers
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw the weight of every row in order, rows known to be contaminated marked [huang2011, figures 1(b) and 3]."""
    weights = np.asarray(getattr(model, "weights_", model), np.float64).ravel()
    bad = _marked(contaminated, len(weights))
    axes = plain_axes(canvas(figure, 7, 3.2), _title(weights, bad), "row", r"weight $\dot\psi(z)$")
    rows = np.arange(len(weights))
    axes.plot(rows[~bad], weights[~bad], "o", markersize=3, color=ACCENT, alpha=0.7, markeredgewidth=0, label="clean")
    if bad.any():
        axes.vlines(rows[bad], 0.0, weights[bad], color=_WARM, linewidth=0.8)
        axes.plot(rows[bad], weights[bad], "D", markersize=5, color=_WARM, label="contaminated", clip_on=False)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)
    axes.set_ylim(0.0, 1.03 * max(1.0, float(weights.max(initial=0.0))))
    axes.margins(x=0.01)
    return axes.figure  # type: ignore[no-any-return]


def _marked(contaminated: npt.ArrayLike | None, n: int) -> npt.NDArray[np.bool_]:
    given = np.asarray([] if contaminated is None else contaminated)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(f"contaminated must tell of each of the {n} rows, or hold row numbers; got {given.shape}.")
        return given
    bad = np.zeros(n, bool)
    bad[given.astype(np.intp)] = True
    return bad


def _title(weights: Array, bad: npt.NDArray[np.bool_]) -> str:
    low = weights < 0.5
    if not bad.any():
        return f"{int(low.sum())} of {len(weights)} rows have less than half a vote"
    return f"Less than half a vote: {int(low[bad].sum())} of {int(bad.sum())} contaminated rows, {_rest(low, bad)}"


def _rest(low: npt.NDArray[np.bool_], bad: npt.NDArray[np.bool_]) -> str:
    return f"{int(low[~bad].sum())} of {int((~bad).sum())} others"
