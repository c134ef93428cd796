"""Modules of the site that need no Sphinx, and the examples of the gallery."""

import ast
import re
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
GALLERY = sorted((ROOT / "examples" / "gallery").rglob("*.py"))


def extension(name: str) -> ModuleType:
    """Return a module of `docs/extensions`."""
    spec = spec_from_file_location(f"site_{name}", ROOT / "docs" / "extensions" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


GROUPS = extension("reference_groups").GROUPS


@cache
def used_names(path: Path) -> frozenset[str]:
    """Return the full names of what an example takes from mercer, found as the gallery finds them: in its code."""
    tree = ast.parse(path.read_text())
    known = {"mercer": "mercer"}  # local name -> full name
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mercer":
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    dotted = {name for node in ast.walk(tree) if (name := _dotted(node)) is not None}
    split = [name.partition(".") for name in dotted]
    told = re.findall(r":class:`([\w.]+)`", path.read_text())
    return frozenset({known[head] + dot + rest for head, dot, rest in split if head in known} | set(told))


def _dotted(node: ast.AST) -> str | None:
    """Return `a.b.c` of an expression that is one."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return None
