"""Formulas are MathML in the page itself."""

from types import SimpleNamespace

import pytest
from docutils import nodes

from site_parts import extension

pytest.importorskip("sphinx")
mathml = extension("mathml")


@pytest.mark.parametrize(
    ("render", "node"),
    [(mathml._inline, nodes.math), (mathml._display, nodes.math_block)],
    ids=["inline", "display"],
)
def test_a_formula_becomes_mathml(render, node):
    formula, writer = r"k(x, y) = e^{-\gamma \|x - y\|^2}", SimpleNamespace(body=[])
    with pytest.raises(nodes.SkipNode):
        render(writer, node(formula, formula))
    assert "<math" in writer.body[0]
    assert "\N{GREEK SMALL LETTER GAMMA}" in writer.body[0]
    assert "$" not in writer.body[0]
