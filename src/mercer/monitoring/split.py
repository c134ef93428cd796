"""T2 of the main components, and SPE of all other directions in units of their own spreads.

The main components hold nine tenths of the variance. The usual SPE is dominated by the largest of the other directions,
and does not see when a relation between variables breaks that normal rows keep closely. Here the score of each other
component is divided by its standard deviation, as T2 of the last components [hawkins1974]. What no component describes
counts in units of the last component, the smallest:

    T2 = sum_{j <= r} y_j^2 / lambda_j,    SPE = sum_{r < j <= k} y_j^2 / lambda_j + (|x|^2 - |y|^2) / lambda_k.
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.outliers.scores import ScoreModel

_MAIN = 0.9  # share of the variance that the main components hold


@dataclass(frozen=True, eq=False)
class SplitModel(ScoreModel):
    """A centred model with orthonormal components, of which the first ones are the main ones."""

    main: int  # number of components in T2

    @classmethod
    def of(cls, expansion: Expansion, n_components: int) -> "SplitModel":
        """Return the model with at most so many components."""
        kept = expansion.truncated(min(n_components, expansion.n_components))
        variances = variances_of(kept)
        return cls(kept, np.zeros(kept.n_components), variances, main_of(variances, total_variance(kept)))

    @property
    def rest(self) -> float:
        """The weight of what no component describes; 1 if training rows are all equal."""
        return float(self.inverse_variances[-1]) or 1.0

    def t2(self, scores: Array) -> Array:
        """Return T2 of the main components."""
        return np.asarray(scores[:, : self.main] ** 2 @ self.inverse_variances[: self.main])

    def spe(self, scores: Array, norms: Array) -> Array:
        """Return SPE of all other directions, in units of their spreads."""
        squares = scores**2
        outside = np.maximum(norms - squares.sum(axis=1), 0.0)
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


def path_of_scores(expansion: Expansion, X: Array, counts: list[int]) -> Array:
    """Return T2 and SPE of each row for several numbers of components, (n, counts, 2)."""
    whole = SplitModel.of(expansion, expansion.n_components)
    scores, norms = expansion.project_with_norm(X)
    squares, total = scores**2, total_variance(expansion)
    scaled, explained = np.cumsum(squares * whole.inverse_variances, axis=1), np.cumsum(squares, axis=1)
    found = np.empty((len(X), len(counts), 2))
    for i, count in enumerate(min(count, expansion.n_components) for count in counts):
        main, last = main_of(whole.variances[:count], total) - 1, count - 1
        outside = np.maximum(norms - explained[:, last], 0.0) * (whole.inverse_variances[last] or 1.0)
        found[:, i] = np.column_stack([scaled[:, main], scaled[:, last] - scaled[:, main] + outside])
    return found
