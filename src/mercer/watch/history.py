"""The past in bounded memory: least and largest values per stretch of time, in five widths.

Narrow stretches are kept for minutes, wide ones for weeks. Every level has the same number of stretches, so that a
picture of any part of the past takes the narrowest level that still reaches back to its start.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray

WIDTHS = (0.1, 1.0, 10.0, 100.0, 1000.0)  # seconds
STATISTICS = ("t2", "spe", "p")
_NUMBER = 8  # bytes
_KEPT, _FEWEST_KEPT = 3600, 900  # stretches per level
_BYTES = 128e6  # that all levels may take together, as long as there are `_FEWEST_KEPT`

Key = tuple[int, int]  # level and number of the stretch


@dataclass(frozen=True, eq=False)
class Stretch:
    """Least and largest values in a stretch of time."""

    low: Array  # (3 + d,): T2, SPE, p and the variables; NaN where there was no value
    high: Array
    alarm: bool

    def joined(self, other: "Stretch | None") -> "Stretch":
        """Return the stretch of two parts."""
        if other is None or len(other.low) != len(self.low):
            return self
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        return Stretch(low, high, self.alarm or other.alarm)

    def packed(self) -> bytes:
        """Return the values as bytes."""
        return np.concatenate([self.low, self.high]).astype("<f8").tobytes()


def columns_in(n_bytes: int) -> int:
    """Return the number of variables in a packed stretch of this size."""
    return n_bytes // (2 * _NUMBER) - len(STATISTICS)


def unpacked(data: bytes, alarm: bool) -> Stretch:
    """Return a stretch that was packed."""
    both = np.frombuffer(data, "<f8")
    return Stretch(both[: len(both) // 2], both[len(both) // 2 :], alarm)


def kept_of(n_columns: int) -> int:
    """Return how many stretches of each level are kept."""
    return int(np.clip(_BYTES / (len(WIDTHS) * 2 * _NUMBER * (len(STATISTICS) + n_columns)), _FEWEST_KEPT, _KEPT))


class History:
    """Collects rows into stretches. Those that may still grow are held; the others are only in the file."""

    def __init__(self, newest: dict[int, int], fetch: Callable[[Key], Stretch | None]) -> None:
        self._newest, self._fetch = newest, fetch
        self._held: dict[Key, Stretch] = {}

    def add(self, times: Array, table: Array, alarm: npt.NDArray[np.bool_]) -> dict[Key, Stretch]:
        """Add rows, (n, 3 + d), and return all stretches that changed."""
        changed: dict[Key, Stretch] = {}
        low, high, loud, at = table, table, alarm, times
        for level, width in enumerate(WIDTHS):
            numbers = np.floor(at / width + 1e-6).astype(np.int64)
            first = _starts(numbers)
            low, high = np.fmin.reduceat(low, first), np.fmax.reduceat(high, first)
            loud, at = np.logical_or.reduceat(loud, first), numbers[first] * width
            for i, number in enumerate(numbers[first].tolist()):
                self._join(changed, (level, number), Stretch(low[i], high[i], bool(loud[i])))
        newest = {level: self._newest[level] for level, _ in changed}
        self._held = {key: one for key, one in changed.items() if newest[key[0]] == key[1]}
        return changed

    def _join(self, changed: dict[Key, Stretch], key: Key, one: Stretch) -> None:
        level, number = key
        before = changed.get(key) or self._held.get(key)
        if before is None and number <= self._newest.get(level, -(2**62)):
            before = self._fetch(key)
        changed[key] = one.joined(before)
        self._newest[level] = max(number, self._newest.get(level, number))


def _starts(numbers: IntArray) -> IntArray:
    """Return where runs of equal numbers begin."""
    return np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))


def level_for(start: float, newest: float, kept: int) -> int:
    """Return the narrowest level that reaches back to the start of a picture."""
    for level, width in enumerate(WIDTHS):
        if newest - kept * width <= start:
            return level
    return len(WIDTHS) - 1


def pooled(values: Array, groups: IntArray, least: bool) -> Array:
    """Return the least or largest value per group of neighbours; groups are where they begin."""
    return (np.fmin if least else np.fmax).reduceat(values, groups, axis=0)


def groups_of(times: Array, points: int) -> IntArray:
    """Return where groups of stretches begin, at most so many as there are points."""
    if len(times) <= points:
        return np.arange(len(times))
    length = max(float(times[-1] - times[0]), 1e-9)
    numbers = np.minimum(((times - times[0]) * (points / length)).astype(np.int64), points - 1)
    return _starts(numbers)
