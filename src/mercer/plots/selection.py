"""The figure of a selection: scores of all candidates over the width of the kernel."""

from typing import TYPE_CHECKING, Any

from mercer.plots.canvas import INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def selection(found: Any, *, figure: "Figure | None" = None) -> "Figure":
    """Draw the scores of a selection over the width of the kernel, one line per number of components.

    The choice is marked by a ring. Kernels without a width, such as the linear one, are dashed lines at the height of
    their best score, or in black at that of the choice. Where several scalings were compared, the lines are those of
    the chosen one. If no Gaussian kernel was compared, scores are drawn over the number of components.

    Parameters
    ----------
    found : Selection
        What `mercer.select` returned.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.select : Chooses kernel, width and number of components.
    mercer.Selection : What `mercer.select` returns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> figure = mercer.plots.selection(mercer.select(load_iris().data, random_state=0))
    >>> figure.axes[0].get_xlabel()
    'gamma / gamma of the median distance'
    """
    figure = canvas(figure, 7, 4.2)
    table = found.table if isinstance(found.table, list) else found.table.to_dict("records")
    chosen = next(row for row in table if row["chosen"])
    shown = [row for row in table if row["standardize"] == chosen["standardize"]]
    axes = plain_axes(figure, _title(found, chosen, len(shown) < len(table)), "", f"score: {found.measured}")
    axes.yaxis.label.set_size(8)
    wide = [row for row in shown if row["kernel"] == "rbf"]
    flat = [row for row in shown if row["kernel"] != "rbf"]
    if wide:
        _over_widths(axes, wide)
        _levels(axes, flat)
    else:
        _over_components(axes, flat)
    low, high = (f(max(row["score"], 0.0) for row in shown) for f in (min, max))
    axes.set_ylim(low - 0.05 * (high - low) - 1e-3, high + 0.08 * (high - low) + 1e-3)
    title = "components" if wide else "kernel"
    axes.legend(fontsize=8, frameon=False, title=title, title_fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _title(found: Any, chosen: dict[str, Any], scaled: bool) -> str:
    gamma = f", gamma = {chosen['gamma']:.3g}" if chosen["kernel"] != "linear" else ""
    counted = "1 component" if chosen["n_components"] == 1 else f"{chosen['n_components']} components"
    scaling = f", standardize={chosen['standardize']!r}" if scaled else ""
    return f"Settings for {found.purpose}: {chosen['kernel']}{gamma}, {counted}{scaling}"


def _over_widths(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw scores over the width, or over gamma if no widths were given, one line per number of components."""
    relative = all(row["width"] is not None and row["width"] == row["width"] for row in rows)
    key = "width" if relative else "gamma"
    axes.set_xlabel("gamma / gamma of the median distance" if relative else "gamma", fontsize=9)
    axes.set_xscale("log")
    if relative:
        widths = sorted({row["width"] for row in rows})
        axes.set_xticks(widths, [_fraction(width) for width in widths])
        axes.minorticks_off()
    counts = sorted({row["n_components"] for row in rows})
    for count, color in zip(counts, _colors(len(counts)), strict=True):
        _line(axes, [row for row in rows if row["n_components"] == count], key, color, f"{count}")


def _over_components(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw scores over the number of components, one line per kernel."""
    axes.set_xlabel("components", fontsize=9)
    axes.set_xscale("log", base=2)
    counts = sorted({row["n_components"] for row in rows})
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    kernels = sorted({row["kernel"] for row in rows})
    for kernel, color in zip(kernels, _colors(len(kernels)), strict=True):
        _line(axes, [row for row in rows if row["kernel"] == kernel], "n_components", color, kernel)


def _line(axes: Any, rows: list[dict[str, Any]], key: str, color: Any, label: str) -> None:
    """Draw the scores of some candidates with their standard errors, and a ring around the choice."""
    own = sorted(rows, key=lambda row: row[key])
    x, y, errors = ([row[name] for row in own] for name in (key, "score", "standard_error"))
    axes.errorbar(x, y, yerr=errors, fmt=".-", ms=5, lw=1.3, elinewidth=0.7, color=color, label=label)
    for row in own:
        if row["chosen"]:
            axes.plot(row[key], row["score"], "o", ms=13, mfc="none", mew=2, color=INK, zorder=5)


def _levels(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw the score of each kernel without a width: that of the choice, or the best."""
    for kernel in sorted({row["kernel"] for row in rows}):
        own = [row for row in rows if row["kernel"] == kernel]
        best = max(own, key=lambda row: (row["chosen"], float(row["score"])))
        mark = {"color": INK, "lw": 2} if best["chosen"] else {"color": PALE, "lw": 1.3}
        dashes = "--" if kernel == "linear" else "-."
        label = f"{best['n_components']}, {kernel}{' (chosen)' if best['chosen'] else ''}"
        axes.axhline(best["score"], linestyle=dashes, label=label, **mark)


def _colors(count: int) -> list[Any]:
    """Return colours from light to dark, which are told apart in grey, too."""
    from matplotlib import colormaps

    return [colormaps["viridis"](0.92 - 0.82 * place / max(count - 1, 1)) for place in range(count)]


def _fraction(width: float) -> str:
    inverse = 1.0 / width
    return f"1/{inverse:g}" if width < 1 and abs(inverse - round(inverse)) < 1e-9 else f"{width:g}"
