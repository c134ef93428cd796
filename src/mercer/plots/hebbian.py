"""Figures of Hebbian learning: how the coordinates of a weight vector develop."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_MODES = 5  # lines that are easy to distinguish
_LOWEST = 1e-3  # of the ratios drawn: far below the noise that a constant gain leaves
_DASHES = (0, (4, 2))


def mode_decay(
    weights: npt.ArrayLike,  # (m, p), the weight vector at m times
    times: npt.ArrayLike,  # (m,), the number of steps before each
    eigenvalues: npt.ArrayLike,  # (p,), of the correlation matrix of the samples, descending
    eigenvectors: npt.ArrayLike,  # (p, p), one per column
    gain: float,
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw how a run of Oja's rule with a small constant gain follows its differential equation.

    The coordinates of the weights along the eigenvectors are called theta_k ([oja1982]_; [lecture_notes]_). The left
    panel shows the ratios theta_k / theta_1, which should fall as exp(-(lambda_1 - lambda_k) gain t). The right panel
    shows the Lyapunov function (theta_1^2 - 1)^2.

    Parameters
    ----------
    weights : array-like of shape (m, p)
        The weight vector at m times.
    times : array-like of shape (m,)
        The number of steps before each of them.
    eigenvalues : array-like of shape (p,)
        The eigenvalues of the correlation matrix of the samples, descending.
    eigenvectors : array-like of shape (p, p)
        Its eigenvectors, one per column.
    gain : float
        The constant gain of the rule.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.HebbianPCA : Linear PCA learned one row at a time.
    convergence : Errors over passes.

    References
    ----------
    .. [oja1982] E. Oja, A simplified neuron model as a principal component analyzer, Journal of Mathematical Biology
       15, 1982.
    .. [lecture_notes] Kernel PCA, and the Hebbian maximum eigenfilter, lecture notes.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import plots
    >>> weights = [[0.5, 0.5], [0.7, 0.4], [0.9, 0.2]]
    >>> figure = plots.mode_decay(weights, [0, 10, 20], [2.0, 1.0], np.eye(2), gain=0.05)
    >>> len(figure.axes)
    2
    """
    figure = canvas(figure, 10, 3.8)
    theta = np.asarray(weights, np.float64) @ np.asarray(eigenvectors, np.float64)  # (m, p)
    values = np.asarray(eigenvalues, np.float64)
    steps = np.asarray(times, np.float64)
    smooth = np.linspace(steps[0], steps[-1], 400)
    expected = oja_solution(theta[0], values, gain * (smooth - steps[0]))
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1], wspace=0.04, squeeze=False)[0]
    _draw_ratios(left, steps, theta, smooth, expected)
    _draw_lyapunov(right, steps, theta, smooth, expected)
    return figure


def oja_solution(start: Array, eigenvalues: Array, times: Array) -> Array:
    """Return the solution theta(t), (m, p), of d theta_k / dt = lambda_k theta_k - theta_k sum_l lambda_l theta_l^2.

    theta_k(t) = theta_k(0) e^(lambda_k t) / sqrt(1 + sum_l theta_l(0)^2 (e^(2 lambda_l t) - 1)). All exponents are
    taken relative to the largest, so that they do not overflow for large t.
    """
    top = eigenvalues.max()
    grown = start * np.exp(np.outer(times, eigenvalues - top))
    scale = np.exp(-2.0 * top * times)
    return np.asarray(grown / np.sqrt((1.0 - start @ start) * scale + (grown**2).sum(axis=1))[:, None])


def _draw_ratios(panel: Any, steps: Array, theta: Array, smooth: Array, expected: Array) -> None:
    """Draw the ratios of the coordinates to the first, with the expected ones."""
    from matplotlib import colormaps
    from matplotlib.patheffects import withStroke

    ratio_name = r"mode $k$ relative to mode 1:  $|\theta_k / \theta_1|$"
    axes = plain_axes(panel, "All modes but the first decay", "step $t$", ratio_name)
    modes = range(1, min(theta.shape[1], _MOST_MODES + 1))
    colours = colormaps["viridis"](np.linspace(0.1, 0.75, len(modes)))
    for k, colour in zip(modes, colours, strict=True):
        ratio, theory = (np.abs(path[:, k] / path[:, 0]) for path in (theta, expected))
        axes.plot(steps, ratio, color=colour, linewidth=1.2, alpha=0.85)
        axes.plot(smooth, theory, color=colour, linewidth=1.2, linestyle=_DASHES)
        last = np.flatnonzero(theory >= _LOWEST)[-1]
        at_edge = last == len(smooth) - 1  # then the label is beside the axes; otherwise where the line leaves them
        axes.annotate(
            f"mode {k + 1}",
            (smooth[last], theory[last]),
            (5, -3) if at_edge else (-18, 5),
            textcoords="offset points",
            ha="left" if at_edge else "right",
            fontsize=9,
            color=colour,
            annotation_clip=False,
            path_effects=[withStroke(linewidth=3, foreground="white")],
        )
    axes.set_yscale("log")
    axes.set_ylim(_LOWEST, None)
    axes.margins(x=0)
    _explain_lines(axes, r"differential equation: falls as $\exp(-(\lambda_1 - \lambda_k)\,\eta\,t)$")


def _draw_lyapunov(panel: Any, steps: Array, theta: Array, smooth: Array, expected: Array) -> None:
    """Draw the Lyapunov function, with the expected one."""
    title = "The Lyapunov function decreases: the first mode stays"
    axes = plain_axes(panel, title, "step $t$", r"Lyapunov function  $V = (\theta_1^2 - 1)^2$")
    axes.plot(steps, (theta[:, 0] ** 2 - 1.0) ** 2, color=ACCENT, linewidth=1.4)
    axes.plot(smooth, (expected[:, 0] ** 2 - 1.0) ** 2, color=INK, linewidth=1, linestyle=_DASHES)
    axes.set_ylim(0, None)
    axes.margins(x=0)
    _explain_lines(axes, "differential equation")


def _explain_lines(axes: Any, theory: str) -> None:
    """Add a legend that says which lines are measured and which expected."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=INK, linewidth=1.2, linestyle=style) for style in ("-", _DASHES)]
    axes.legend(lines, ["Oja's rule", theory], frameon=False, fontsize=8, loc="upper right", labelcolor=INK)
