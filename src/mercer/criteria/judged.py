"""A comparison and its result: a score for each candidate, and which one is taken."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from mercer.arrays import Array
from mercer.criteria.candidates import Candidate, Family
from mercer.events import Channel
from mercer.kernels.threads import available_threads, one_blas_thread

SELECT = "select"  # the value of a parameter that is to be selected
FEWEST_ROWS = 20  # with fewer rows settings cannot be compared
_STAGE = "kernels compared"  # what progress displays show
_Found = TypeVar("_Found")
_FEWEST = 2  # families that are tried even if the time is over


@dataclass(frozen=True, eq=False)
class Judged:
    """Candidates with their scores; a higher score is better."""

    candidates: list[Candidate]
    scores: Array  # (candidates,)
    errors: Array  # (candidates,), standard errors of the scores
    chosen: int
    best_linear: int | None  # the best linear candidate, if there is one
    n_rows: int  # that were looked at
    skipped: int = 0  # kernels that were left out because time was over
    trusted: bool = False  # whether the choice was made among trusted settings
    lead_error: float = 0.0  # standard error of the lead of the best candidate over the best linear one

    @property
    def candidate(self) -> Candidate:
        """Return the candidate that is taken."""
        return self.candidates[self.chosen]


@dataclass
class Watch:
    """A time budget."""

    seconds: float | None = None  # None: no limit
    started: float = field(default_factory=time.monotonic)

    @property
    def over(self) -> bool:
        """Tell whether the time is over."""
        return self.seconds is not None and time.monotonic() - self.started > self.seconds


def tried(
    families: Sequence[Family], work: Callable[[Family], _Found], watch: Watch, channel: Channel
) -> dict[Family, _Found]:
    """Return what `work` finds for each family, in threads; families are left out when the time is over."""
    found: dict[Family, _Found] = {}
    lock, threads = Lock(), available_threads()

    def attempt(place: int) -> None:
        if watch.over and place >= _FEWEST:
            return
        result = work(families[place])
        with lock:
            found[families[place]] = result
            channel.emit(_STAGE, len(found), len(families))

    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(attempt, range(len(families))))
    return {family: found[family] for family in families if family in found}
