"""Does the rate of alarms hold? A count of loud rows in parts of two hours, compared with what alpha allows.

One fault that lasts half an hour is no reason to doubt the model. So the warning needs two things: more loud rows in
the whole span than alpha allows, and more than it allows in three quarters of its parts.
"""

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array

SPAN, PARTS = 7200.0, 24  # seconds, and parts of it
_MOST_PARTS = 0.75  # share of the parts that must have too many
_FEWEST = 12  # parts with rows
_ERRORS = 3.0  # standard errors


class RateWatch:
    """Counts rows and loud rows in parts of time."""

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self.counts: dict[int, list[int]] = {}  # part of time -> rows, loud rows

    def state(self) -> list[list[int]]:
        """Return the counts as plain JSON."""
        return [[part, *pair] for part, pair in self.counts.items()]

    def restore(self, state: list[list[int]]) -> None:
        """Remember counts that were saved."""
        self.counts = {part: [rows, loud] for part, rows, loud in state}

    def add(self, times: Array, loud: npt.NDArray[np.bool_]) -> None:
        """Count further rows."""
        if not len(times):
            return
        parts = (times // (SPAN / PARTS)).astype(np.int64)
        for part in np.unique(parts).tolist():
            here = parts == part
            pair = self.counts.setdefault(part, [0, 0])
            pair[0] += int(here.sum())
            pair[1] += int(loud[here].sum())
        newest = max(self.counts)
        self.counts = {part: pair for part, pair in self.counts.items() if newest - PARTS < part <= newest}

    @property
    def rate(self) -> float | None:
        """The share of loud rows in the span."""
        rows = sum(pair[0] for pair in self.counts.values())
        return sum(pair[1] for pair in self.counts.values()) / rows if rows else None

    def warning(self) -> str | None:
        """Return a sentence where the rate does not hold."""
        pairs = np.array(list(self.counts.values()), np.float64).reshape(-1, 2)
        if len(pairs) < _FEWEST or max(self.counts) - min(self.counts) < PARTS - 2:
            return None
        rows, loud = pairs.sum(axis=0)
        above = loud > self.alpha * rows + _ERRORS * np.sqrt(self.alpha * rows)
        if not above or (pairs[:, 1] > self.alpha * pairs[:, 0]).mean() < _MOST_PARTS:
            return None
        return (
            f"More alarms than alpha = {self.alpha:g} allows for {SPAN / 3600:g} hours ({loud / rows:.2g} of the "
            "rows): the process changed, or the model is old."
        )
