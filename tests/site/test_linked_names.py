"""Code in pages that becomes a link, and code that does not."""

import sys

import pytest

from site_parts import ROOT

pytest.importorskip("sphinx")


@pytest.fixture(scope="module")
def linked():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from extensions.linked_names import target
        from extensions.public_names import public_names

        yield lambda text: target(text, public_names())
    finally:
        sys.path.remove(str(ROOT / "docs"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("KernelPCA", "mercer.KernelPCA"),
        ("mercer.KernelPCA", "mercer.KernelPCA"),
        ("KernelPCA(10, kernel='rbf')", "mercer.KernelPCA"),
        ("KernelPCA.score", "mercer.KernelPCA.score"),
        ("mercer.select", "mercer.select"),
        ("plots.spectrum", "mercer.plots.spectrum"),
        ("mercer.kernels.RBF", "mercer.kernels.RBF"),
        ("select", None),  # also a word, and a value of parameters
        ("sklearn.decomposition.KernelPCA", None),
        ("KernelPCA.precision_", None),  # an attribute that `fit` sets has no place of its own
        ("K' v", None),
        ("load", None),
    ],
)
def test_a_public_name_becomes_a_link(linked, text, name):
    assert linked(text) == name
