"""Figures of tracked objects, and ROC curves of verification."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.plots.canvas import ACCENT, INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOUND, _TRUE = "#ff9f1c", "#2ec4b6"  # bright on grey images, and of different lightness
_LINES = (ACCENT, "#d1495b", "#2e8b57", "#8a6d3b", INK)


def track_strip(
    frames: npt.ArrayLike,  # (n, height, width) or (n, height, width, 3)
    boxes: npt.ArrayLike,  # (n, 4): x, y, w, h
    truth: npt.ArrayLike | None = None,  # (n, 4)
    *,
    count: int = 12,
    columns: int = 4,
    numbers: npt.ArrayLike | None = None,  # (n,)
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw some frames of a video with the boxes found and, dashed, the true ones.

    The frames are evenly spread from the first to the last.

    Parameters
    ----------
    frames : array-like of shape (n_frames, height, width) or (n_frames, height, width, 3)
        The video, grey or in colour.
    boxes : array-like of shape (n_frames, 4)
        The box found in each frame: x, y, width, height, in pixels.
    truth : array-like of shape (n_frames, 4) or None, default=None
        The true boxes; rows with NaN are not drawn. None: not known.
    count : int, default=12
        The number of frames to draw.
    columns : int, default=4
        The number of frames beside each other.
    numbers : array-like of shape (n_frames,) or None, default=None
        The numbers of the frames, for their titles. None: 0, 1, 2 and so on.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    ValueError
        If there is not one box per frame.

    See Also
    --------
    mercer.AppearanceTracker : Following an object in a video.
    image_grid : Rows of images.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import plots
    >>> frames = np.random.default_rng(0).uniform(size=(8, 30, 40))
    >>> boxes = np.tile([10, 8, 12, 12], (8, 1))
    >>> figure = plots.track_strip(frames, boxes, count=4)
    >>> len(figure.axes)
    4
    """
    pictures, found = np.asarray(frames), np.asarray(boxes, np.float64)
    if len(pictures) != len(found) or found.ndim != 2 or found.shape[1] != 4:
        raise ValueError(f"{len(pictures)} frames need as many boxes, one row x, y, w, h each; got {found.shape}.")
    real = None if truth is None else np.asarray(truth, np.float64)
    shown = np.unique(np.linspace(0, len(pictures) - 1, count).round().astype(int))
    titles = np.arange(len(pictures)) if numbers is None else np.asarray(numbers)
    columns = min(columns, len(shown))
    lines = -(-len(shown) // columns)
    height = 2.0 * pictures.shape[1] / pictures.shape[2] + 0.3
    figure = canvas(figure, 2.0 * columns, height * lines)
    for axes in (grid := figure.subplots(lines, columns, squeeze=False)).flat:
        axes.set_axis_off()
    for axes, i in zip(grid.flat, shown, strict=False):
        axes.imshow(pictures[i], cmap="gray")
        axes.set_title(f"frame {titles[i]}", loc="left", fontsize=12, color=INK, pad=3)
        if real is not None and np.isfinite(real[i]).all():
            _outline(axes, real[i], _TRUE, "--")
        _outline(axes, found[i], _FOUND, "-")
    return figure


def _outline(axes: Any, box: npt.NDArray[np.float64], color: str, style: str) -> None:
    """Draw the outline of one box."""
    x, y, w, h = box
    x, y = x - 0.5, y - 0.5  # an image is drawn with the centre of pixel (0, 0) at the origin
    across, down = [x, x + w, x + w, x, x], [y, y, y + h, y + h, y]
    axes.plot(across, down, style, color=color, linewidth=1.8, scalex=False, scaley=False)


def roc_curves(
    curves: Mapping[str, Any],  # name to what has `false_accepts`, `true_accepts`, `area`
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw ROC curves of verification, the best first in the legend.

    Figure 6(a) of [chin2007]_ is of this kind.

    Parameters
    ----------
    curves : mapping of str to object
        Curves by name: objects with `false_accepts`, `true_accepts` and `area`, such as those of
        `KernelMutualSubspace`.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.KernelMutualSubspace : Recognition by sets of images.
    precision_recall : How well detectors rank outliers.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from mercer import plots
    >>> curve = SimpleNamespace(false_accepts=[0, 0.1, 1], true_accepts=[0, 0.9, 1], area=0.9)
    >>> figure = plots.roc_curves({"faces": curve})
    >>> figure.axes[0].get_xlabel()
    'false accepts'
    """
    order = sorted(curves, key=lambda name: -curves[name].area)
    figure = canvas(figure, 5.2, 4.2)
    title = "Right and wrong acceptances, over all thresholds"
    axes = plain_axes(figure, title, "false accepts", "true accepts")
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
    return figure
