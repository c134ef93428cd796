"""Docstrings of all public names hold what numpydoc asks for, and agree with the signatures."""

import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest
from numpydoc.validate import validate

import mercer
from mercer.monitoring.verdicts import Verdicts
from mercer.tables.prepared import PreparedModel

MODULES = ("metrics", "kernels", "datasets", "plots", "errors", "events", "dask")
REACHABLE = (PreparedModel, Verdicts)  # classes without a public name, of which users get instances
NOT_ASKED = {
    "GL01",  # the summary begins on the line of the quotes
    "SS05",  # the summary of a class is a noun phrase
    "SS06",  # the summary may take two lines
    "ES01",  # an extended summary is not always needed
    "PR05",  # a type may end with a full stop
}
OF_CLASS = {"EX01", "SA01"}  # the example of a class shows its methods; the class says what else there is

_DESCRIPTORS = (classmethod, staticmethod, property, cached_property)


def named_objects() -> Iterator[Any]:
    """Every function and class with a public name, and the classes that users reach without one."""
    yield from (getattr(mercer, name) for name in mercer.__all__)
    for module in (getattr(mercer, name) for name in MODULES):
        yield from (_named(module, name) for name in module.__all__)
    yield from REACHABLE


def _named(module: Any, name: str) -> Any:
    """The object of this name; None where it needs a package that is not installed."""
    try:
        return getattr(module, name)
    except ImportError:
        return None


def members(cls: type) -> Iterator[str]:
    """The full names of all public methods and properties that a class has from this package."""
    for base in cls.__mro__:
        for name, value in vars(base).items():
            routed = name.startswith("set_") and name.endswith("_request")  # made by scikit-learn's metadata routing
            documented = (inspect.isroutine(value) or isinstance(value, _DESCRIPTORS)) and not routed
            if base.__module__.startswith("mercer.") and documented and not name.startswith("_"):
                yield f"{base.__module__}.{base.__qualname__}.{name}"


def is_member(name: str) -> bool:
    """Whether a full name is that of a member of a class: these, and no modules, have names with capitals."""
    return name.split(".")[-2].lstrip("_")[:1].isupper()


def documented_names() -> list[str]:
    names: set[str] = set()
    for found in named_objects():
        if inspect.isclass(found) or inspect.isfunction(found):
            names.add(f"{found.__module__}.{found.__qualname__}")
        if inspect.isclass(found):
            names.update(members(found))
    return sorted(names)


NAMES = documented_names()


def test_public_names_are_found():
    assert {
        "mercer.io.persist.load",
        "mercer.kernels.distance.RBF",
        "mercer.kernels.distance.RBF.diagonal",
        "mercer.expansion.model.Expansion.n_points",
        "mercer.estimators.kernel_pca.KernelPCA.fit",
        "mercer.tables.prepared.PreparedModel.transform",
    } <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_docstring_holds_what_numpydoc_asks_for(name):
    not_asked = NOT_ASKED | (OF_CLASS if is_member(name) else set())
    assert not [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in not_asked]
