"""A plant that does not exist: eleven variables, slow drift, and faults from time to time.

Every row follows from its number alone, so that a demonstration can be stopped and go on.
"""

import threading
import time
from collections.abc import Iterator

import numpy as np

from mercer.arrays import Array
from mercer.watch.sources.base import Batch, Item, PlainSource, Position

COLUMNS = (
    "feed flow", "feed temperature", "reactor temperature", "reactor pressure", "reactor level", "cooling valve",
    "cooling water", "product flow", "product quality", "pump current", "vibration",
)  # fmt: skip
_LEVELS = np.array([42.0, 21.0, 118.0, 2.8, 61.0, 37.0, 14.5, 40.5, 97.2, 8.4, 1.1])
_UNITS = np.array([1.6, 0.8, 1.4, 0.06, 2.2, 3.0, 0.7, 1.5, 0.35, 0.22, 0.05])
_BLOCK = 256  # rows that are made together
_RATE = 5.0  # rows per second
_SEED = 0
_MEMORY = 0.85  # of the slow states, from row to row
_DRIFT = 40_000.0  # rows in which the plant drifts by one unit
_FIRST, _EVERY, _LONG = 1500, 900, 140  # rows: the first fault, from one fault to the next, how long it lasts
_PAST = 900.0  # seconds of rows that are there at the start


class DemoSource(PlainSource):
    """Rows of the plant in real time, after some that lie in the past."""

    name = "demo: a simulated plant"

    def batches(self, position: Position | None, stop: threading.Event) -> Iterator[Batch]:
        """Yield the rows that are due."""
        start, first = (time.time() - _PAST, 0) if position is None else (position["start"], position["row"])
        while not stop.is_set():
            due = int((time.time() - start) * _RATE)
            last = min(due, (first // _BLOCK + 1) * _BLOCK)
            if last <= first:
                stop.wait(0.2 / _RATE)
                continue
            items = [_item(start, n, row) for n, row in enumerate(_rows(first, last), first)]
            yield Batch(items, {"start": start, "row": last})
            first = last


def _item(start: float, number: int, row: Array) -> Item:
    cells = {name: round(float(value), 4) for name, value in zip(COLUMNS, row, strict=True)}
    return {"time": start + number / _RATE, **cells}


def _rows(first: int, last: int) -> Array:
    """Return the rows with these numbers, which are all of one block."""
    block = first // _BLOCK
    return _plant_block(block)[first - block * _BLOCK : last - block * _BLOCK]


def _plant_block(block: int) -> Array:
    """Return the rows of one block, (block, 11), in physical units."""
    rng = np.random.default_rng([_SEED, block])
    noise = rng.standard_normal((_BLOCK + 64, 4))  # the first ones only settle the slow states
    states = np.zeros_like(noise)
    for i in range(1, len(noise)):
        states[i] = _MEMORY * states[i - 1] + np.sqrt(1.0 - _MEMORY**2) * noise[i]
    numbers = np.arange(block * _BLOCK, (block + 1) * _BLOCK, dtype=np.float64)
    return _measured(states[-_BLOCK:], 0.25 * rng.standard_normal((_BLOCK, len(COLUMNS))), numbers)


def _measured(states: Array, noise: Array, numbers: Array) -> Array:
    feed, heat, cooling, wear = states.T
    drift = numbers / _DRIFT
    reactor = 0.6 * heat + 0.5 * feed - 0.5 * cooling
    columns = [
        feed, 0.7 * heat, reactor, 0.8 * reactor + 0.2 * feed**2, 0.7 * feed - 0.3 * wear, cooling + 0.4 * reactor,
        0.9 * cooling, 0.9 * feed, -0.6 * reactor + 0.2 * drift, 0.7 * feed + 0.4 * wear + 0.5 * drift, wear,
    ]  # fmt: skip
    rows = np.column_stack(columns) + noise
    _add_faults(rows, numbers)
    return np.asarray(_LEVELS + _UNITS * rows)


def _add_faults(rows: Array, numbers: Array) -> None:
    """Change the rows in which a fault is present; four kinds take turns."""
    which, inside = np.divmod(numbers - _FIRST, _EVERY)
    present = (numbers >= _FIRST) & (inside < _LONG)
    grown = np.minimum(inside / 40.0, 1.0)
    for kind, (column, size) in enumerate([(2, 6.0), (6, -7.0), (9, 6.0), (4, 7.0)]):
        at = present & (which % 4 == kind)
        rows[at, column] += size * grown[at]
