"""Figures that only the experiments need, drawn on the canvas of `mercer.plots`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mercer.plots.canvas import INK, canvas, logarithmic, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("#1f77b4", "#d1495b", "#2e8b57", "#e08e0b", "#6a4c93", "#222222")


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
    """Draw named curves, (x, y) each, with a legend; earlier ones are thicker, so that equal curves are all visible."""
    for place, ((name, (x, y)), colour) in enumerate(zip(curves.items(), COLOURS * 3, strict=False)):
        axes.plot(x, y, label=name, color=colour, linewidth=max(1.3, 2.5 - 0.4 * place))
    logarithmic(axes, x=log_x, y=log_y)
    axes.grid(True, alpha=0.3)
    axes.legend(frameon=False, fontsize=8, labelcolor=INK)


def pictures(named: Mapping[str, Any], *, size: float = 3.2, low: float = 0.0, high: float = 255.0) -> "Figure":
    """Draw grey pictures side by side, each with its name above."""
    title_lines = 1 + max(name.count("\n") for name in named)
    figure = canvas(None, size * len(named), size + 0.2 + 0.2 * title_lines)
    for axes, (name, picture) in zip(figure.subplots(1, len(named), squeeze=False)[0], named.items(), strict=True):
        axes.imshow(picture, cmap="gray", vmin=low, vmax=high)
        axes.set_title(name, fontsize=9, color=INK)
        axes.set_axis_off()
    return figure
