"""Laws of the parameters: each of them does something."""

import ast
import inspect
import textwrap

import pytest

from public_estimators import ESTIMATORS


def names_read(cls: type) -> set[str]:
    """The attributes of `self` that the methods of a class read, those that it inherits within the package too."""
    ours = [one for one in cls.__mro__ if one.__module__.startswith("mercer.")]
    nodes = [node for one in ours for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(one))))]
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_parameter_is_read(cls):
    assert set(inspect.signature(cls).parameters) - names_read(cls) == set()


@pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
def test_type_checkers_accept_a_number_where_the_docstring_allows_one_for_verbose(cls):
    known = inspect.signature(cls).parameters
    if "verbose" not in known:
        pytest.skip("shows no progress")
    assert "verbose : bool or int" in inspect.getdoc(cls)
    assert known["verbose"].annotation == bool | int
