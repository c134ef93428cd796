"""Figures of robust models: the weights of the rows."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WARM = "#d1495b"  # of contaminated rows; differs from the other colour in grey too


def sample_weights(
    model: Any,  # a fitted model with `weights_`, or the weights, (n,)
    contaminated: npt.ArrayLike | None = None,  # (n,) booleans, or row numbers
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw the weight of every row in order, and mark contaminated rows.

    Figures 1(b) and 3 of [huang2011]_ are of this kind.

    Parameters
    ----------
    model : estimator or array-like of shape (n_samples,)
        A fitted model with `weights_`, or the weights.
    contaminated : array-like or None, default=None
        A boolean per row, or the numbers of the contaminated rows. None: no row is marked.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    ValueError
        If `contaminated` holds booleans, but not one per row.

    See Also
    --------
    mercer.RobustKernelPCA : Kernel PCA with small weights for outliers.
    cosine_paths : How components approach the true ones.

    References
    ----------
    .. [huang2011] H.-H. Huang and Y.-R. Yeh, An iterative algorithm for robust kernel principal component analysis,
       Neurocomputing 74, 2011.

    Examples
    --------
    >>> from mercer import plots
    >>> figure = plots.sample_weights([1.0, 0.9, 0.1], contaminated=[2])
    >>> figure.axes[0].get_xlabel()
    'row'
    """
    if hasattr(model, "fit") and not hasattr(model, "weights_"):
        check_is_fitted(model)
        raise TypeError(f"{type(model).__name__} has no weights of rows. RobustKernelPCA and R1KernelPCA have them.")
    weights = np.asarray(getattr(model, "weights_", model), np.float64).ravel()
    bad = _marked(contaminated, len(weights))
    figure = canvas(figure, 7, 3.2)
    axes = plain_axes(figure, _title(weights, bad), "row", r"weight $\dot\psi(z)$")
    rows = np.arange(len(weights))
    axes.plot(rows[~bad], weights[~bad], "o", markersize=3, color=ACCENT, alpha=0.7, markeredgewidth=0, label="clean")
    if bad.any():
        axes.vlines(rows[bad], 0.0, weights[bad], color=_WARM, linewidth=0.8)
        axes.plot(rows[bad], weights[bad], "D", markersize=5, color=_WARM, label="contaminated", clip_on=False)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)
    axes.set_ylim(0.0, 1.03 * max(1.0, float(weights.max(initial=0.0))))
    axes.margins(x=0.01)
    return figure


def _marked(contaminated: npt.ArrayLike | None, n: int) -> npt.NDArray[np.bool_]:
    """Return one boolean per row: whether the row is contaminated."""
    given = np.asarray([] if contaminated is None else contaminated)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(f"contaminated must tell of each of the {n} rows, or hold row numbers; got {given.shape}.")
        return given
    bad = np.zeros(n, bool)
    bad[given.astype(np.intp)] = True
    return bad


def _title(weights: Array, bad: npt.NDArray[np.bool_]) -> str:
    """Return how many rows have a weight below one half."""
    low = weights < 0.5
    if not bad.any():
        return f"{int(low.sum())} of {len(weights)} rows have a weight below one half"
    return f"Weight below one half: {int(low[bad].sum())} of {int(bad.sum())} contaminated rows, {_rest(low, bad)}"


def _rest(low: npt.NDArray[np.bool_], bad: npt.NDArray[np.bool_]) -> str:
    """Return how many of the rows that are not contaminated have a low weight."""
    return f"{int(low[~bad].sum())} of {int((~bad).sum())} others"
