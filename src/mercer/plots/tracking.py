"""Figures of tracked objects, and of how well sets are told apart."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.plots.canvas import ACCENT, INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOUND, _TRUE = "#ff9f1c", "#2ec4b6"  # bright on grey pictures, and told apart by lightness too
_LINES = (ACCENT, "#d1495b", "#2e8b57", "#8a6d3b", INK)


def track_strip(
    frames: npt.ArrayLike,  # (n, height, width) or (n, height, width, 3)
    boxes: npt.ArrayLike,  # (n, 4): x, y, w, h
    truth: npt.ArrayLike | None = None,  # (n, 4)
    *,
    count: int = 12,
    columns: int = 6,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw some frames, evenly spread from the first to the last, with the boxes found and, dashed, the true ones."""
    pictures, found = np.asarray(frames), np.asarray(boxes, np.float64)
    if len(pictures) != len(found) or found.ndim != 2 or found.shape[1] != 4:
        raise ValueError(f"{len(pictures)} frames need as many boxes, one row x, y, w, h each; got {found.shape}.")
    real = None if truth is None else np.asarray(truth, np.float64)
    shown = np.unique(np.linspace(0, len(pictures) - 1, count).round().astype(int))
    columns = min(columns, len(shown))
    lines = -(-len(shown) // columns)
    height = 2.0 * pictures.shape[1] / pictures.shape[2] + 0.25
    figure = canvas(figure, 2.0 * columns, height * lines)
    for axes in (grid := figure.subplots(lines, columns, squeeze=False)).flat:
        axes.set_axis_off()
    for axes, i in zip(grid.flat, shown, strict=False):
        axes.imshow(pictures[i], cmap="gray")
        axes.set_title(f"frame {i}", loc="left", fontsize=8, color=INK, pad=2)
        if real is not None and np.isfinite(real[i]).all():
            _outline(axes, real[i], _TRUE, "--")
        _outline(axes, found[i], _FOUND, "-")
    return figure


def _outline(axes: Any, box: npt.NDArray[np.float64], color: str, style: str) -> None:
    x, y, w, h = box
    x, y = x - 0.5, y - 0.5  # a picture is drawn with pixel (0, 0) around the origin
    across, down = [x, x + w, x + w, x, x], [y, y, y + h, y + h, y]
    axes.plot(across, down, style, color=color, linewidth=1.4, scalex=False, scaley=False)


def roc_curves(
    curves: Mapping[str, Any],  # name to what has `false_accepts`, `true_accepts`, `area`
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw ROC curves of verification, best first in the legend [chin2007, figure 6(a)]."""
    order = sorted(curves, key=lambda name: -curves[name].area)
    title = "Right and wrong acceptances, over all thresholds"
    axes = plain_axes(canvas(figure, 5.2, 4.2), title, "false accepts", "true accepts")
    axes.plot([0, 1], [0, 1], color=PALE, linewidth=0.8)
    for number, name in enumerate(order):
        curve = curves[name]
        axes.plot(
            curve.false_accepts,
            curve.true_accepts,
            color=_LINES[number % len(_LINES)],
            linestyle=("-", "--", "-.", ":")[number % 4],
            linewidth=1.6,
            label=f"{name}, area {curve.area:.4f}",
        )
    axes.set_xlim(-0.01, 1.0)
    axes.set_ylim(0.0, 1.01)
    axes.legend(frameon=False, fontsize=8, loc="lower right", labelcolor=INK)
    return axes.figure  # type: ignore[no-any-return]
