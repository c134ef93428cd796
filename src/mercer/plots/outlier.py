"""Figures of outlier detection: scores on two components with a boundary, control charts, precision and recall."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WARM = "#d1495b"
_MARKS = ("o", "^", "s")  # normal rows, outliers by size, outliers by pattern: as in [kim2019]
_COLOURS = (ACCENT, _WARM, "#edae49")
_NAMES = ("normal", "outliers by size", "outliers by pattern")


def principal_spaces(
    models: Mapping[str, Any],  # fitted models by name; two components are drawn
    X: Any,
    kinds: npt.ArrayLike,  # (n,), 0 for a normal row, 1 and 2 for outliers
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw rows by two components, with the smallest circle that contains all normal rows.

    Components are in units of their standard deviations, so that the boundary of rule 28 of [kim2019]_ is a circle. An
    outlier inside the circle cannot be found by this rule without false alarms. There is one panel per model, as in
    figures 5 and 7 of that paper.

    Parameters
    ----------
    models : mapping of str to estimator
        Fitted models by name. Their first two components are drawn.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    kinds : array-like of shape (n_samples,)
        The kind of each row: 0 for a normal row, 1 for an outlier by size, 2 for an outlier by pattern.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.L1KernelPCA : Components that maximise sums of absolute scores.
    precision_recall : How well detectors rank outliers.

    References
    ----------
    .. [kim2019] C. Kim and D. Klabjan, A simple and fast algorithm for L1-norm kernel PCA, IEEE Transactions on Pattern
       Analysis and Machine Intelligence, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = mercer.KernelPCA(3, kernel="rbf").fit(X)
    >>> kinds = np.where(np.abs(X).max(axis=1) > 2.5, 1, 0)
    >>> figure = mercer.plots.principal_spaces({"kernel PCA": model}, X, kinds)
    >>> len(figure.axes)
    1
    """
    figure, kinds = canvas(figure, 2.7 * len(models), 3.1), np.asarray(kinds)
    for i, (name, model) in enumerate(models.items()):
        axes = figure.add_subplot(1, len(models), i + 1)
        scores = np.asarray(model.transform(X))[:, :2]
        spread = scores.std(axis=0)
        standard = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        lengths = np.linalg.norm(standard, axis=1)
        radius = float(lengths[kinds == 0].max(initial=0.0))
        hidden = int((lengths[kinds > 0] <= radius).sum())
        by_kind(axes, standard, kinds)
        _circle(axes, radius)
        _plain(axes, f"{name}: {hidden} of {int((kinds > 0).sum())} inside", "first", "second" if i == 0 else "")
        axes.set_aspect("equal", adjustable="datalim")
    return figure


def control_chart(
    detector: Any,  # a fitted `KernelOutlierDetector`
    X: Any,
    *,
    alpha: float = 0.01,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw the statistics of rows in their order, each with its limit, and mark rows whose p-value is at most alpha.

    The statistics are T2, SPE, and the Mahalanobis distance where the detector uses it. The limits are those of each
    statistic alone. Alarms follow the detector's own score, which may combine all of them.

    Parameters
    ----------
    detector : KernelOutlierDetector
        A fitted detector.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    alpha : float, default=0.01
        The share of false alarms, from 0 to 1.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.KernelOutlierDetector : Alarms for rows without an order.
    monitor : The chart of a process.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> detector = mercer.KernelOutlierDetector().fit(X)
    >>> figure = mercer.plots.control_chart(detector, X, alpha=0.05)
    >>> len(figure.axes)
    3
    """
    values, limits = detector.statistics(X), detector.limits(alpha)
    count = values.shape[1]
    figure = canvas(figure, 8, 2.25 * count)
    alarms = detector.p_values(X) <= alpha
    rows = np.arange(len(values))
    for i, name in enumerate((r"$T^2$", "SPE", "Mahalanobis $D^2$")[:count]):
        axes = figure.add_subplot(count, 1, i + 1)
        axes.plot(rows, values[:, i], "-", color=PALE, linewidth=0.8)
        axes.plot(rows[~alarms], values[~alarms, i], "o", markersize=2.5, color=ACCENT)
        axes.plot(rows[alarms], values[alarms, i], "D", markersize=4, color=_WARM)
        if np.isfinite(limits[i]):
            axes.axhline(limits[i], color=INK, linewidth=0.8, linestyle="--")
            axes.annotate(
                f"limit at {alpha:.2g}", (1.0, limits[i]), (3, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", fontsize=8, va="center",
            )  # fmt: skip
        _plain(
            axes,
            f"{int(alarms.sum())} alarms in {len(rows):,} rows" if i == 0 else "",
            "row" if i == count - 1 else "",
            name,
        )
        axes.margins(x=0.01)
    return figure


def precision_recall(
    scores: Mapping[str, npt.ArrayLike],  # by name: higher is more normal, as `score_samples` gives them
    y: npt.ArrayLike,  # (n,), 1 or True for outliers
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw precision against recall of one or more detectors, with the area under each curve.

    Parameters
    ----------
    scores : mapping of str to array-like of shape (n_samples,)
        The scores of each detector. Higher means more normal, as `score_samples` returns them.
    y : array-like of shape (n_samples,)
        1 or True for outliers.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.KernelOutlierDetector : Alarms for rows without an order.
    principal_spaces : Outliers by two components.

    Examples
    --------
    >>> from mercer import plots
    >>> figure = plots.precision_recall({"perfect": [0.9, 0.8, 0.1]}, [0, 0, 1])
    >>> figure.axes[0].get_title(loc="left")
    '1 outlier in 3 rows'
    """
    from sklearn.metrics import auc, precision_recall_curve

    y = np.asarray(y).astype(bool)
    count = int(y.sum())
    title = f"{count} outlier{'s' * (count != 1)} in {len(y):,} rows"
    figure = canvas(figure, 5, 4)
    axes = plain_axes(figure, title, "recall", "precision")
    for name, values in scores.items():
        precision, recall, _ = precision_recall_curve(y, -np.asarray(values, np.float64))
        axes.plot(recall, precision, linewidth=1.4, label=f"{name}: {auc(recall, precision):.3f}")
    axes.axhline(y.mean(), color=PALE, linewidth=0.8, linestyle="--")
    axes.set(xlim=(0, 1.01), ylim=(0, 1.03))
    axes.legend(frameon=False, fontsize=8, loc="lower left", labelcolor=INK)
    return figure


def by_kind(axes: Any, X: Array, kinds: npt.NDArray[Any]) -> None:
    """Draw two-dimensional rows, each kind with its own mark."""
    for kind, (mark, colour, name) in enumerate(zip(_MARKS, _COLOURS, _NAMES, strict=True)):
        chosen = kinds == kind
        if chosen.any():
            axes.scatter(*X[chosen].T, s=14 if kind == 0 else 34, marker=mark, color=colour, linewidths=0, label=name)


def _circle(axes: Any, radius: float) -> None:
    """Draw a circle around the origin."""
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.plot(radius * np.cos(angle), radius * np.sin(angle), color=INK, linewidth=0.9)


def _plain(axes: Any, title: str, x: str, y: str) -> None:
    """Set a title and labels, with two spines."""
    axes.set_title(title, loc="left", fontsize=9, color=INK)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
