"""Figures of streams: the distance of a growing model from a reference, its residual, and its number of points."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, canvas, logarithmic, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DISTANCE = "subspace distance"
_GRID, _MARGIN = 80, 0.15  # points of a side of the contours' grid, and space around the rows
_LEVELS = 12


def distance_curves(
    runs: Mapping[str, Any],  # a fitted model, (m,) values, or (repeats, m)
    n_seen: npt.ArrayLike | None = None,  # (m,), rows before each value
    *,
    title: str = "",
    quantity: str = _DISTANCE,
    log: bool = True,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw a distance against the rows seen, one line per run.

    Figures 2 and 3 of [chin2007]_ are of this kind. Of several repeats the mean is drawn, with a band from their tenth
    to their ninetieth percentile. For a model its `history_` is drawn: the distance to the `reference` that it was
    fitted with.

    Parameters
    ----------
    runs : mapping of str to estimator or array-like of shape (m,) or (n_repeats, m)
        Runs by name: fitted models, or distances.
    n_seen : array-like of shape (m,) or None, default=None
        How many rows were seen before each value. None: 1, 2, 3 and so on. It is not used for models.
    title : str, default=""
        The title of the figure.
    quantity : str, default="subspace distance"
        The label of the vertical axis.
    log : bool, default=True
        Whether the vertical axis is logarithmic.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    ValueError
        If there is no run, a model has no record of distances, or a run does not have one value per step.

    See Also
    --------
    mercer.metrics.subspace_distance : How far two models are apart.
    stream_history : How an incremental model develops.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.

    Examples
    --------
    >>> from mercer import plots
    >>> figure = plots.distance_curves({"chunks of 10": [0.5, 0.2, 0.1]}, [10, 20, 30])
    >>> figure.axes[0].get_ylabel()
    'subspace distance'
    """
    if not runs:
        raise ValueError("There is nothing to draw: give at least one run, {'name': values}.")
    figure = canvas(figure, 5.5, 3.8)
    axes = plain_axes(figure, title, "rows seen", quantity)
    for name, run in runs.items():
        steps, values = _curve(name, run, n_seen)
        line = axes.plot(steps, values.mean(axis=0), label=name, linewidth=1.5)[0]
        if len(values) > 1:
            low, high = np.quantile(values, (0.1, 0.9), axis=0)
            axes.fill_between(steps, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    if log:
        logarithmic(axes, y=True, nonpositive="mask")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    return figure


def _curve(name: str, run: Any, n_seen: npt.ArrayLike | None) -> tuple[Array, Array]:
    """Return the rows seen, (m,), and the values, (repeats, m)."""
    history = getattr(run, "history_", None)
    if history is not None:
        if not np.isfinite(history["distance"]).any():
            raise ValueError(f"The model {name!r} has no record of distances. Fit it with reference=, a fitted model.")
        return history["n_seen"], history["distance"][None]
    values = np.atleast_2d(np.asarray(run, np.float64))
    steps = np.arange(1, values.shape[1] + 1) if n_seen is None else np.asarray(n_seen)
    if values.ndim != 2 or values.shape[1] != len(steps):
        raise ValueError(
            f"Run {name!r} needs one value for each of the {len(steps)} steps; its shape is {values.shape}."
        )
    return steps, values


def stream_history(model: Any, *, figure: "Figure | None" = None) -> "Figure":
    """Draw how an incremental model develops: its residual, its number of points, and its distance if it was recorded.

    Parameters
    ----------
    model : IncrementalKernelPCA
        A fitted model with a `history_`.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    TypeError
        If the model has no record of updates.

    See Also
    --------
    mercer.IncrementalKernelPCA : Kernel PCA of a stream, without landmarks in advance.
    distance_curves : Distances over the rows seen.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = mercer.IncrementalKernelPCA(2, kernel="rbf").fit(X)
    >>> figure = mercer.plots.stream_history(model)
    >>> len(figure.axes)
    2
    """
    history = getattr(model, "history_", None)
    if history is None or "points" not in history:
        raise TypeError(f"stream_history needs a fitted IncrementalKernelPCA; got {type(model).__name__}.")
    shown = [("residual", "mean squared distance from the components"), ("points", "points of the library")]
    if np.isfinite(history["distance"]).any():
        shown.append(("distance", "subspace distance to the reference"))
    figure = canvas(figure, 3.6 * len(shown), 3)
    for panel, (name, title) in zip(figure.subfigures(1, len(shown), squeeze=False)[0], shown, strict=True):
        axes = plain_axes(panel, title, "rows seen", "")
        axes.plot(history["n_seen"], history[name], color=ACCENT, linewidth=1.5)
        axes.set_ylim(bottom=0)
        axes.grid(True, alpha=0.3)
    return figure


def score_contours(models: Any, X: npt.ArrayLike, n_components: int = 3, *, figure: "Figure | None" = None) -> "Figure":
    """Draw the scores of all points of the plane around the rows of X, one panel per component.

    There is one row of panels per model, as in Table II of [chin2007]_. The signs of components are those of the first
    model, so that equal components look equal.

    Parameters
    ----------
    models : estimator or mapping of str to estimator
        A fitted model, or several by name.
    X : array-like of shape (n_samples, 2)
        Rows with two features.
    n_components : int, default=3
        The number of components to draw; fewer if a model has fewer.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    ValueError
        If the rows do not have two features, or if there is no component to draw.

    See Also
    --------
    scores : Rows by two components.
    mercer.KernelPCA : Exact kernel PCA of rows in memory.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = mercer.KernelPCA(2, kernel="rbf").fit(X)
    >>> figure = mercer.plots.score_contours({"exact": model}, X, 2)
    >>> len(figure.axes)
    2
    """
    rows = np.asarray(X, np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"Contours need rows with two features; got {rows.shape}.")
    named = models if isinstance(models, Mapping) else {"": models}
    across, up = _grid(rows)
    plane = np.column_stack([across.ravel(), up.ravel()])
    found = {name: np.asarray(model.transform(plane)) for name, model in named.items()}
    n_components = min(n_components, *(scores.shape[1] for scores in found.values()))
    if n_components < 1:
        raise ValueError("There is no component to draw: a model has none, or n_components is below 1.")
    figure = canvas(figure, 2.4 * n_components, 2.2 * len(found))
    first: Array | None = None
    panels = figure.subplots(len(found), n_components, squeeze=False, sharex=True, sharey=True)
    for line, (name, values) in zip(panels, found.items(), strict=True):
        scores = values[:, :n_components]
        first = scores if first is None else first
        scores = scores * np.where(np.sum(scores * first, axis=0) < 0, -1.0, 1.0)
        for k, axes in enumerate(line):
            field = scores[:, k].reshape(across.shape)
            axes.contourf(across, up, field, _LEVELS, cmap="Greys", alpha=0.6)
            axes.contour(across, up, field, _LEVELS, colors=ACCENT, linewidths=0.8)
            axes.scatter(*rows.T, s=1.5, color="#d62728", linewidths=0)
            axes.set_title(f"{name}, component {k + 1}".removeprefix(", "), loc="left", fontsize=8, color=INK)
            axes.tick_params(labelsize=7)
    return figure


def _grid(rows: Array) -> tuple[Array, Array]:
    """Return the coordinates of a grid over the rows and a margin around them."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    space = _MARGIN * np.where(high > low, high - low, 1.0)
    across, up = np.meshgrid(*(np.linspace(a, b, _GRID) for a, b in zip(low - space, high + space, strict=True)))
    return across, up
