"""Training rows: those without NaN, and where segments of time begin among them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.monitoring.lags import complete, with_lags
from mercer.monitoring.times import starts_of

LEAST_ROWS = 10
_NAMED = 5  # columns in a message


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows without NaN."""

    rows: Array  # (n, d)
    starts: npt.NDArray[np.bool_]  # (n,), whether the row before is not the previous one
    place: IntArray  # (n,), its number among all rows

    def last(self, count: int) -> "Prepared":
        """Return the last rows, at most so many."""
        return Prepared(self.rows[-count:], self.starts[-count:], self.place[-count:])

    def lagged(self, columns: IntArray, lags: int) -> tuple[Array, Array, IntArray]:
        """Return the rows that have all their lags, these rows with some columns only and their lags, and places."""
        found = with_lags(self.rows[:, columns], lags, self.starts)
        known = complete(found)
        return self.rows[known], found[known], self.place[known]


def prepared(X: Array, times: Any, longest: float) -> Prepared:
    """Return the rows without NaN; longest is the longest step that is no gap in time."""
    whole = complete(X)
    starts = starts_of(times, longest, len(X))
    starts[1:] |= ~whole[:-1]
    return Prepared(X[whole], starts[whole], np.flatnonzero(whole))


def missing_in_words(X: Array, names: list[str]) -> str:
    """Return a text that tells how many rows hold NaN, and in which columns most of them are."""
    counts = np.isnan(X).sum(axis=0)
    worst = [j for j in np.argsort(-counts, kind="stable")[:_NAMED].tolist() if counts[j]]
    where = ", ".join(f"{names[j]}: {counts[j]}" for j in worst)
    return f"{int((~complete(X)).sum())} of {len(X)} training rows hold NaN ({where})"


def require_rows(known: int, X: Array, lags: int, names: list[str]) -> None:
    """Refuse training rows of which too few are known, with all their lags."""
    if known >= LEAST_ROWS:
        return
    beside = f" with {lags} previous rows beside them" if lags else ""
    missing = f" {missing_in_words(X, names)}: drop these columns." if np.isnan(X).any() else ""
    raise ValueError(
        f"ProcessMonitor needs at least {LEAST_ROWS} rows{beside}; got {known} (n_samples = {len(X)}).{missing}"
    )
