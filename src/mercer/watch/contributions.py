"""Which variables moved, in a form that can be shown: shares of the whole, with the value and what was expected."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.monitoring.causes import amounts_of
from mercer.monitoring.monitor import ProcessMonitor
from mercer.outliers.detector import KernelOutlierDetector
from mercer.outliers.judgement import causes
from mercer.watch.numbers import plain

SHOWN = 12  # variables

Explanation = list[dict[str, Any]]


def of_monitor(model: ProcessMonitor, columns: tuple[str, ...], rows: Array, which: str) -> Explanation:
    """Explain the last of some rows; the monitor itself names failed sensors, and columns whose slow means moved."""
    return _shown(columns, amounts_of(model, rows, which), rows[-1], _expected(model, rows[-1]))


def of_detector(model: KernelOutlierDetector, columns: tuple[str, ...], row: Array, means: Array | None) -> Explanation:
    """Explain one row, (1, d), by its contributions to all statistics; the means are expected."""
    return _shown(columns, causes(model, row)[0], row[0], np.full(len(columns), np.nan) if means is None else means)


def _expected(model: ProcessMonitor, row: Array) -> Array:
    """Return the means of the columns in the rows that the monitor rests on."""
    found = np.full(len(row), np.nan)
    found[~model.drifting_] = model._judge.scaling.mean[: int((~model.drifting_).sum())]
    return found


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
