"""Figures of online robust learning: how near the components are to the true ones, row by row."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_RUNS = 8  # colours that are easy to distinguish
_MOST_LABELLED = 60  # outliers that are marked one by one


def cosine_paths(
    runs: Mapping[str, npt.ArrayLike],  # (m, r) or (m,) values of |cos| for each run
    times: npt.ArrayLike,  # (m,), rows read before each
    *,
    outliers: npt.ArrayLike = (),  # numbers of the rows that are bad
    title: str = "",
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw ``|cos|`` between estimated and true components against the rows read.

    There is one panel per component and one line per run, as in figures 1 and 2 of [huang2011]_. Short lines at the
    bottom mark outliers. A line has a gap where a value is not finite.

    Parameters
    ----------
    runs : mapping of str to array-like of shape (m, r) or (m,)
        The values of ``|cos|`` of each run: one row per time, one column per component.
    times : array-like of shape (m,)
        How many rows were read before each value.
    outliers : array-like of int, default=()
        The numbers of the rows that are outliers.
    title : str, default=""
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
        If there is no run, or a run does not have one row per time.

    See Also
    --------
    mercer.OnlineRobustKernelPCA : Robust kernel PCA of a stream.
    sample_weights : Weights of robust kernel PCA.

    References
    ----------
    .. [huang2011] H.-H. Huang and Y.-R. Yeh, An iterative algorithm for robust kernel principal component analysis,
       Neurocomputing 74, 2011.

    Examples
    --------
    >>> from mercer import plots
    >>> runs = {"robust": [0.2, 0.7, 0.99], "plain": [0.2, 0.6, 0.8]}
    >>> figure = plots.cosine_paths(runs, [10, 20, 30], outliers=[14])
    >>> figure.axes[0].get_ylabel()
    '|cos|'
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
    """Return the values of a run as a matrix with one column per component, after a check of its shape."""
    path = np.asarray(values, np.float64)
    path = path[:, None] if path.ndim == 1 else path
    if path.ndim != 2 or len(path) != m:
        raise ValueError(f"Run {name!r} needs one row for each of the {m} times; its shape is {np.shape(values)}.")
    return path


def _draw_runs(axes: Any, paths: dict[str, Array], steps: Array) -> None:
    """Draw one line per run."""
    from matplotlib import colormaps

    colours = colormaps["tab10"](np.arange(_MOST_RUNS + 2))
    for i, (name, path) in enumerate(paths.items()):
        shown = np.where(np.isfinite(path), path, np.nan)
        axes.plot(steps, shown, label=name, color=colours[i % len(colours)], linewidth=1.5)
    axes.set_ylim(0.0, 1.03)
    axes.margins(x=0.02)
    axes.grid(True, axis="y", alpha=0.3)


def _mark_outliers(axes: Any, outliers: Array) -> None:
    """Draw a short line at the bottom of the panel for every outlier; many of them in a pale colour."""
    if outliers.size:
        many = outliers.size > _MOST_LABELLED
        axes.vlines(outliers, 0.0, 0.04, color=PALE if many else INK, linewidth=0.5 if many else 1.0, label="outliers")
