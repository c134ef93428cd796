"""Figures of online robust learning: how near the components come to the true ones, row by row."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_RUNS = 8  # colours that an eye tells apart
_MOST_LABELLED = 60  # outliers that are marked one by one


def cosine_paths(
    runs: Mapping[str, npt.ArrayLike],  # (m, r) or (m,) values of |cos| for each run
    times: npt.ArrayLike,  # (m,), rows read before each
    *,
    outliers: npt.ArrayLike = (),  # numbers of the rows that are bad
    title: str = "",
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw |cos| between estimated and true components over the rows read [huang2011, figures 1 and 2].

    One panel a component, one line a run; ticks at the foot mark outliers. A gap is a value that is not finite.
    """
    if not runs:
        raise ValueError("There is nothing to draw: give at least one run, {'name': values}.")
    steps = np.asarray(times, np.float64)
    paths = {name: _columns(values, len(steps), name) for name, values in runs.items()}
    r = max(path.shape[1] for path in paths.values())
    figure = canvas(figure, 1.2 + 3.4 * r, 3.4)
    for k, panel in enumerate(figure.subfigures(1, r, squeeze=False)[0]):
        head = title if r == 1 else f"component {k + 1}"
        axes = plain_axes(panel, head, "rows read", "|cos|" if k == 0 else "")
        _draw_runs(axes, {name: path[:, k] for name, path in paths.items() if k < path.shape[1]}, steps)
        _mark_outliers(axes, np.asarray(outliers, np.float64).ravel())
        if k == 0:
            axes.legend(frameon=False, fontsize=8, loc="lower right", labelcolor=INK)
    if r > 1 and title:
        figure.suptitle(title, x=0.02, ha="left", fontsize=11, color=INK)
    return figure


def _columns(values: npt.ArrayLike, m: int, name: str) -> Array:
    path = np.asarray(values, np.float64)
    path = path[:, None] if path.ndim == 1 else path
    if path.ndim != 2 or len(path) != m:
        raise ValueError(f"Run {name!r} needs one row for each of the {m} times; its shape is {np.shape(values)}.")
    return path


def _draw_runs(axes: Any, paths: dict[str, Array], steps: Array) -> None:
    from matplotlib import colormaps

    colours = colormaps["tab10"](np.arange(_MOST_RUNS + 2))
    for i, (name, path) in enumerate(paths.items()):
        shown = np.where(np.isfinite(path), path, np.nan)
        axes.plot(steps, shown, label=name, color=colours[i % len(colours)], linewidth=1.5)
    axes.set_ylim(0.0, 1.03)
    axes.margins(x=0.02)
    axes.grid(True, axis="y", alpha=0.3)


def _mark_outliers(axes: Any, outliers: Array) -> None:
    """Draw a short line at the foot of the panel for every outlier; many of them as a pale band of lines."""
    if outliers.size:
        many = outliers.size > _MOST_LABELLED
        axes.vlines(outliers, 0.0, 0.04, color=PALE if many else INK, linewidth=0.5 if many else 1.0, label="outliers")
