"""The choice of kernel, width and number of components from normal rows alone.

Each candidate is fitted without a part of the rows and judges that part, as it is and with pretended faults. The limit
of each candidate is the one that the monitor would take for it, so that all have the same rate of false alarms, and a
model with few but large scores of normal rows has a high limit. The candidate that finds most of the faulty rows is
taken. A Gaussian kernel is taken only where it finds more than
the best linear model by more than one standard error over the faults.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.kernels.resolve import median_gamma
from mercer.monitoring.candidates import WIDTHS, Candidate
from mercer.monitoring.charts import Chart
from mercer.monitoring.limits import Dependence, UpperLimit
from mercer.monitoring.pretended import Fault, pretended_faults
from mercer.monitoring.split import path_of_scores
from mercer.outliers.folds import contiguous_folds

_FOLDS = 5
_MOST_ROWS = 600  # to choose from; of more rows every second, third, ... is taken
_ROWS_PER_FOLD = 40  # with pretended faults


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
    candidates = [Candidate(None), *(Candidate(width * median, width) for width in WIDTHS)]
    tried = {candidate: _shares_found(candidate, X, faults, gap, standardize, rate) for candidate in candidates}
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
    if gain.mean() <= gain.std() / np.sqrt(len(gain)):
        leader = linear
    count, shares = best[leader]
    return Choice(leader, count, float(shares.mean()), float(best[linear][1].mean()))


def _shares_found(
    candidate: Candidate, X: Array, faults: list[Fault], gap: int, standardize: str | bool, rate: Rate
) -> tuple[list[int], Array]:
    """Return the numbers of components that were tried, and the share of rows found of each fault, (faults, counts)."""
    normal, faulty = [], []
    folds = list(contiguous_folds(len(X), min(_FOLDS, len(X)), gap))
    counts = candidate.counts(X[folds[0][1]])
    for held, learned in folds:
        scaling = Scaling.of(X[learned], standardize)
        model = candidate.fitted(scaling(X[learned]), counts[-1])
        rows = X[held]
        some = rows[np.unique(np.linspace(0, len(rows) - 1, _ROWS_PER_FOLD).astype(int))]
        changed = np.concatenate([fault(some, X[learned]) for fault in faults])
        normal.append(path_of_scores(model, scaling(rows), counts))
        faulty.append(path_of_scores(model, scaling(changed), counts).reshape(len(faults), len(some), len(counts), 2))
    return counts, _found(np.concatenate(normal), np.concatenate(faulty, axis=1), rate)


def _found(normal: Array, faulty: Array, rate: Rate) -> Array:
    """Return the share of rows above the limit, (faults, counts), of scores (..., counts, 2)."""
    shares = np.empty((faulty.shape[0], normal.shape[1]))
    for i in range(normal.shape[1]):
        chart = Chart.of(normal[:, i], np.ones(2), (0, 1))
        values = chart.standardised(normal[:, i]).max(axis=1)
        limit = UpperLimit(values, rate.confidence, Dependence.of(values))(rate.alpha)
        shares[:, i] = (chart.standardised(faulty[:, :, i]).max(axis=2) > limit).mean(axis=1)
    return shares


def given(expansion: Any) -> Choice:
    """Return the choice that a user's estimator is."""
    gamma = getattr(expansion.kernel, "gamma", None)
    return Choice(Candidate(gamma), expansion.n_components)
