"""The pages of the reference, written from the groups before Sphinx reads them."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from extensions.reference_groups import GROUPS, Group

_INTRO = """\
Every public name, by what you want to do. All estimators follow scikit-learn's conventions: `fit`, `transform` or
`predict`, `get_params`, `set_params`, and `set_output`; they work in pipelines and in `GridSearchCV`.
"""


def _table(names: tuple[str, ...], more: str = "") -> str:
    lines = "".join(f"   ~{name}\n" for name in names)
    return f".. autosummary::\n{more}\n{lines}\n"


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def _page(group: Group) -> str:
    return (
        _heading(group.title, "=")
        + f"{group.text}\n\n"
        + _table(group.names, "   :toctree: generated\n   :nosignatures:\n")
    )


def _index() -> str:
    pages = "".join(f"   {group.key}\n" for group in GROUPS)
    parts = [
        _heading("Reference", "="), _INTRO, f"\n.. toctree::\n   :hidden:\n\n{pages}\n",
        *(
            _heading(f":doc:`{group.title} <{group.key}>`", "-") + _table(group.names, "   :nosignatures:\n")
            for group in GROUPS
        ),
    ]  # fmt: skip
    return "".join(parts)


def write_pages(folder: Path) -> None:
    """Write the pages whose text has changed."""
    folder.mkdir(exist_ok=True)
    for name, text in {"index": _index(), **{group.key: _page(group) for group in GROUPS}}.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _before_reading(app: Sphinx, config: Config) -> None:
    write_pages(Path(app.srcdir) / "reference")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when the settings are known."""
    app.connect("config-inited", _before_reading)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
