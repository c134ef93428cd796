"""Missing values of a row, replaced by what is expected given the others.

For a normal distribution with mean m and covariance S, the missing part M of a row given the observed part O has the
mean

    m_M + S_MO S_OO^-1 (x_O - m_O)        [little2002, section 7.2].

S is shrunk [ledoit2004], so that few rows are enough. For a Gaussian kernel this is only the start. With the noise g of
SPE, the model's own density of a row is exp(-J / 2) with J = T2 + SPE / g, up to a factor; for a linear model this is
probabilistic PCA [tipping1999]. The missing part goes down J by steps of Newton's kind, with the observed part held.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.covariance import ledoit_wolf

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.kernels.distance import RBF
from mercer.monitoring.thin_covariance import ThinCovariance
from mercer.outliers.panel import Judge
from mercer.outliers.scores import ScoreModel

_RIDGE = 1e-9
_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal distribution of rows."""

    mean: Array  # (D,)
    unit: Array  # (D,)
    correlation: Array | ThinCovariance  # (D, D), shrunk, of the rows in these units

    @classmethod
    def of(cls, X: Array) -> "Normal":
        """Return the distribution of rows."""
        scaling = Scaling.of(X, True)
        if X.shape[1] > len(X):
            return cls(scaling.mean, scaling.unit, ThinCovariance.of(scaling(X), _RIDGE))
        found = np.asarray(ledoit_wolf(scaling(X), assume_centered=True)[0])
        ridge = _RIDGE * float(np.trace(found)) / len(found) + np.sqrt(np.finfo(float).tiny)
        return cls(scaling.mean, scaling.unit, found + ridge * np.eye(len(found)))

    def weights(self, missing: npt.NDArray[np.bool_]) -> Array:
        """Return the coefficients of the missing columns on the observed ones, (observed, missing), in units."""
        seen, R = ~missing, self.correlation
        if isinstance(R, ThinCovariance):
            return R.weights(missing)
        return np.linalg.solve(R[np.ix_(seen, seen)], R[np.ix_(seen, missing)])

    def spread(self, missing: npt.NDArray[np.bool_], weights: Array) -> Array:
        """Return the conditional covariance of the missing columns, (missing, missing), in units."""
        R = self.correlation
        if isinstance(R, ThinCovariance):
            return R.spread(missing, weights)
        return np.asarray(R[np.ix_(missing, missing)] - R[np.ix_(missing, ~missing)] @ weights)

    def filled(self, X: Array, missing: npt.NDArray[np.bool_], weights: Array) -> Array:
        """Return rows with the conditional means of the missing columns."""
        seen, rows = ~missing, X.copy()
        expected = Scaling(self.mean[seen], self.unit[seen]).bounded(X[:, seen]) @ weights
        rows[:, missing] = self.mean[missing] + self.unit[missing] * expected
        return rows


@dataclass(frozen=True, eq=False)
class Imputer:
    """Fills the missing columns of rows by a distribution and a model."""

    judge: Judge
    normal: Normal
    missing: npt.NDArray[np.bool_]  # (D,)
    weights: Array  # (observed, missing)
    noise: float  # of SPE

    @classmethod
    def of(cls, judge: Judge, normal: Normal, missing: npt.NDArray[np.bool_], noise: float) -> "Imputer":
        """Return the imputer for a set of missing columns."""
        return cls(judge, normal, missing, normal.weights(missing), noise)

    def start(self, X: Array) -> Array:
        """Return rows whose missing columns hold their conditional means."""
        return self.normal.filled(X, self.missing, self.weights)

    @property
    def iterates(self) -> bool:
        """Whether the model's density can be climbed: that of a Gaussian kernel."""
        expansion = self.judge.model.expansion
        return isinstance(expansion.kernel, RBF) and not expansion.empirical

    def refined(self, rows: Array) -> Array:
        """Return filled rows whose missing columns were moved to where the model's density is higher."""
        scaling, found = self.judge.scaling, rows.copy()
        unit = self.normal.unit[self.missing] / scaling.unit[self.missing]
        step = self.normal.spread(self.missing, self.weights) * unit[:, None] * unit
        scaled = refine(self.judge.model, scaling.bounded(rows), self.missing, self.noise, step)[:, self.missing]
        found[:, self.missing] = scaling.mean[self.missing] + scaling.unit[self.missing] * scaled
        return found


def refine(model: ScoreModel, Z: Array, missing: npt.NDArray[np.bool_], noise: float, step: Array) -> Array:
    """Return scaled rows whose missing columns go down J = T2 + SPE / noise by steps of Newton's kind.

    step, (missing, missing), is the conditional covariance of the missing columns: half of the inverse Hessian of J if
    the rows are normal. Steps are halved where J does not fall.
    """
    best, (lowest, slope) = Z.copy(), index_and_slope(model, Z, noise)
    rate = np.ones(len(Z))
    for _ in range(_ROUNDS):
        trial = best.copy()
        trial[:, missing] -= 0.5 * rate[:, None] * (slope[:, missing] @ step)
        index, new = index_and_slope(model, trial, noise)
        better = index < lowest
        best[better], lowest[better], slope[better] = trial[better], index[better], new[better]
        rate = np.where(better, np.minimum(2.0 * rate, 1.0), 0.5 * rate)
    return best


def index_and_slope(model: ScoreModel, Z: Array, noise: float) -> tuple[Array, Array]:
    """Return J = T2 + SPE / noise and its gradient with regard to the rows, for a Gaussian kernel."""
    expansion, gamma = model.expansion, _gamma(model)
    k = expansion.kernel_blocks(Z).against(Z)
    scores, norms = expansion.project_with_norm(Z)
    index = model.t2(scores) + model.spe(scores, norms) / noise
    inside, of_norm = model.half_slopes(scores, noise)
    outer = inside @ expansion.coef
    weights = 2.0 * k * (outer if expansion.nu is None else outer - of_norm * expansion.nu)
    return index, np.asarray(2.0 * gamma * (weights @ expansion.points - Z * weights.sum(axis=1, keepdims=True)))


def _gamma(model: ScoreModel) -> float:
    kernel = model.expansion.kernel
    assert isinstance(kernel, RBF)
    return float(kernel.gamma)
