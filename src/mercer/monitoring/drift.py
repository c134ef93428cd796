"""Evidence that the model no longer fits, apart from single alarms.

Looks are p-values that are so many rows apart that they hardly depend on each other. A p-value p of a process that the
limits hold for makes the factor e p^(e - 1), 0 < e < 1, have a mean of at most 1 [vovk2021]. Betting goes on from the
larger of 1 and what was won so far, S_t = max(1, S_{t-1}) e p_t^(e - 1): with independent p-values, the mean number of
looks until S reaches c is at least c [shin2024]. This holds for a mean over several e as well. The p-values are bounded
below, so that a single alarm cannot decide; about six looks must be unusual.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array

SIGNAL = 1000.0  # evidence from which the model no longer fits: the mean number of looks until a false signal, at least
_BETS = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
_SMALLEST = 0.02  # p-values count as no smaller
_LARGEST = 100.0 * SIGNAL  # of each bet, so that evidence falls soon after the model fits again


@dataclass(frozen=True, eq=False)
class Evidence:
    """What betting against the model has won, and when the next look is."""

    won: Array  # (bets,)
    until: int  # judged rows until the next look
    since: int | None = None  # number of the first row of the stream at which the model no longer fitted

    @classmethod
    def none(cls, spacing: int) -> "Evidence":
        """Return the evidence before the first row."""
        return cls(np.zeros(len(_BETS)), spacing)

    @property
    def value(self) -> float:
        """The mean over the bets."""
        return float(self.won.mean())

    def after(self, p: Array, judged: npt.NDArray[np.bool_], spacing: int, first: int) -> "Evidence":
        """Return the evidence after further rows, of which the first has a number; rows not judged are passed over."""
        rows = np.flatnonzero(judged)
        won, since = self.won, self.since
        for row in rows[self.until - 1 :: spacing].tolist():
            won = np.maximum(won, 1.0) * factors(float(p[row]))
            if since is None and won.mean() >= SIGNAL:
                since = first + row
        left = (len(rows) - self.until) % spacing if len(rows) >= self.until else -1
        until = spacing - left if left >= 0 else self.until - len(rows)
        return Evidence(np.minimum(won, _LARGEST), until, since)


def factors(p: float) -> Array:
    """Return e p^(e - 1) of every bet, (bets,)."""
    return np.asarray(_BETS * max(p, _SMALLEST) ** (_BETS - 1.0))
