"""A description of each page, which search engines and browsers show: the first sentences of the page."""

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_LONGEST = 160  # characters; more is not shown
_LEAST = 20  # characters of a paragraph that says something
_SITE = "Mercer: exact and fast kernel PCA, outlier alarms, denoising and streams, for Python."


def shortened(text: str) -> str:
    """Return whole sentences of a text, as many as fit, or its first words."""
    words = " ".join(text.split())
    if len(words) <= _LONGEST:
        return words
    start = words[: _LONGEST + 1]
    end = start.rfind(". ")
    return start[: end + 1] if end > _LEAST else start[: start.rfind(" ")] + " ..."


def description(document: nodes.Node | None) -> str:
    """Return the first paragraph of a page that says something."""
    if document is not None:
        for paragraph in document.findall(nodes.paragraph):
            if len(text := paragraph.astext()) > _LEAST and not text.startswith("Go to the end"):
                return shortened(text)
    return _SITE


def _add(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.Node | None) -> None:
    text = escape(description(doctree), quote=True)
    context["metatags"] = f'{context.get("metatags", "")}\n<meta name="description" content="{text}">'


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the descriptions when pages are written."""
    app.connect("html-page-context", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
