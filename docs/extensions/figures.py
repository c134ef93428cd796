"""Pictures of the gallery: figures of pyplot, and those that `mercer.plots` returns, which pyplot does not know."""

import ast
from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

_DPI = 100  # of the picture for plain screens; one with twice as many pixels is for sharp ones and for phones
_SHARP = 2.0


def save_figures(block: Any, variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save each figure that a block of an example left behind, once, and return the text that shows them."""
    space = variables["example_globals"]
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    figures += [value for value in space.values() if isinstance(value, Figure) and value not in figures]
    done = space.setdefault("__figures__", [])
    paths, sharper = [], []
    for figure in figures:
        if figure not in done:
            paths.append(Path(variables["image_path_iterator"].next()))
            sharp = paths[-1].with_name(f"{paths[-1].stem}_2_00x.png")
            sharper.append({0: str(paths[-1]), _SHARP: str(sharp)})
            _save(figure, paths[-1], _DPI)
            _save(figure, sharp, _SHARP * _DPI)
            done.append(figure)
    pyplot.close("all")
    if not paths:
        return ""
    return figure_rst([str(path) for path in paths], settings["src_dir"], _title(variables["src_file"]), sharper)


def _title(example: str) -> str:
    """Return the title of an example, which describes its pictures to those who cannot see them."""
    return (ast.get_docstring(ast.parse(Path(example).read_text())) or "").strip().partition("\n")[0]


def _save(figure: Figure, path: Path, dpi: float) -> None:
    figure.savefig(path, dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=0.15)
