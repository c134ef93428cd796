"""One line of a result table: the paper's value, ours, the difference, what is tolerated, and the verdict."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

AGREES, DIFFERS = "agrees", "differs"
BETTER, WORSE = "better", "worse"
HOLDS, FAILS = "holds", "does not hold"
OPEN = "no number given"
NOT_JUDGED = "not judged: substitute data"
GOOD = (AGREES, BETTER, HOLDS)

Value = float | str | None


@dataclass(frozen=True)
class Comparison:
    """The paper's value of a quantity, our value, and whether they agree."""

    quantity: str
    paper: Value  # a number, a statement, or None if the paper shows only a curve
    ours: Value
    verdict: str
    note: str = ""
    within: float | None = None  # the largest difference that counts as agreement

    @property
    def is_judged(self) -> bool:
        """Whether there is a verdict on a value or claim of the paper."""
        return self.verdict not in (OPEN, NOT_JUDGED)

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, where both are numbers and from the same data."""
        if self.is_judged and isinstance(self.paper, int | float) and isinstance(self.ours, int | float):
            return float(self.ours) - float(self.paper)
        return None


def number(
    quantity: str,
    paper: float,
    ours: float,
    *,
    within: float,
    best: Literal["high", "low"] | None = None,
    note: str = "",
) -> Comparison:
    """Compare two numbers: they agree within `within`; else ours is better or worse if `best` names the good end."""
    gap = float(ours) - float(paper)
    if abs(gap) <= within:
        verdict = AGREES
    elif best is None or gap != gap:
        verdict = DIFFERS
    else:
        verdict = BETTER if (gap > 0) == (best == "high") else WORSE
    return Comparison(quantity, float(paper), float(ours), verdict, note, within)


def claim(quantity: str, statement: str, ours: float | str, holds: bool, note: str = "") -> Comparison:
    """Check a statement of the paper."""
    return Comparison(quantity, statement, ours, HOLDS if holds else FAILS, note)


def reading(quantity: str, ours: float | str, note: str = "") -> Comparison:
    """Give a value for which the paper has no number to compare with."""
    return Comparison(quantity, None, ours, OPEN, note)


def not_judged(lines: Iterable[Comparison]) -> list[Comparison]:
    """Return the lines without their verdicts: results on substitute data cannot be compared with the paper."""
    return [replace(line, verdict=NOT_JUDGED, within=None) if line.is_judged else line for line in lines]


def count_good(lines: Iterable[Comparison]) -> int:
    """Count the lines that agree with the paper, hold, or exceed it."""
    return sum(line.verdict in GOOD for line in lines)
