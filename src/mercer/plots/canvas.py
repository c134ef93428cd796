"""The figure and the axes to draw in: new ones, or parts of a given figure."""

from typing import TYPE_CHECKING, Any

from mercer.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEW_DECADES = 100.0  # a logarithmic axis that spans less is labelled with plain numbers
_NARROW = 5.0  # one that spans less has equal steps between its labels: of 1, 2, 3, 5 and 7 there would be too few
INK, ACCENT, PALE = "#222222", "#1f77b4", "#bbbbbb"


def canvas(figure: "Figure | None", width: float, height: float) -> "Figure":
    """Return the given figure, or a new one of this size in inches; it needs no display and no global state."""
    if figure is not None:
        return figure
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "cli", "Drawing figures") from error
    return Figure(figsize=(width, height), layout="constrained")


def picture_formats() -> frozenset[str]:
    """Return the suffixes, without their dot, of the pictures that can be written."""
    return frozenset(canvas(None, 1.0, 1.0).canvas.get_supported_filetypes())


def plain_axes(figure: "Figure", title: str, x: str, y: str) -> Any:
    """Add axes with two spines, labels, and a title."""
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def logarithmic(axes: Any, *, x: bool = False, y: bool = False, nonpositive: str = "clip") -> None:
    """Make axes logarithmic, with plain numbers where they span less than two decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    for wanted, which in ((x, "x"), (y, "y")):
        if not wanted:
            continue
        getattr(axes, f"set_{which}scale")("log", nonpositive=nonpositive)
        low, high = getattr(axes, f"get_{which}lim")()
        if high < _FEW_DECADES * low:
            axis = getattr(axes, f"{which}axis")
            digits = (1.0, 2.0, 3.0, 5.0, 7.0) if high < 10.0 * low else (1.0, 2.0, 5.0)
            axis.set_major_locator(MaxNLocator(5) if high < _NARROW * low else LogLocator(subs=digits))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
