"""The gallery: enough examples, each in the gallery's form, and every public class in at least one of them."""

import ast
import re
import runpy

import pytest

import mercer
from mercer.registry import PUBLIC
from site_parts import GALLERY, ROOT, used_names


def test_there_are_examples():
    assert len(GALLERY) >= 16
    assert all((path.parent / "GALLERY_HEADER.rst").exists() for path in GALLERY)


def test_every_public_class_has_an_example():
    used = set().union(*map(used_names, GALLERY))
    kinds = {f"mercer.{module}.{name}" for module in ("kernels", "dask") for name in getattr(mercer, module).__all__}
    classes = {f"mercer.{name}" for name in PUBLIC if name[0].isupper()} | kinds
    assert not classes - used
    assert {"mercer.select", "mercer.load", "mercer.denoise"} <= used


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_text_and_a_picture(path):
    text = path.read_text()
    title, line, *rest = (ast.get_docstring(ast.parse(text), clean=False) or "").strip("\n").split("\n")
    assert line == "=" * len(title)
    assert len(" ".join(rest)) > 80
    assert re.search(r"^figure\b.* = ", text, re.MULTILINE)
    assert used_names(path)


def test_examples_need_no_data_that_do_not_ship():
    for path in GALLERY:
        text = path.read_text()
        assert "fetch_" not in text, path
        assert "datasets.load" not in text, path
        assert str(ROOT) not in text, path


def test_pictures_of_the_guide_are_taken_from_examples(tmp_path):
    script = runpy.run_path(str(ROOT / "docs" / "pictures" / "from_gallery.py"))
    guide = "".join(path.read_text() for path in sorted((ROOT / "docs" / "guide").glob("*.md")))
    for name, (example, _) in script["PICTURES"].items():
        assert f"images/{name}.png" in guide
        assert (ROOT / "docs" / "images" / f"{name}.png").exists()
        assert ROOT / "examples" / "gallery" / f"{example}.py" in GALLERY
    small = tmp_path / "small.py"
    small.write_text('"""Title"""\n\n# %%\nfigure = 1\n\n# %%\nnothing = 2\n\n# %%\nfigure = 3\n')
    assert script["figures_of"](small) == [1, 3]
