"""The site: `make docs` builds it, `make docs-quick` without running the long examples."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

from mercer.version import __version__  # noqa: E402 - the folders above are needed first

QUICK = os.environ.get("MERCER_DOCS") == "quick"

project = "Mercer"
author = "the Mercer developers"
copyright = author
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "extensions.mathml",
    "extensions.linked_names",
    "extensions.public_names",
    "extensions.reference",
    "extensions.command_line",
    "extensions.papers",
    "extensions.descriptions",
]
if os.environ.get("MERCER_INTERSPHINX"):  # needs a network
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

nitpicky = True
nitpick_ignore = [("py:class", "collections.abc.Callable")]  # of Python itself
smartquotes = False  # quotes are often parts of code
default_role = "literal"  # a public name becomes a link, see extensions/linked_names.py
templates_path = ["templates"]
exclude_patterns = ["extensions", "templates", "**/README.md"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
toc_object_entries_show_parents = "hide"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "Mercer"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(DOCS / "static" / "scorer.js")
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "Mercer"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}

SECTIONS = ("basics", "noise", "outliers", "streams", "images")
LONG = ("a_million_rows", "g_dask_cluster", "b_kinds_of_digits")  # the quick site shows these without their pictures
_PATTERN = rf"/(?!{'|'.join(LONG)})\w+\.py$" if QUICK else r"\.py$"
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "subsection_order": [f"../examples/gallery/{name}" for name in SECTIONS],
    "filename_pattern": _PATTERN,
    "ignore_pattern": r"__init__\.py" if find_spec("mercer.dask") else r"__init__\.py|dask",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("mercer",),
    "reference_url": {"mercer": None},
    "image_srcset": ["2x"],
    "image_scrapers": ("extensions.figures.save_figures",),
    "ignore_repr_types": r"matplotlib\.",  # a legend as the last line of a block is not worth printing
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (640, 420),
    "min_reported_time": 0,
    "show_memory": False,
    "write_computation_times": False,  # that page fetches scripts
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "abort_on_example_error": False,
    "parallel": 2,
}
