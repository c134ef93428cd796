"""The directive `papers`: every figure, table and claim of the works, and what our experiments do differently."""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from papers.catalogue import KEYS, coverage, experiments, paper
from papers.experiment import Experiment


def markdown() -> str:
    """Return the text of the page: one section per work."""
    return "\n\n".join(_section(key) for key in KEYS)


def _section(key: str) -> str:
    named = [(one, f"`{one.experiment}`" if one.experiment else "") for one in coverage(key)]
    rows = "\n".join(
        f"| {_whole(one.item)} | {_cell(one.what)} | {name} | {_cell(one.status)} |" for one, name in named
    )
    table = f"| item | what it shows | experiment | state |\n|---|---|---|---|\n{rows}"
    notes = "\n\n".join(_notes(one) for one in experiments(key) if one.open_choices or one.differences)
    where = f"results.md#{_anchor(f'{key}: {paper(key).title}')}"
    told = f"Key: `{key}`. Numbers and pictures: [Results]({where})."
    return f"## {paper(key).title}\n\n{told}\n\n{table}\n\n{notes}"


def _anchor(title: str) -> str:
    """Return the name by which links find a heading of the page of results."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _notes(one: Experiment) -> str:
    parts = [f"### {one.title[0].upper()}{one.title[1:]}"]
    if one.open_choices:
        parts.append("What the paper does not say, and what we do:\n\n" + _items(one.open_choices))
    if one.differences:
        parts.append("Where we differ on purpose, and why:\n\n" + _items(one.differences))
    return "\n\n".join(parts)


def _items(texts: tuple[str, ...]) -> str:
    return "\n".join(f"- {_cell(text)}" for text in texts)


def _whole(text: str) -> str:
    """Return a short text that stays on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _cell(text: str) -> str:
    for sign in "|*<_":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


class Papers(SphinxDirective):
    """All works that are run again."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return self.parse_text_to_nodes(markdown(), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("papers", Papers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
