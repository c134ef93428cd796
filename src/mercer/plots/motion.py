"""Figures of motions: joints and bones, frame by frame."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, PALE, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Motions = Mapping[str, npt.ArrayLike]  # each (frames, 3 joints): x, y, z of joint 0, of joint 1, ...


def stick_figures(
    rows: Motions,
    parents: npt.ArrayLike,  # (joints,), the joint that each is attached to; -1 or itself for the root
    *,
    behind: npt.ArrayLike | None = None,  # (frames, 3 joints), drawn pale behind every row
    azimuth: float = 50.0,
    size: float = 1.6,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw frames of motions as stick figures, one row per motion.

    Figure 4 of [guenter2006]_ is of this kind. The second coordinate of a joint points up.

    Parameters
    ----------
    rows : mapping of str to array-like of shape (n_frames, 3 * n_joints)
        Motions by name. A row holds x, y, z of joint 0, then of joint 1, and so on.
    parents : array-like of int, of shape (n_joints,)
        The joint to which each joint is attached; -1 or the joint itself for the root.
    behind : array-like of shape (n_frames, 3 * n_joints) or None, default=None
        A motion drawn pale behind every row, such as the true one. None: nothing.
    azimuth : float, default=50.0
        The angle by which the body is turned around the vertical axis, in degrees. 0 looks along the third coordinate,
        90 along the first.
    size : float, default=1.6
        The height of a frame, in inches.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    Raises
    ------
    ValueError
        If there is no motion, or its shape does not fit the number of joints.

    See Also
    --------
    mercer.denoise : Removes noise from rows.
    image_grid : Rows of images.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import plots
    >>> frames = np.random.default_rng(0).normal(size=(4, 9))
    >>> figure = plots.stick_figures({"three joints": frames}, [-1, 0, 1])
    >>> len(figure.axes)
    4
    """
    bones = _bones(parents)
    motions = {name: _seen(frames, len(np.asarray(parents)), azimuth) for name, frames in rows.items()}
    if not motions:
        raise ValueError("There is nothing to draw: give at least one motion.")
    truth = None if behind is None else _seen(behind, len(np.asarray(parents)), azimuth)
    most = max(len(frames) for frames in motions.values())
    figure = canvas(figure, 1.4 + 0.75 * size * most, size * len(rows))
    grid = figure.subplots(len(rows), most, squeeze=False, sharex=True, sharey=True)
    for axes_row, (name, frames) in zip(grid, motions.items(), strict=True):
        for axes in axes_row:
            axes.set_axis_off()
            axes.set_aspect("equal")
        for k, (axes, frame) in enumerate(zip(axes_row, frames, strict=False)):
            if truth is not None and k < len(truth):
                _draw(axes, truth[k], bones, PALE, 2.6)
            _draw(axes, frame, bones, ACCENT, 1.1)
        axes_row[0].text(
            -0.15, 0.5, name, transform=axes_row[0].transAxes, ha="right", va="center", fontsize=10, color=INK
        )
    return figure


def _bones(parents: npt.ArrayLike) -> list[tuple[int, int]]:
    """Return the pairs of joints that are connected by a line."""
    numbers = np.asarray(parents)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (len(numbers) and numbers.max() >= len(numbers)):
        raise ValueError(
            f"parents must hold one joint number for each joint, -1 for the root; got {numbers.dtype} of shape "
            f"{numbers.shape}."
        )
    return [(joint, int(parent)) for joint, parent in enumerate(numbers) if parent >= 0 and parent != joint]


def _seen(frames: npt.ArrayLike, joints: int, azimuth: float) -> Array:
    """Return the coordinates after the rotation and the projection, (frames, joints, 2)."""
    given = np.asarray(frames, np.float64)
    if given.ndim != 2 or given.shape[1] != 3 * joints:
        raise ValueError(
            f"A motion of {joints} joints has {3 * joints} columns, and a row for each frame; this one has the shape "
            f"{given.shape}. For a single frame pass frame[None]."
        )
    x, up, z = np.moveaxis(given.reshape(len(given), joints, 3), 2, 0)
    turn = np.deg2rad(azimuth)
    return np.stack([np.cos(turn) * x + np.sin(turn) * z, up], axis=2)


def _draw(axes: Any, joints: Array, bones: list[tuple[int, int]], colour: str, width: float) -> None:
    """Draw the bones of one frame."""
    for a, b in bones:
        axes.plot(*joints[[a, b]].T, color=colour, linewidth=width, solid_capstyle="round")
