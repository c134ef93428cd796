"""Every public name that is written as code becomes a link to its page of the reference, in docstrings and guides."""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import mercer
from extensions.public_names import public_names

_CALL = re.compile(r"^([\w.]+)(\(.*\))?$", re.DOTALL)
_NOT_IN = (nodes.title, nodes.reference, addnodes.pending_xref, addnodes.desc_signature, nodes.term)


def target(text: str, names: frozenset[str]) -> str | None:
    """Return the full name that a piece of code means, or None where it means no public name.

    Classes may be written without "mercer.", as may functions of a public module (`plots.spectrum`) and methods
    (`KernelPCA.score`). A call counts as its function.
    """
    found = _CALL.match(text)
    if found is None:
        return None
    name = found[1].removeprefix("mercer.")
    owner, _, member = name.partition(".")
    if f"mercer.{owner}" in names and owner[:1].isupper():
        return f"mercer.{name}" if not member or hasattr(getattr(mercer, owner), member) else None
    dotted = "." in name or text.startswith("mercer.")
    return f"mercer.{name}" if dotted and f"mercer.{name}" in names else None


class LinkNames(SphinxTransform):
    """Make links of literals."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        """Replace each literal that is a public name by a reference; one that does not exist is then a warning."""
        names = public_names()
        for node in list(self.document.findall(nodes.literal)):
            name = target(node.astext(), names)
            if name is None or _inside(node):
                continue
            link = addnodes.pending_xref(
                "",
                refdomain="py",
                reftype="obj",
                reftarget=name,
                refexplicit=True,
                refwarn=True,
                refdoc=self.env.docname,
            )
            node.replace_self(link)
            node["classes"] += ["xref", "py", "py-obj"]
            link += node


def _inside(node: nodes.Node) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, _NOT_IN):
            return True
        parent = parent.parent
    return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the transform."""
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
