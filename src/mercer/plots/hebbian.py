"""Figures of Hebbian learning: how the modes of a neuron's weights die out, and what does not."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_MODES = 5  # lines that an eye tells apart
_LOWEST = 1e-3  # of the ratios drawn: far below the noise that a constant gain leaves
_DASHES = (0, (4, 2))


def mode_decay(
    weights: npt.ArrayLike,  # (m, p), the weight vector at m times
    times: npt.ArrayLike,  # (m,), the number of steps before each
    eigenvalues: npt.ArrayLike,  # (p,), of the correlation matrix of the samples, descending
    eigenvectors: npt.ArrayLike,  # (p, p), one a column
    gain: float,
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw how a run of Oja's rule with a small constant gain follows its differential equation [lecture_notes].

    With theta_k the coordinates of the weights along the eigenvectors: on the left the ratios theta_k / theta_1, which
    should fall as exp(-(lambda_1 - lambda_k) gain t); on the right the Lyapunov function (theta_1^2 - 1)^2.
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

    theta_k(t) = theta_k(0) e^(lambda_k t) / sqrt(1 + sum_l theta_l(0)^2 (e^(2 lambda_l t) - 1)); all exponents are
    taken relative to the largest, so that late times do not overflow.
    """
    top = eigenvalues.max()
    grown = start * np.exp(np.outer(times, eigenvalues - top))
    scale = np.exp(-2.0 * top * times)
    return np.asarray(grown / np.sqrt((1.0 - start @ start) * scale + (grown**2).sum(axis=1))[:, None])


def _draw_ratios(panel: Any, steps: Array, theta: Array, smooth: Array, expected: Array) -> None:
    from matplotlib import colormaps
    from matplotlib.patheffects import withStroke

    axes = plain_axes(panel, "All modes but the first die out", "step $t$", r"$|\theta_k / \theta_1|$")
    modes = range(1, min(theta.shape[1], _MOST_MODES + 1))
    colours = colormaps["viridis"](np.linspace(0.1, 0.75, len(modes)))
    for k, colour in zip(modes, colours, strict=True):
        ratio, theory = (np.abs(path[:, k] / path[:, 0]) for path in (theta, expected))
        axes.plot(steps, ratio, color=colour, linewidth=1.2, alpha=0.85)
        axes.plot(smooth, theory, color=colour, linewidth=1.2, linestyle=_DASHES)
        last = np.flatnonzero(theory >= _LOWEST)[-1]
        at_edge = last == len(smooth) - 1  # beside the axes, away from all lines; else where the line leaves them
        axes.annotate(
            f"$k = {k + 1}$",
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
    _explain_lines(axes, r"$\propto e^{-(\lambda_1 - \lambda_k)\,\eta t}$")


def _draw_lyapunov(panel: Any, steps: Array, theta: Array, smooth: Array, expected: Array) -> None:
    title = "The Lyapunov function falls: the first mode stays"
    axes = plain_axes(panel, title, "step $t$", r"$V(t) = (\theta_1^2 - 1)^2$")
    axes.plot(steps, (theta[:, 0] ** 2 - 1.0) ** 2, color=ACCENT, linewidth=1.4)
    axes.plot(smooth, (expected[:, 0] ** 2 - 1.0) ** 2, color=INK, linewidth=1, linestyle=_DASHES)
    axes.set_ylim(0, None)
    axes.margins(x=0)
    _explain_lines(axes, "differential equation")


def _explain_lines(axes: Any, theory: str) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=INK, linewidth=1.2, linestyle=style) for style in ("-", _DASHES)]
    axes.legend(lines, ["Oja's rule", theory], frameon=False, fontsize=8, loc="upper right", labelcolor=INK)
