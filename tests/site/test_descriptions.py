"""Every page has a description: its first sentences."""

import pytest
from docutils import nodes

from site_parts import extension

pytest.importorskip("sphinx")
descriptions = extension("descriptions")


def page(*texts: str) -> nodes.section:
    return nodes.section("", *(nodes.paragraph("", text) for text in texts))


def test_the_first_paragraph_that_says_something_describes_a_page():
    text = "Kernel PCA follows curves."
    assert descriptions.description(page("Note.", text, "More about it than before.")) == text
    assert "kernel PCA" in descriptions.description(None)


def test_long_texts_are_cut_after_a_sentence_else_after_a_word():
    sentence = "A sentence of some forty characters here."
    assert descriptions.shortened(" ".join([sentence] * 9)) == " ".join([sentence] * 3)
    words = descriptions.shortened("word " * 99)
    assert words.endswith("word ...")
    assert len(words) <= 165
