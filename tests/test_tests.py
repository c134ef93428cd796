"""Every test asserts something: in itself, in a function of its module, or in one that it imports from the tests."""

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
_EXPECT = {"raises", "warns", "fail"}  # of pytest
_SKLEARN = "parametrize_with_checks"  # it passes in checks, which assert

Functions = dict[str, ast.FunctionDef]


def functions_of(tree: ast.Module) -> Functions:
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def called(node: ast.AST) -> Iterator[str]:
    """The names of all functions and methods that are called in a function."""
    for call in (found for found in ast.walk(node) if isinstance(found, ast.Call)):
        if isinstance(call.func, ast.Name):
            yield call.func.id
        elif isinstance(call.func, ast.Attribute):
            yield call.func.attr


def asserts_itself(function: ast.FunctionDef) -> bool:
    if any(isinstance(node, ast.Assert) for node in ast.walk(function)):
        return True
    return any(name in _EXPECT or name.startswith("assert_") for name in called(function))


def asserting(functions: Functions, imported: set[str]) -> set[str]:
    """The names of the functions that assert something; `imported` are those that do so elsewhere."""
    found = imported | {name for name, function in functions.items() if asserts_itself(function)}
    while more := {name for name, function in functions.items() if name not in found and set(called(function)) & found}:
        found |= more
    return found


def imported_from_tests(tree: ast.Module) -> set[str]:
    """The names that a module imports from other files of the tests, where these assert something."""
    names = set()
    for node in (found for found in tree.body if isinstance(found, ast.ImportFrom) and found.module):
        path = TESTS / (node.module.replace(".", "/") + ".py")
        if path.is_file():
            there = asserting(functions_of(ast.parse(path.read_text())), set())
            names |= {alias.asname or alias.name for alias in node.names if alias.name in there}
    return names


def without_assertion(source: str) -> list[str]:
    tree = ast.parse(source)
    functions = functions_of(tree)
    good = asserting(functions, imported_from_tests(tree))
    return [
        name
        for name, function in functions.items()
        if name.startswith("test")
        and name not in good
        and not any(_SKLEARN in ast.unparse(decorator) for decorator in function.decorator_list)
    ]


def test_every_test_asserts_something():
    paths = sorted(TESTS.rglob("test_*.py"))
    assert len(paths) > 40
    assert {path.name: names for path in paths if (names := without_assertion(path.read_text()))} == {}


def test_what_counts_as_an_assertion():
    source = """
def helper(x):
    assert x

def between(x):
    helper(x)

def idle(x):
    return x == 1

def test_nothing():
    idle(2)

def test_by_itself():
    assert idle(1)

def test_by_functions():
    between(1)

def test_by_numpy():
    np.testing.assert_allclose(1, 1)

def test_by_pytest():
    with pytest.raises(ValueError):
        idle(3)

@parametrize_with_checks([Model()])
def test_by_scikit_learn(estimator, check):
    check(estimator)
"""
    assert without_assertion(source) == ["test_nothing"]
