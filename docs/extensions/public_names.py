"""The public names of the package, and how the reference shows them."""

from functools import cache
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

import mercer
from mercer.registry import MODULES, PUBLIC


@cache
def public_names() -> frozenset[str]:
    """Return the full names that users import: classes and functions of the package and of its public modules."""
    modules = [import_module(f"mercer.{name}") for name in MODULES]
    inner = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    return frozenset({f"mercer.{name}" for name in PUBLIC} | inner)


def _skip(app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from elsewhere: scikit-learn documents its methods itself."""
    if skip:
        return None
    owner = getattr(getattr(value, "fget", getattr(value, "func", value)), "__module__", None) or ""
    ours = owner.startswith(mercer.__name__)
    return None if ours and not name.endswith("_request") else True


def setup(app: Sphinx) -> dict[str, bool]:
    """Choose the members of classes that are shown."""
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
