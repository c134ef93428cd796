"""The figure of a selection: scores of all candidates over the width of the kernel."""

from typing import TYPE_CHECKING, Any

from mercer.plots.canvas import ACCENT, INK, PALE, canvas, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def selection(found: Any, *, figure: "Figure | None" = None) -> "Figure":
    """Draw the scores of a selection over the width of the kernel, one line per number of components.

    Kernels without a width, such as the linear one, are dashed lines at the height of their best score. Where several
    scalings were compared, the lines are those of the chosen one.

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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mercer
    >>> figure = mercer.plots.selection(mercer.select(load_iris().data, random_state=0))
    >>> figure.axes[0].get_xlabel()
    "gamma, in units of the median distance's"
    """
    figure = canvas(figure, 7, 4.2)
    table = found.table if isinstance(found.table, list) else found.table.to_dict("records")
    chosen = next(row for row in table if row["chosen"])
    shown = [row for row in table if row["standardize"] == chosen["standardize"]]
    relative = any(row["width"] == row["width"] and row["width"] is not None for row in shown)
    label = "gamma, in units of the median distance's" if relative else "gamma"
    axes = plain_axes(figure, f"Settings for {found.purpose}", label, f"score: {found.measured}")
    key = "width" if relative else "gamma"
    wide = [row for row in shown if row["kernel"] == "rbf"]
    _lines(axes, wide, key)
    _levels(axes, [row for row in shown if row["kernel"] != "rbf"])
    if chosen["kernel"] == "rbf":
        axes.plot(chosen[key], chosen["score"], "o", markersize=12, markerfacecolor="none", color=ACCENT, mew=2)
    low, high = (f(max(row["score"], 0.0) for row in shown) for f in (min, max))
    axes.set_ylim(low - 0.05 * (high - low) - 1e-3, high + 0.08 * (high - low) + 1e-3)
    axes.legend(
        fontsize=7, frameon=False, title="components", title_fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure


def _lines(axes: Any, rows: list[dict[str, Any]], key: str) -> None:
    if not rows:
        return
    axes.set_xscale("log", base=2)
    counts = sorted({row["n_components"] for row in rows})
    for place, count in enumerate(counts):
        own = sorted((row for row in rows if row["n_components"] == count), key=lambda row: row[key])
        shade = 0.25 + 0.75 * (place + 1) / len(counts)
        axes.plot([row[key] for row in own], [row["score"] for row in own], "-", lw=1.2, alpha=shade, color=INK)
        axes.errorbar(
            [row[key] for row in own],
            [row["score"] for row in own],
            yerr=[row["standard_error"] for row in own],
            fmt=".",
            ms=3 + 1.2 * place,
            lw=0.8,
            alpha=shade,
            color=INK,
            label=f"{count}",
        )


def _levels(axes: Any, rows: list[dict[str, Any]]) -> None:
    """Draw the best score of each kernel without a width."""
    for kernel in sorted({row["kernel"] for row in rows}):
        best = max((row for row in rows if row["kernel"] == kernel), key=lambda row: float(row["score"]))
        chosen = any(row["chosen"] for row in rows if row["kernel"] == kernel)
        axes.axhline(
            best["score"],
            color=ACCENT if chosen else PALE,
            linestyle="--",
            label=f"{kernel}, {best['n_components']}{' (chosen)' if chosen else ''}",
        )
