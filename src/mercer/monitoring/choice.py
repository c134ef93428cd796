"""The choice of kernel, width and number of components from normal rows alone.

Each candidate is fitted without a part of the rows and judges that part, as it is and with pretended faults. The limit
of each candidate is the one that the monitor would take for it, so that all have the same rate of false alarms, and a
model with few but large scores of normal rows has a high limit. The candidate that finds most of the faulty rows is
taken. A Gaussian kernel is taken only where it finds more than the linear model by more than two standard errors over
the faults: the best of a dozen candidates is better than one by one standard error even if all are equal. It has at
most one component per five independent rows, and is not tried where these are too few: what a curved model takes for
normal is known only near rows that it has seen.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.scaling import Scaling
from mercer.kernels.resolve import median_gamma
from mercer.monitoring.candidates import LEAST_COUNT, ROWS_PER_COMPONENT, WIDTHS, Candidate
from mercer.monitoring.charts import Chart
from mercer.monitoring.limits import Dependence, UpperLimit
from mercer.monitoring.pretended import Fault, pretended_faults
from mercer.monitoring.split import path_of_scores
from mercer.outliers.folds import contiguous_folds

_FOLDS = 5
_MOST_ROWS = 600  # to choose from; of more rows every second, third, ... is taken
_ROWS_PER_FOLD = 40  # with pretended faults
_SURE = 2.0  # standard errors by which a Gaussian kernel must find more than a linear model


@dataclass(frozen=True, eq=False)
class Choice:
    """A kernel with a number of components, and the share of pretended faults that it found."""

    candidate: Candidate
    n_components: int
    found: float | None = None
    found_by_linear: float | None = None

    def __str__(self) -> str:
        """Return the choice and the reason in words."""
        what = f"{self.candidate} with {self.n_components} component{'' if self.n_components == 1 else 's'}"
        if self.found is None or self.found_by_linear is None:
            return what
        if self.candidate.gamma is None:
            return f"{what}: it finds {self.found:.1%} of pretended faults, and no Gaussian kernel clearly more"
        return f"{what}: it finds {self.found:.1%} of pretended faults, linear models {self.found_by_linear:.1%}"


@dataclass(frozen=True)
class Rate:
    """The rate of false alarms at which candidates are compared, and the confidence in it."""

    alpha: float
    confidence: float


def choose(
    X: Array, n_variables: int, gap: int, standardize: str | bool, rate: Rate, rng: np.random.RandomState
) -> Choice:
    """Return the kernel and the number of components for normal rows in the order of time, with their lags."""
    step = -(-len(X) // _MOST_ROWS)
    X, gap = X[::step], -(-gap // step)
    faults = pretended_faults(X, n_variables, rng)
    median = median_gamma(Scaling.of(X, standardize)(X), rng.randint(2**31))
    held = HeldOut(X, faults, list(contiguous_folds(len(X), min(_FOLDS, len(X)), gap)), standardize)
    linear = held.judged(Candidate(None), X.shape[1])
    tried = {Candidate(None): (linear.counts, linear.found(rate))}
    most = int(linear.independent / ROWS_PER_COMPONENT)
    # of one column ten components of a Gaussian kernel leave nearly nothing, which varies too much for limits that hold
    for width in WIDTHS if most >= LEAST_COUNT and X.shape[1] > 1 else ():
        judged = held.judged(Candidate(width * median, width), most)
        tried[Candidate(width * median, width)] = judged.counts, judged.found(rate)
    return _best(tried)


def _best(tried: dict[Candidate, tuple[list[int], Array]]) -> Choice:
    """Return the best of all candidates, by the counts and shares, (faults, counts), of each."""
    best: dict[Candidate, tuple[int, Array]] = {}
    for candidate, (counts, shares) in tried.items():
        at = int(shares.mean(axis=0).argmax())
        best[candidate] = counts[at], shares[:, at]
    linear = next(candidate for candidate in best if candidate.gamma is None)
    leader = max(best, key=lambda candidate: float(best[candidate][1].mean()))
    gain = best[leader][1] - best[linear][1]
    if gain.mean() <= _SURE * gain.std() / np.sqrt(len(gain)):
        leader = linear
    count, shares = best[leader]
    return Choice(leader, count, float(shares.mean()), float(best[linear][1].mean()))


@dataclass(frozen=True, eq=False)
class Judged:
    """What a candidate says of held-out rows, for several numbers of components."""

    counts: list[int]
    normal: Array  # (n, counts, 2), T2 and SPE of normal rows in the order of time
    faulty: Array  # (faults, rows, counts, 2), of rows with pretended faults

    @property
    def independent(self) -> float:
        """The number of normal rows that are independent, by the larger of T2 and SPE."""
        return Dependence.of(self._values(-1)[1]).effective

    def _values(self, at: int) -> tuple[Chart, Array]:
        chart = Chart.of(self.normal[:, at], np.ones(2), (0, 1))
        return chart, chart.standardised(self.normal[:, at]).max(axis=1)

    def found(self, rate: Rate) -> Array:
        """Return the share of rows above the limit, (faults, counts)."""
        shares = np.empty((len(self.faulty), len(self.counts)))
        for i in range(len(self.counts)):
            chart, values = self._values(i)
            limit = UpperLimit(values, rate.confidence, Dependence.of(values))(rate.alpha)
            shares[:, i] = (chart.standardised(self.faulty[:, :, i]).max(axis=2) > limit).mean(axis=1)
        return shares


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Normal rows of which one part after the other is held out, and faults that are pretended on it."""

    X: Array  # (n, D)
    faults: list[Fault]
    folds: list[tuple[slice, IntArray]]
    standardize: str | bool

    def judged(self, candidate: Candidate, most: int) -> Judged:
        """Return what a candidate with at most so many components says."""
        counts = candidate.counts(self.X[self.folds[0][1]], most)
        normal, faulty = [], []
        for held, learned in self.folds:
            known, rows = self.X[learned], self.X[held]
            scaling = Scaling.of(known, self.standardize)
            model = candidate.fitted(scaling(known), counts[-1])
            some = rows[np.unique(np.linspace(0, len(rows) - 1, _ROWS_PER_FOLD).astype(int))]
            changed = np.concatenate([fault(some, known) for fault in self.faults])
            normal.append(path_of_scores(model, scaling(rows), counts))
            scores = path_of_scores(model, scaling(changed), counts)
            faulty.append(scores.reshape(len(self.faults), len(some), len(counts), 2))
        return Judged(counts, np.concatenate(normal), np.concatenate(faulty, axis=1))


def given(expansion: Any) -> Choice:
    """Return the choice that a user's estimator is."""
    gamma = getattr(expansion.kernel, "gamma", None)
    return Choice(Candidate(gamma), expansion.n_components)
