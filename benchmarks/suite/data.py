"""Data sets for objectives. The table names the data that were really used."""

import warnings
from typing import Any

from benchmarks.suite.plan import CannotRunError
from mercer import datasets

_stand_ins: list[str] = []


def load(name: str, rows: int | None = None) -> Any:
    """Return a data set or its substitute; CannotRunError if neither has enough rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the table names the substitute
            found = datasets.load(name)
    except FileNotFoundError as missing:
        raise CannotRunError(str(missing)) from None
    if rows is not None and len(found.X) < rows:
        text = f"{rows} rows are needed; {found.source} has {len(found.X)}"
        raise CannotRunError(f"{text} and replaces {name}" if found.substitute else text)
    if found.substitute:
        _stand_ins.append(f"{found.source}, {' x '.join(map(str, found.X.shape))}")
    return found


def used_stand_ins() -> str:
    """Return the substitutes used since the last call, and clear the list."""
    found = ", ".join(dict.fromkeys(_stand_ins))
    _stand_ins.clear()
    return found
