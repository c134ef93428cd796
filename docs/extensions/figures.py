"""Pictures of the gallery: figures of pyplot, and those that `mercer.plots` returns, which pyplot does not know."""

from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

_DPI = 160  # twice what a column of the page shows, so that pictures are sharp on phones too


def save_figures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save each figure that a block of an example left behind, once, and return the text that shows them."""
    space = variables["example_globals"]
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    figures += [value for value in space.values() if isinstance(value, Figure) and value not in figures]
    done = space.setdefault("__figures__", [])
    paths = []
    for figure in figures:
        if figure not in done:
            paths.append(variables["image_path_iterator"].next())
            figure.savefig(paths[-1], dpi=_DPI, facecolor="white", bbox_inches="tight", pad_inches=0.15)
            done.append(figure)
    pyplot.close("all")
    return figure_rst(paths, settings["src_dir"]) if paths else ""
