"""Curves of one value per pass: how runs with different gains converge."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.plots.canvas import canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = {
    "excess": "excess reconstruction error E / Emin - 1",
    "excess_orthonormal": "the same, after orthonormalising",
    "change": "relative change of the components",
    "residual": "relative residual of the components",
    "unexplained": "share of the variation not explained",
}
_NAMES = {"constant": "KHA", "t": "KHA/t", "et": "KHA/et", "smd": "KHA-SMD"}


def convergence(
    runs: Any, quantity: str = "excess", *, title: str = "Convergence", figure: "Figure | None" = None
) -> "Figure":
    """Draw one recorded quantity of each pass, on a logarithmic scale.

    Figures 1 to 3 of [guenter2006]_ are of this kind.

    Parameters
    ----------
    runs : estimator, or mapping of str to estimator or array-like
        A fitted model with a `history_`, or several runs by name: fitted models, or sequences of values. The names of
        gains ("constant", "t", "et", "smd") are replaced by the names of their algorithms.
    quantity : str, default="excess"
        The entry of `history_` to draw: "excess", "excess_orthonormal", "change", "residual" or "unexplained". For
        sequences it only labels the axis.
    title : str, default="Convergence"
        The title of the figure.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    ValueError
        If a model has no record of the quantity.

    See Also
    --------
    mercer.HebbianKernelPCA : Kernel PCA learned one sample at a time.
    mode_decay : Oja's rule and its differential equation.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> from mercer import plots
    >>> figure = plots.convergence({"constant": [1.0, 0.4, 0.2], "et": [0.5, 0.1, 0.01]})
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['KHA', 'KHA/et']
    """
    named = runs if isinstance(runs, Mapping) else {"": runs}
    figure = canvas(figure, 6, 4)
    axes = plain_axes(figure, title, "passes over the data", _LABELS.get(quantity, quantity))
    for name, run in named.items():
        values = _values(run, quantity)
        axes.semilogy(np.arange(1, len(values) + 1), np.where(values > 0, values, np.nan), label=_NAMES.get(name, name))
    axes.grid(True, which="major", alpha=0.3)
    if any(named):
        axes.legend(frameon=False)
    return figure


def _values(run: Any, quantity: str) -> Any:
    """Return the values of a run: of its history, or those given."""
    history = getattr(run, "history_", None)
    if history is None:
        return np.asarray(run, np.float64)
    if quantity not in history:
        known = ", ".join(sorted(history))
        advice = "Pass one of these as `quantity`." if known else "Only `fit` makes passes and records them."
        if known and quantity.startswith("excess"):
            advice += " For this one, fit on all rows, without landmarks, with monitor='excess'."
        raise ValueError(f"The model has no record of {quantity!r}; it has {known or 'none'}. {advice}")
    return np.asarray(history[quantity])
