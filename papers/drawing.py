"""Figures that only the experiments need, drawn on the canvas of `mercer.plots`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mercer.plots.canvas import INK, canvas, logarithmic, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1f77b4", "#d1495b", "#2e8b57", "#e08e0b", "#6a4c93", "#222222")
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (7, 1.5, 1.5, 1.5)), (0, (3, 1.5, 1, 1.5, 1, 1.5)), (0, (9, 2)))
_MARKS = "osD^vP"
_FEW = 15  # points of a curve that are marked one by one
_INSIDE = 3  # names that fit inside of a panel; more are written below it


def panels(
    titles: Sequence[tuple[str, str, str]], *, columns: int | None = None, width: float = 4.6, height: float = 3.5
) -> tuple["Figure", list[Any]]:
    """Return a figure with panels, each given by title, x label and y label, `columns` per row (default: all)."""
    across = columns or len(titles)
    down = -(-len(titles) // across)
    figure = canvas(None, width * across, height * down)
    parts = figure.subfigures(down, across, squeeze=False).ravel()
    return figure, [plain_axes(part, *texts) for part, texts in zip(parts, titles, strict=False)]


def lines(axes: Any, curves: Mapping[str, tuple[Any, Any]], *, log_x: bool = False, log_y: bool = False) -> None:
    """Draw named curves, (x, y) each, with a legend; that of more than three curves stands below the panel.

    Curves differ in colour, dashes and marks. Earlier ones are thicker, so that equal curves are all visible.
    """
    for place, (name, (x, y)) in enumerate(curves.items()):
        kind = place % len(COLOURS)
        axes.plot(
            x,
            y,
            label=name,
            color=COLOURS[kind],
            linestyle=DASHES[kind],
            marker=_MARKS[kind] if len(x) <= _FEW else None,
            markersize=4,
            linewidth=max(1.3, 2.5 - 0.4 * place),
        )
    logarithmic(axes, x=log_x, y=log_y)
    axes.grid(True, alpha=0.3)
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.17), "ncols": 3} if len(curves) > _INSIDE else {}
    axes.legend(frameon=False, fontsize=8, labelcolor=INK, handlelength=3.5, **below)


def directions(axes: Any) -> None:
    """Make straight lines through the origin differ, also those that lie on each other, and keep them below points."""
    for place, line in enumerate(axes.get_lines()):
        kind = place % len(COLOURS)
        line.set(color=COLOURS[kind], linestyle=DASHES[kind], linewidth=max(1.6, 7.0 - 3.8 * place), zorder=0.5)
        line.set_alpha(0.3 if place == 0 else None)  # the thickest one is pale: points and other lines stay visible
    axes.legend(frameon=False, fontsize=8, handlelength=4, loc="center left", bbox_to_anchor=(1.0, 0.5))


def pictures(named: Mapping[str, Any], *, size: float = 3.2, low: float = 0.0, high: float = 255.0) -> "Figure":
    """Draw grey pictures side by side, each with its name above."""
    title_lines = 1 + max(name.count("\n") for name in named)
    figure = canvas(None, size * len(named), size + 0.2 + 0.2 * title_lines)
    for axes, (name, picture) in zip(figure.subplots(1, len(named), squeeze=False)[0], named.items(), strict=True):
        axes.imshow(picture, cmap="gray", vmin=low, vmax=high)
        axes.set_title(name, fontsize=9, color=INK)
        axes.set_axis_off()
    return figure
