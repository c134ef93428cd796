"""Times of rows: read from the index of a data frame, and periods written as texts."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}  # in seconds
_PERIOD = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)?\s*([a-zA-Z]+)\s*")


def times_of(X: Any) -> Any:
    """Return the times of rows in nanoseconds, (n,) of int64, or None where X has no index of times.

    Times with a zone are taken in UTC, and a period counts as the time at which it begins.
    """
    index: Any = getattr(X, "index", None)
    index = index.to_timestamp() if hasattr(index, "to_timestamp") else index
    index = index.tz_convert(None) if getattr(index, "tz", None) is not None else index
    values: Any = getattr(index, "values", None)
    if getattr(getattr(values, "dtype", None), "kind", "") != "M":
        return None
    if np.isnat(values).any():
        raise ValueError("The index of X holds times that are missing (NaT). Drop these rows or fill in the times.")
    found = values.astype("datetime64[ns]").astype(np.int64)
    if (np.diff(found) < 0).any():
        raise ValueError(
            "The times of X are not in order: a monitor needs rows in the order of time. Use X.sort_index()."
        )
    return found


def starts_of(times: Any, longest: float, n: int) -> npt.NDArray[np.bool_]:
    """Return at which of n rows a segment without a gap in time begins, (n,)."""
    starts = np.zeros(n, bool)
    starts[0] = True
    if times is not None:
        starts[1:] = np.diff(times) > longest
    return starts


def typical_step(times: Any) -> float | None:
    """Return the median step between rows in nanoseconds, or None where there are no times."""
    return float(np.median(np.diff(times))) if times is not None and len(times) > 1 else None


def seconds_of(period: Any) -> float:
    """Return a period such as "1D", "8h" or "30min" in seconds."""
    matched = _PERIOD.fullmatch(period) if isinstance(period, str) else None
    number, unit = (matched[1] or "1", matched[2].lower()) if matched else ("0", "")
    if unit not in _UNITS or not float(number) > 0:
        raise ValueError(f"A period is a number with one of the units s, min, h, D, W, such as '1D'; got {period!r}.")
    return float(number) * _UNITS[unit]
