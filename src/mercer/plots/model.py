"""Figures of a fitted model: the scores of rows, and the eigenvalues."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer.plots.canvas import ACCENT, INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CLASSES = 10  # colours that are easy to distinguish
_ROOM = 0.2  # of the axis: the least height in which a text does not touch what is above and below it


def scores(
    estimator: Any,
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    components: tuple[int, int] = (1, 2),
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw the rows by their scores on two components, coloured by class or by value.

    Parameters
    ----------
    estimator : estimator
        A fitted model with `transform`.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,) or None, default=None
        A class or a number per row, shown by colour. Texts, and up to ten different numbers, are drawn as classes, each
        with its name; more numbers are drawn on a colour scale. Rows with None or NaN are left out. None: one colour
        for all rows.
    components : tuple of two int, default=(1, 2)
        The components on the horizontal and on the vertical axis. The first component is number 1.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    spectrum : What each component explains.
    score_contours : Components as functions of the plane.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = mercer.KernelPCA(3, kernel="rbf").fit(X)
    >>> figure = mercer.plots.scores(model, X, X[:, 0] > 0)
    >>> figure.axes[0].get_xlabel()
    'component 1'
    """
    projected = _two_columns(np.asarray(estimator.transform(X)), components)
    figure = canvas(figure, 5, 4)
    first, second = components
    axes = plain_axes(figure, f"{len(projected):,} rows by two components", f"component {first}", f"component {second}")
    if y is None:
        axes.scatter(*projected.T, s=8, alpha=0.7, color=ACCENT, linewidths=0)
        return figure
    labels = np.asarray(y)
    if labels.shape != (len(projected),):
        raise ValueError(f"y needs one value for each of the {len(projected)} rows of X; its shape is {labels.shape}.")
    classes = np.unique([label for label in labels if label is not None and label == label])
    if len(classes) <= _MOST_CLASSES or isinstance(classes[0], str):
        _by_class(axes, projected, labels, classes)
    else:
        figure.colorbar(axes.scatter(*projected.T, s=8, c=labels, linewidths=0), ax=axes)
    return figure


def _two_columns(projected: Any, components: tuple[int, int]) -> Any:
    """Return the scores of two components, which are counted from 1."""
    count = projected.shape[1]
    wrong = [number for number in components if not 1 <= number <= count]
    if wrong:
        raise ValueError(
            f"components must be numbers from 1, the first component, to {count}, the last one; got {wrong[0]}."
        )
    return projected[:, [number - 1 for number in components]]


def _by_class(axes: Any, projected: Any, labels: Any, classes: Any) -> None:
    """Colour each class and write its name at its median, so that no legend is needed."""
    from matplotlib import colormaps
    from matplotlib.patheffects import withStroke

    count = len(classes)
    few = count <= _MOST_CLASSES
    colours = colormaps["tab10"](np.arange(count)) if few else colormaps["turbo"](np.linspace(0, 1, count))
    for name, colour in zip(classes, colours, strict=False):
        axes.scatter(*projected[labels == name].T, s=8, alpha=0.5, color=colour, linewidths=0)
    for name, colour in zip(classes, colours, strict=False):
        axes.text(
            *np.median(projected[labels == name], axis=0),
            str(name),
            color=colour,
            fontsize=13,
            fontweight="bold",
            ha="center",
            va="center",
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )


def spectrum(estimator: Any, *, figure: "Figure | None" = None) -> "Figure":
    """Draw the share of the variance that each component explains, and the cumulative sum.

    Parameters
    ----------
    estimator : estimator
        A fitted model with `explained_variance_ratio_`.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    TypeError
        If the model has no `explained_variance_ratio_`.
    ValueError
        If the model has no components.

    See Also
    --------
    scores : Rows by two components.
    mercer.metrics.total_explained_variation : What the components explain of what as many could explain.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> model = mercer.KernelPCA(3, kernel="rbf").fit(X)
    >>> figure = mercer.plots.spectrum(model)
    >>> figure.axes[0].get_xlabel()
    'component'
    """
    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    if not hasattr(estimator, "explained_variance_ratio_"):
        raise TypeError(f"spectrum needs a model with explained_variance_ratio_; {type(estimator).__name__} has none.")
    shares = np.asarray(estimator.explained_variance_ratio_)
    if len(shares) == 0:
        raise ValueError("The model has no components, because its training rows are all equal; nothing can be drawn.")
    figure = canvas(figure, 5, 3)
    sums = np.cumsum(shares)
    count = "1 component holds" if len(shares) == 1 else f"{len(shares)} components hold"
    title = f"{count} {sums[-1]:.0%} of the variance"
    axes = plain_axes(figure, title, "component", "share of the variance")
    numbers = np.arange(1, len(shares) + 1)
    axes.fill_between(numbers, sums, color=PALE, alpha=0.4, linewidth=0)
    axes.plot(numbers, shares, "o-", markersize=3, linewidth=1, color=ACCENT)
    middle = (len(shares) - 1) // 2
    axes.annotate(
        "each", (numbers[middle], shares[middle]), (4, 4), textcoords="offset points", fontsize=8, color=ACCENT
    )
    if len(shares) > 1:
        _name_sum(axes, numbers[-1], shares[-1], sums[-1])
    axes.set_ylim(0, 1)
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    return figure


def _name_sum(axes: Any, x: float, share: float, total: float) -> None:
    """Write what the grey area is: in its middle, or above it where it is too low for a text."""
    room = total - share > _ROOM
    axes.annotate(
        "sum so far",
        (x, (share + total) / 2 if room else total),
        (-8, 0) if room else (0, 4),
        textcoords="offset points",
        ha="right",
        va="center" if room else "bottom",
        fontsize=8,
        color=INK,
    )
