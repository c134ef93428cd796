"""The check of the built site finds what it is for."""

import json

import pytest

from site_parts import extension

pytest.importorskip("snowballstemmer")
built_site = extension("built_site")

_HEAD = '<title>{}</title><meta name="description" content="About it.">'
_GOOD = (
    _HEAD.format("Page")
    + '<table class="autosummary longtable"><tr><td>f</td>\n<td><p>Return <code>(a, b)</code>.</p></td></tr></table>'
    + '<h1 id="top">Page</h1><a href="#top">top</a><a href="https://example.org">away</a><img src="a.png">'
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "index.html").write_text(_GOOD)
    (tmp_path / "a.png").write_bytes(b"x")
    index = {"terms": {"gamma": 0, "memori": 0}, "titleterms": {"outlier": 0}}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    return tmp_path


def test_a_good_site_has_no_problems(folder):
    assert list(built_site.problems(folder)) == []


@pytest.mark.parametrize(
    ("added", "word"),
    [
        ('<a href="gone.html">x</a>', "gone.html"),
        ('<a href="#nowhere">x</a>', "#nowhere"),
        ('<a href="index.html#nowhere">x</a>', "#nowhere"),
        ('<img src="gone.png">', "gone.png"),
        ('<script src="https://cdn.example/x.js"></script>', "cdn.example"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "fonts.example"),
        ("<pre>&lt;Legend object at 0x7f&gt;</pre>", "Legend"),
        ('<table class="autosummary"><td>f</td>\n<td><p>The kernel k = (gamma x .</p></td></table>', "cut off"),
        ('<table class="autosummary"><td>f</td>\n<td><p></p></td></table>', "cut off"),
        ('<ol class="upperalpha simple"><li><p>Sokal, 1997.</p></li></ol>', "initials"),
        ('<img srcset="https://far.example/x.png 2x" src="a.png">', "far.example"),
    ],
)
def test_a_broken_page_is_found(folder, added, word):
    (folder / "index.html").write_text(_GOOD + added)
    found = list(built_site.problems(folder))
    assert len(found) == 1
    assert word in found[0]


def test_a_style_that_fetches_and_a_word_that_is_not_found(folder):
    (folder / "x.css").write_text('@import "https://fonts.example/a.css";')
    (folder / "searchindex.js").write_text('Search.setIndex({"terms": {"gamma": 0, "memori": 0}, "titleterms": {}})')
    found = list(built_site.problems(folder))
    assert len(found) == 2
    assert "x.css" in found[0]
    assert "outlier" in found[1]


def test_pages_without_a_title_of_their_own_or_a_description_are_found(folder):
    (folder / "other.html").write_text(_HEAD.format("Another"))
    assert list(built_site.problems(folder)) == []
    (folder / "same.html").write_text(_HEAD.format("Page"))
    (folder / "silent.html").write_text("<title>Silent</title>")
    assert list(built_site.problems(folder)) == [
        "same.html has the title of index.html: 'Page'",
        "silent.html has no description",
    ]
