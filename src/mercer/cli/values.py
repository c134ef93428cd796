"""Conversion of texts of the command line to parameter values."""

import ast
from collections.abc import Iterable
from typing import Any

SELECT = "select"
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def value(text: str) -> Any:
    """Read a number, a list, true, false or none; any other text is returned unchanged."""
    if text.strip().lower() in _WORDS:
        return _WORDS[text.strip().lower()]
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text


def components(text: str) -> int | float | str | None:
    """Read a number of components, a share of the variance, `select` or `all`."""
    parsed = None if text.lower() == "all" else value(text)
    if parsed is None or parsed == SELECT or isinstance(parsed, int | float):
        return parsed
    raise ValueError(f"--components is {text!r}; give a number such as 10, a share such as 0.9, select, or all.")


def gamma(text: str) -> float | str | None:
    """Read a kernel width: a number, `median`, `select`, or none for 1 / number of columns."""
    parsed = value(text)
    if parsed is None or parsed in ("median", SELECT) or isinstance(parsed, int | float):
        return float(parsed) if isinstance(parsed, int) else parsed
    raise ValueError(f"--gamma is {text!r}; give a number such as 0.1, median, select, or none.")


def settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Read `name=value` pairs."""
    parsed = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--set {pair} is not of the form name=value; write for example --set alpha=0.1.")
        parsed[name.strip()] = value(text)
    return parsed
