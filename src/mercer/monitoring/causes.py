"""Which columns have to do with an alarm: those that the text of a verdict names, and those that contribute."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array

if TYPE_CHECKING:
    from mercer.monitoring.monitor import ProcessMonitor

SENSOR = ("missing: ", "frozen: ")
SLOW = ("level: ", "relation: ")  # slow means
_PART = re.compile(r"; (?=(?:t2|spe)(?:;|$)|missing: |frozen: |level: |relation: )")


def amounts_of(monitor: "ProcessMonitor", rows: Any, which: str) -> Array:
    """Return how much each column has to do with the alarm of the last of some rows, (d,).

    The monitor itself names failed sensors, which contribute nothing, and columns whose slow means moved: some rows do
    not show all of a slow mean, but what is named is beyond its limit, which counts as 1.
    """
    names = monitor._names()
    if which.startswith(SENSOR):
        return named(names, which, SENSOR).astype(float)
    return np.asarray(np.maximum(monitor.contributions(rows)[-1], named(names, which, SLOW)))


def named(columns: list[str], which: str, kinds: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which columns the text of a verdict names for one of these kinds, (d,).

    Names may hold the signs that separate names, as in "T, inlet".
    """
    found = {name for part in _PART.split(which) if part.startswith(kinds) for name in _listed(part, columns)}
    return np.array([name in found for name in columns])


def _listed(part: str, columns: list[str]) -> list[str]:
    """Return the columns of a text such as "level: T3, T4"; where several would fit, the longest name."""
    rest = part.partition(": ")[2]
    known = sorted(set(columns), key=len, reverse=True)
    found: list[str] = []
    while rest:
        name = next((one for one in known if rest == one or rest.startswith(f"{one}, ")), None)
        if name is None:
            return found
        found.append(name)
        rest = rest[len(name) + 2 :]
    return found
