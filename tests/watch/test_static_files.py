"""The files of the page, without a browser: colours that can be read, no inline script, nothing made of strings."""

import re
from pathlib import Path

import pytest

import mercer.watch

STATIC = Path(mercer.watch.__file__).parent / "static"
OURS = sorted(path for path in STATIC.iterdir() if not path.name.startswith("uPlot"))


def colours(theme):
    """The colours of the style sheet by name, as three numbers."""
    text = (STATIC / "page.css").read_text().partition("}")[0]
    found = re.findall(r"--([\w-]+): (?:light-dark\((#\w+), (#\w+)\)|(#\w+));", text)
    return {name: _rgb(both or (light, dark)[theme]) for name, light, dark, both in found}


def _rgb(text):
    return [int(text[k : k + 2], 16) for k in (1, 3, 5)]


def contrast(one, other):
    """The ratio of two luminances, as WCAG 2.2 defines it."""

    def luminance(colour):
        parts = [c / 255 for c in colour]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read(theme):
    of = colours(theme) | {"white": [255, 255, 255]}
    pairs = [
        ("ink", "ground"), ("ink", "card"), ("quiet", "ground"), ("quiet", "card"), ("ok", "ok-ground"),
        ("quiet", "ok-ground"), ("white", "alarm-ground"), ("alarm", "card"), ("beyond", "card"),
        ("none", "none-ground"), ("ink", "none-ground"), ("limit", "card"), ("line", "card"),
        ("on-accent", "accent"), ("accent", "wait-ground"), ("quiet", "wait-ground"),
    ]  # fmt: skip
    assert {
        pair: contrast(of[pair[0]], of[pair[1]]) for pair in pairs if contrast(of[pair[0]], of[pair[1]]) < 4.5
    } == {}


def test_no_script_or_style_is_inline_and_nothing_is_made_of_strings():
    page = (STATIC / "index.html").read_text()
    assert re.findall(r"\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)|https?:", page) == []
    for path in OURS:
        assert (
            re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", path.read_text())
            == []
        )


def test_every_file_is_used_and_every_used_file_is_there():
    text = "\n".join(path.read_text() for path in OURS)
    used = set(re.findall(r"""(?:static/|from "\./)([\w.]+)\"""", text))
    assert used | {"index.html", "uPlot-LICENSE"} == {path.name for path in STATIC.iterdir()}


def test_elements_that_the_modules_ask_for_are_in_the_page():
    asked = {
        name for path in OURS for name in re.findall(r"""\b(?:part|say|bringIntoView)\("([\w-]+)\"""", path.read_text())
    }
    there = set(re.findall(r"""\sid="([\w-]+)\"""", (STATIC / "index.html").read_text()))
    assert len(asked) > 30
    assert asked - there == set()


def test_the_drawing_library_says_its_version_and_has_its_licence():
    assert "(v1.6.32)" in (STATIC / "uPlot.esm.js").read_text()[:400]
    assert "MIT License" in (STATIC / "uPlot-LICENSE").read_text()
