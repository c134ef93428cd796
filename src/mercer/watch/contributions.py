"""Which variables moved, in a form that can be shown: shares of the whole, with the value and what was expected."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.monitoring.monitor import ProcessMonitor
from mercer.outliers.detector import KernelOutlierDetector
from mercer.watch.numbers import plain

SHOWN = 12  # variables
_SENSOR = ("missing: ", "frozen: ")
SLOW = ("level: ", "relation: ")  # what a monitor says of slow means, with the names of the columns

Explanation = list[dict[str, Any]]


def of_monitor(model: ProcessMonitor, columns: tuple[str, ...], rows: Array, which: str) -> Explanation:
    """Explain the last of some rows; the monitor itself names failed sensors, and columns whose slow means moved."""
    names = model._names()
    if which.startswith(_SENSOR):
        amounts = _named(names, which, _SENSOR).astype(float)
    else:  # some rows do not show all of a slow mean, but what is named is beyond its limit
        amounts = np.maximum(model.contributions(rows)[-1], _named(names, which, SLOW))
    return _shown(columns, amounts, rows[-1], _expected(model, rows[-1]))


def of_detector(model: KernelOutlierDetector, columns: tuple[str, ...], row: Array, means: Array | None) -> Explanation:
    """Explain one row, (1, d), by its contributions to all statistics; the means are expected."""
    try:
        amounts = model.contributions(row)[0]
    except ValueError:  # a kernel without derivatives
        amounts = np.abs(model._scaling(row)[0])
    return _shown(columns, amounts, row[0], np.full(len(columns), np.nan) if means is None else means)


def _expected(model: ProcessMonitor, row: Array) -> Array:
    """Return the means of the columns in the rows that the monitor rests on."""
    found = np.full(len(row), np.nan)
    found[~model.drifting_] = model._judge.scaling.mean[: int((~model.drifting_).sum())]
    return found


def _named(columns: list[str], which: str, kinds: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which columns a text of the monitor names for one of these kinds, (d,)."""
    parts = [part for part in which.split("; ") if part.startswith(kinds)]
    named = {name for part in parts for name in part.partition(": ")[2].split(", ")}
    return np.array([name in named for name in columns])


def _shown(columns: tuple[str, ...], amounts: Array, row: Array, expected: Array) -> Explanation:
    amounts = np.maximum(np.nan_to_num(amounts, posinf=0.0), 0.0)
    total = max(float(amounts.sum()), np.finfo(float).tiny)
    order = np.argsort(-amounts, kind="stable")[:SHOWN]
    return [
        {
            "variable": columns[i],
            "share": plain(amounts[i] / total),
            "value": plain(row[i]),
            "expected": plain(expected[i]),
        }
        for i in order
    ]
