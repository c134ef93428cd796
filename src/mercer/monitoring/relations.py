"""Relations between columns: is the level of one far from what the other columns let expect?

With the standardised columns z, their correlations R and P = (R + .01 I)^-1, the part of column j that the others do
not explain, in units of its spread, is the regression-adjusted variable [hawkins1991]

    y_j = sum_k P_jk z_k / P_jj^(1/2).

An error of one sensor moves its own y_j most, and further, in units of its spread, than the column itself. Slow means
of y, with the weight .1 of a new row, are followed as those of columns are. Their spreads come from rows that were not
learned from: contiguous parts are held out, and P is that of the other rows. The spread of one slow mean is known from
few independent values, so its square is drawn towards that of all columns, as far as these are alike [smyth2004].
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from mercer.arrays import Array, IntArray
from mercer.engine.scaling import Scaling
from mercer.monitoring.contributions import smoothed_rows
from mercer.monitoring.levels import WILD, Levels, known_of
from mercer.monitoring.thin_matrix import ThinMatrix

SHARE = 0.3  # of the rate of false alarms that is left to relations
_RIDGE = 0.01  # of a squared standard deviation: what a column has at least that others do not explain
_WEIGHT = 0.1  # of a new row
_FAR = 8.0  # standard deviations that a value counts at most in contributions


@dataclass(frozen=True, eq=False)
class Relations:
    """What the columns say about each other, and how far that may be off."""

    scaling: Scaling
    matrix: Array | ThinMatrix  # (k, k), from standardised columns to adjusted ones
    levels: Levels  # of the adjusted columns

    @classmethod
    def of(cls, X: Array, folds: Iterable[tuple[IntArray, IntArray]], place: IntArray | None = None) -> "Relations":
        """Return the relations in training rows, (n, k); folds are held-out rows and rows to learn from.

        place, (n,), has the numbers of the rows where some between them are left out.
        """
        adjusted = np.zeros_like(X)
        for held, learned in folds:
            scaling, matrix = _learned(X[learned])
            adjusted[held] = _adjusted(scaling(X[held]), matrix)
        scaling, matrix = _learned(X)
        return cls(scaling, matrix, _levels(adjusted, place))

    def __call__(self, X: Array) -> Array:
        """Return the adjusted columns of rows, (n, k); a row with a missing value has none."""
        return _adjusted(self.scaling.bounded(X), self.matrix)

    def contributions(self, X: Array, alpha: float) -> Array:
        """Return how much each column contributes to the slow means of rows without a gap in time, (n, k).

        These are reconstruction-based contributions [alcala2009] to the sum of squares of the slow means in units of
        their limits: the amount by which it would fall if one column had the best other values. So an error of one
        sensor contributes most there, also if the limit of another slow mean is lower. Missing values are taken as
        expected.
        """
        Z = np.nan_to_num(np.minimum(np.maximum(self.scaling.bounded(X), -_FAR), _FAR))
        means, limits = smoothed_rows(Z, _WEIGHT), self.levels.unit * self.levels.limits(alpha)
        if isinstance(self.matrix, ThinMatrix):
            return self.matrix.explained(means, limits)
        moves = self.matrix / limits[:, None]  # (k, k), of means by columns
        lengths = np.maximum((moves**2).sum(axis=0), np.finfo(float).tiny)
        return np.asarray((means @ (moves.T @ moves)) ** 2 / lengths)


def _adjusted(Z: Array, matrix: Array | ThinMatrix) -> Array:
    """Return the adjusted columns of standardised rows, (n, k)."""
    return matrix.applied(Z) if isinstance(matrix, ThinMatrix) else np.asarray(Z @ matrix.T)


def _learned(X: Array) -> tuple[Scaling, Array | ThinMatrix]:
    """Return the scaling of rows, and the matrix from standardised columns to adjusted ones."""
    scaling = Scaling.of(X, True)
    Z = scaling(X)
    if X.shape[1] > len(X):
        return scaling, ThinMatrix.of(Z, _RIDGE)
    precision = np.linalg.inv(Z.T @ Z / len(Z) + _RIDGE * np.eye(X.shape[1]))
    return scaling, precision / np.sqrt(np.diag(precision))[:, None]


def _levels(adjusted: Array, place: IntArray | None) -> Levels:
    """Return the levels of adjusted columns of rows that were not learned from; the model of all rows has means 0."""
    d, spread = adjusted.shape[1], adjusted.std(axis=0)
    known = [known_of(column, False, _WEIGHT, place) for column in adjusted.T]
    relative, freedom = np.array(known).reshape(-1, 2).T
    judged = spread > 0
    squares, freedom[judged] = _moderated(relative[judged] ** 2, freedom[judged], len(adjusted))
    relative[judged] = np.sqrt(squares)
    unit = np.where(judged, spread * relative, np.inf)
    return Levels(np.zeros(d), unit, freedom, np.full(d, _WEIGHT), WILD / relative, SHARE).covering(adjusted)


def _moderated(variances: Array, freedom: Array, most: int) -> tuple[Array, Array]:
    """Return variances drawn towards a common one, and their degrees of freedom [smyth2004].

    The logarithm of a variance with f degrees of freedom has the variance trigamma(f / 2). What the variances differ by
    beyond it tells for how many degrees of freedom the common one counts; these are at most those of all rows.
    """
    if len(variances) < 2:
        return variances, freedom
    half = 0.5 * freedom
    logs = np.log(variances) - digamma(half) + np.log(half)
    excess = float(logs.var(ddof=1) - polygamma(1, half).mean())
    prior = min(1.0 + 2.0 / excess, float(most)) if excess > 0 else float(most)  # trigamma(x) is about 1 / (x - 1/2)
    common = np.exp(logs.mean() + digamma(0.5 * prior) - np.log(0.5 * prior))
    total = prior + freedom
    return np.asarray((prior * common + freedom * variances) / total), np.minimum(total, float(most))
