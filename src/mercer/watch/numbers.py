"""Numbers for JSON, which knows neither NaN nor infinity."""

from typing import Any

import numpy as np

from mercer.arrays import Array


def plain(value: Any) -> float | None:
    """Return a float of six digits, or None if it is not finite."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def plain_list(values: Array) -> list[float | None]:
    """Return floats of six digits, with None where a value is not finite."""
    return [plain(value) for value in values.tolist()]


def plain_times(values: Array) -> list[float]:
    """Return times with milliseconds."""
    return [round(value, 3) for value in values.tolist()]
