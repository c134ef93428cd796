"""Parts of the past as the page draws them: least and largest values per point."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.watch.history import STATISTICS, WIDTHS, groups_of, kept_of, level_for, pooled
from mercer.watch.numbers import plain_list, plain_times
from mercer.watch.store import Store

LENGTH = 3600.0  # seconds, where no start is asked for


def history(store: Store, start: float, end: float, points: int) -> dict[str, Any]:
    """Return T2, SPE and p against time."""
    times, values, alarm = _read(store, start, end)
    groups = groups_of(times, points)
    low, high, loud = _pooled(values, alarm, groups)
    found: dict[str, Any] = {"time": plain_times(times[groups])}
    for i, name in enumerate(STATISTICS):
        found[name] = {"low": plain_list(low[:, i]), "high": plain_list(high[:, i])}
    return {**found, "alarm": [int(value) for value in loud]}


def trend(store: Store, name: str, place: int, start: float, end: float, points: int) -> dict[str, Any]:
    """Return one variable against time."""
    times, values, alarm = _read(store, start, end)
    groups = groups_of(times, points)
    low, high, _ = _pooled(values, alarm, groups)
    at = len(STATISTICS) + place
    if low.shape[1] <= at:
        return {"variable": name, "time": [], "low": [], "high": []}
    return {
        "variable": name,
        "time": plain_times(times[groups]),
        "low": plain_list(low[:, at]),
        "high": plain_list(high[:, at]),
    }


def _read(store: Store, start: float, end: float) -> tuple[Array, Array, Array]:
    """Return the times of stretches, their values, (n, 2, 3 + d), and whether there was an alarm."""
    newest, oldest = store.newest(), store.oldest(len(WIDTHS) - 1)
    if not newest or oldest is None:
        return np.zeros(0), np.zeros((0, 2, len(STATISTICS))), np.zeros(0)
    first = max(start, _first_time(store, oldest))
    level = level_for(first, (newest[0] + 1) * WIDTHS[0], kept_of(store.n_columns()))
    width = WIDTHS[level]
    numbers, values, alarm = store.stretches(level, int(np.floor(start / width)), int(np.floor(end / width)))
    return numbers * width, values, alarm


def _first_time(store: Store, oldest: int) -> float:
    """Return the time of the first row that is known, as exactly as the levels tell."""
    found = [number * width for level, width in enumerate(WIDTHS) if (number := store.oldest(level)) is not None]
    inside = [time for time in found if time < (oldest + 1) * WIDTHS[-1]]
    return max(inside)


def _pooled(values: Array, alarm: Array, groups: Any) -> tuple[Array, Array, Array]:
    if not len(groups):
        empty = np.zeros((0, values.shape[2]))
        return empty, empty, np.zeros(0)
    return pooled(values[:, 0], groups, True), pooled(values[:, 1], groups, False), pooled(alarm, groups, False)
