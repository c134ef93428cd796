"""How unusual a row is to a model: T2 inside its subspace, SPE outside of it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mercer.arrays import Array, IntArray, Points
from mercer.expansion.model import Expansion
from mercer.expansion.part_model import PartModel
from mercer.kernels.distance import RBF, Laplacian

_ABSENT = 1e-12  # share of the largest variance; components with less are not used
_ROUNDING = 1e-13  # share of squared distances from the mean below which SPE is rounding


@dataclass(frozen=True, eq=False)
class ScoreModel:
    """A subspace and the spread of the training rows along its components, from which T2 and SPE are computed."""

    expansion: Expansion  # only the components that are used
    means: Array  # (r,), of the training scores; zero where the model is centred
    variances: Array  # (r,)

    def __call__(self, X: Points) -> Array:
        """Return T2 and SPE of every row, (n, 2), from one pass over the kernel."""
        scores, norms = self.expansion.project_with_norm(X)
        return np.column_stack([self.t2(scores), self.spe(scores, norms)])

    def t2(self, scores: Array) -> Array:
        """Return sum_j (y_j - m_j)^2 / lambda_j [kim2019, rule (28)]."""
        return np.asarray(((scores - self.means) ** 2) @ self.inverse_variances)

    def spe(self, scores: Array, norms: Array) -> Array:
        """Return k'(x, x) - |y|^2, with y in an orthonormal basis [Hoffmann 2007]."""
        explained: Array = np.einsum("ij,ij->i", scores @ self.expansion.gram_inverse, scores)
        return beyond_rounding(norms, explained, usual_norm(self.expansion))

    def half_slopes(self, scores: Array, noise: float) -> tuple[Array, float]:
        """Return half of the gradient of T2 + SPE / noise by the scores, (n, r), and the factor of k'(x, x) in it."""
        inside = (scores - self.means) * self.inverse_variances - scores @ self.expansion.gram_inverse / noise
        return np.asarray(inside), 1.0 / noise

    def far_away(self) -> Array | None:
        """Return T2 and SPE of a row infinitely far from all others, (2,), if the kernel vanishes with distance."""
        model = self.expansion
        if not isinstance(model.kernel, RBF | Laplacian) or model.kernel.gamma == 0:
            return None
        mean_norm = model.mean_norm  # with k(x, points) = 0 and k(x, x) = 1; in the empirical kernel map both are 0
        if model.empirical:
            mean_norm = -1.0 if model.nu is None else float(model.nu @ model.nu) - 1.0
        scores = -np.asarray(model.offset, np.float64)[None]
        return np.array([self.t2(scores)[0], self.spe(scores, np.array([1.0 + mean_norm]))[0]])

    @cached_property
    def inverse_variances(self) -> Array:
        """Return 1 / lambda, and 0 where the variance is negligible."""
        floor = _ABSENT * float(self.variances.max(initial=0.0))
        usable = self.variances > floor
        return np.divide(1.0, self.variances, out=np.zeros_like(self.variances), where=usable)


def usual_norm(expansion: Expansion) -> float:
    """Return the mean squared distance of the training rows from the mean."""
    return (expansion.trace or 0.0) / max(expansion.n_seen, 1)


def beyond_rounding(norms: Array, explained: Array, usual: Array | float) -> Array:
    """Return norms - explained, and zero where that is rounding: rounding errors must not be compared with others."""
    left = norms - explained
    return np.where(left > _ROUNDING * (norms + usual), left, 0.0)


def score_model(expansion: Expansion, explained: float, X: Points | None = None) -> ScoreModel:
    """Return the model of T2 and SPE by the components that hold the share `explained` of all components' variance.

    A centred model has scores of mean zero, and their variances are its eigenvalues. For one that is not centred,
    means and variances are those of the scores of X, the training rows; without X, moments about zero.
    """
    means = np.zeros(expansion.n_components)
    variances = np.asarray(expansion.eigenvalues / max(expansion.n_seen - 1, 1), np.float64)
    if expansion.nu is None and X is not None and X.shape[0] > 1:
        scores = np.asarray(expansion.project(X), np.float64)
        means, variances = scores.mean(axis=0), scores.var(axis=0, ddof=1)
    return leading_model(expansion, means, variances, explained)[0]


def score_part(model: PartModel, explained: float) -> tuple[ScoreModel, Array]:
    """Return the model of T2 and SPE of a model without a part of the rows, and the T2 and SPE of that part, (p, 2)."""
    judge, kept = leading_model(model.expansion, model.means, model.variances, explained)
    scores = model.scores[:, kept]
    return judge, np.column_stack([judge.t2(scores), judge.spe(scores, model.norms)])


def leading_model(
    expansion: Expansion, means: Array, variances: Array, explained: float
) -> tuple[ScoreModel, IntArray]:
    """Return the model of T2 and SPE by the components with the share `explained` of the variance, and which these are.

    Means and variances are those of the training scores, (r,).
    """
    kept = leading_components(variances, explained)
    return ScoreModel(_only(expansion, kept), means[kept], variances[kept]), kept


def leading_components(variances: Array, explained: float) -> IntArray:
    """Return the components of largest variance that together have a given share of it, in their order.

    [kim2019]: those with lambda_j >= alpha, for the largest alpha with sum_{lambda_j >= alpha} lambda_j >= share * sum
    lambda_j; so of components with equal variances all are taken.
    """
    falling = np.sort(variances)[::-1]
    sums = np.cumsum(falling)
    if not sums.size or sums[-1] <= 0:
        return np.arange(len(variances))
    enough = int(np.searchsorted(sums, explained * sums[-1] * (1.0 - 1e-12)))
    return np.flatnonzero(variances >= falling[min(enough, len(falling) - 1)])


def _only(expansion: Expansion, kept: IntArray) -> Expansion:
    if len(kept) == expansion.n_components:
        return expansion
    return replace(
        expansion,
        coef=np.ascontiguousarray(expansion.coef[kept]),
        offset=expansion.offset[kept],
        eigenvalues=expansion.eigenvalues[kept],
        gram=expansion.gram[np.ix_(kept, kept)],
    )
