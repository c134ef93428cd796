"""Curves of a quantity a pass: how runs with different gains converge."""

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
    """Draw one recorded quantity of each pass, on a logarithmic scale [guenter2006, figures 1 to 3].

    `runs` is a fitted model with a `history_`, or a mapping from names to such models or to sequences of values; names
    of gains are written as the algorithms' names.
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
    history = getattr(run, "history_", None)
    if history is None:
        return np.asarray(run, np.float64)
    if quantity not in history:
        advice = " Fit with monitor='excess'." if quantity.startswith("excess") else ""
        raise ValueError(
            f"The model has no record of {quantity!r}; it has {', '.join(sorted(history)) or 'none'}.{advice}"
        )
    return np.asarray(history[quantity])
