"""T2 of the main components, and SPE of all other directions in units of their own spreads.

The main components hold nine tenths of the variance. The usual SPE is dominated by the largest of the other directions,
and does not see when a relation between variables breaks that normal rows keep closely. Here the score of each other
component is divided by its standard deviation, as T2 of the last components [hawkins1974]. What no component describes
counts in units of the last component, the smallest:

    T2 = sum_{j <= r} y_j^2 / lambda_j,    SPE = sum_{r < j <= k} y_j^2 / lambda_j + (|x|^2 - |y|^2) / lambda_k.

If the components describe all that varied, such as all but constant columns, anything else is unusual: there, lambda_k
is replaced by what counts as no variance.
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.outliers.scores import ScoreModel

_MAIN = 0.9  # share of the variance that the main components hold
_ABSENT = 1e-10  # share of a variance that counts as none
_ROUNDING = 1e-12  # share of a squared length that counts as none


@dataclass(frozen=True, eq=False)
class SplitModel(ScoreModel):
    """A centred model with orthonormal components, of which the first ones are the main ones."""

    main: int  # number of components in T2
    rest: float  # weight of what no component describes

    @classmethod
    def of(cls, expansion: Expansion, n_components: int) -> "SplitModel":
        """Return the model with at most so many components."""
        kept = expansion.truncated(min(n_components, expansion.n_components))
        variances, total = variances_of(kept), total_variance(kept)
        means = np.zeros(kept.n_components)
        return cls(kept, means, variances, main_of(variances, total), rest_of(variances, total))

    def t2(self, scores: Array) -> Array:
        """Return T2 of the main components."""
        return np.asarray(scores[:, : self.main] ** 2 @ self.inverse_variances[: self.main])

    def spe(self, scores: Array, norms: Array) -> Array:
        """Return SPE of all other directions, in units of their spreads."""
        squares = scores**2
        outside = beyond(norms, squares.sum(axis=1))
        return np.asarray(squares[:, self.main :] @ self.inverse_variances[self.main :] + self.rest * outside)

    def half_slopes(self, scores: Array, noise: float) -> tuple[Array, float]:
        """Return half of the gradient of T2 + SPE / noise by the scores, (n, k), and the factor of |x|^2 in it."""
        factors = self.inverse_variances.copy()
        factors[self.main :] /= noise
        return scores * (factors - self.rest / noise), self.rest / noise


def variances_of(expansion: Expansion) -> Array:
    """Return the variances of the training rows along the components, (k,)."""
    return np.asarray(expansion.eigenvalues / max(expansion.n_seen - 1, 1), np.float64)


def total_variance(expansion: Expansion) -> float:
    """Return the variance of the training rows in all directions."""
    trace = expansion.eigenvalues.sum() if expansion.trace is None else expansion.trace
    return float(trace) / max(expansion.n_seen - 1, 1)


def main_of(variances: Array, total: float) -> int:
    """Return how many of the components, by falling variances, are main ones: at least one, not all of several."""
    enough = int(np.searchsorted(np.cumsum(variances), _MAIN * total)) + 1
    return min(enough, max(len(variances) - 1, 1))


def rest_of(variances: Array, total: float) -> float:
    """Return the weight of what components with these variances do not describe; 1 if training rows are all equal."""
    complete = total - float(variances.sum()) <= _ABSENT * total
    unit = _ABSENT * float(variances[0]) if complete else float(variances[-1])
    return 1.0 / unit if unit > 0 else 1.0


def beyond(norms: Array, explained: Array) -> Array:
    """Return the squared distances from the components, (n,), without what rounding makes of zero."""
    return np.maximum(norms - explained - _ROUNDING * norms, 0.0)


def path_of_scores(expansion: Expansion, X: Array, counts: list[int]) -> Array:
    """Return T2 and SPE of each row for several numbers of components, (n, counts, 2)."""
    whole = SplitModel.of(expansion, expansion.n_components)
    scores, norms = expansion.project_with_norm(X)
    squares, total = scores**2, total_variance(expansion)
    scaled, explained = np.cumsum(squares * whole.inverse_variances, axis=1), np.cumsum(squares, axis=1)
    found = np.empty((len(X), len(counts), 2))
    for i, count in enumerate(min(count, expansion.n_components) for count in counts):
        main, last = main_of(whole.variances[:count], total) - 1, count - 1
        outside = beyond(norms, explained[:, last]) * rest_of(whole.variances[:count], total)
        found[:, i] = np.column_stack([scaled[:, main], scaled[:, last] - scaled[:, main] + outside])
    return found
