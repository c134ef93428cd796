"""Figures of rows that are pictures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.plots.canvas import INK, canvas
from mercer.plots.model import scores, spectrum

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Images = Mapping[str, npt.NDArray[Any]]  # each (n, height * width)


def image_grid(
    rows: Images,
    shape: tuple[int, int],
    *,
    ink: bool = True,
    size: float = 0.7,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw rows of pictures below each other, each row with its name, all in the same shades of grey.

    `ink`: large values are dark, as in writing; False: bright, as in photographs. `size`: inches of a picture.
    """
    most = max(len(pictures) for pictures in rows.values())
    figure = canvas(figure, 1.6 + size * most, (size + 0.05) * len(rows))
    # The first row gives the shades, so that noise beyond black and white does not dull the others.
    first = next(iter(rows.values()))
    low, high = float(np.min(first)), float(np.max(first))
    grid = figure.subplots(len(rows), most, squeeze=False, gridspec_kw={"wspace": 0.06, "hspace": 0.06})
    for axes_row, (name, pictures) in zip(grid, rows.items(), strict=True):
        for axes in axes_row:
            axes.set_axis_off()
        for axes, picture in zip(axes_row, pictures, strict=False):
            axes.imshow(np.reshape(picture, shape), cmap="gray_r" if ink else "gray", vmin=low, vmax=high)
        axes_row[0].text(
            -0.15, 0.5, name, transform=axes_row[0].transAxes, ha="right", va="center", fontsize=10, color=INK
        )
    return figure


def denoising(
    rows: Images, shape: tuple[int, int], estimator: Any, X: Any, y: npt.ArrayLike, *, title: str = ""
) -> "Figure":
    """Draw pictures before and after denoising, and below them the model that did it."""
    figure = canvas(None, 10, 0.72 * len(rows) + 4.2)
    halves = figure.subfigures(2, 1, height_ratios=[0.72 * len(rows), 3.8], squeeze=False)[:, 0]
    quarters = halves[1].subfigures(1, 2, squeeze=False)[0]
    image_grid(rows, shape, figure=halves[0])
    scores(estimator, X, y, figure=quarters[0])
    spectrum(estimator, figure=quarters[1])
    figure.suptitle(title, fontsize=12, color=INK, x=0.02, ha="left")
    return figure
