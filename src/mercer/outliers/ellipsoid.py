"""Mahalanobis distance: how far a row lies from the mean, measured by the spread that all columns have together.

It sees what a Gaussian kernel with few components does not: a relation between columns that is broken in a row whose
values are all usual, each for itself. And it grows without end, where a Gaussian kernel cannot tell a row that is far
away from one that is further away.

The covariance is that of the scaled columns, moved towards a multiple of the identity by as much as its own uncertainty
asks for [Ledoit and Wolf 2004], so that columns which repeat each other, or nearly as many columns as rows, are no
special case.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri

from mercer.arrays import Array
from mercer.engine.scaling import Scaling, have_one_unit
from mercer.kernels.threads import one_blas_thread, rows_times

_ROWS_PER_COLUMN = 2  # with fewer rows the covariance says little, and would cost more than the kernel
_LEAST = 1e-9  # share of the mean variance that every direction has at least, so that rounding errors do not count


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """A mean and a covariance of rows."""

    scaling: Scaling
    whitening: Array  # (d, d), the inverse of the lower Cholesky factor of the covariance of scaled rows

    @classmethod
    def of(cls, X: Array, scale: str = "variance") -> "Ellipsoid":
        """Return the mean and the covariance of these rows; there should be more rows than columns."""
        scaling = Scaling.of(X, scale)
        with one_blas_thread():  # several wait for each other, and keep processors busy when the work is done
            covariance = _shrunk_covariance(scaling(X))
            inverse, _ = dtrtri(cholesky(covariance, lower=True, check_finite=False), lower=1)
        return cls(scaling, np.ascontiguousarray(inverse))  # as in a file, so that a saved model gives the same bits

    def __call__(self, X: Array) -> Array:
        """Return the squared distance of every row from the mean, (n,)."""
        spread = rows_times(self.scaling.bounded(X), self.whitening.T)
        return np.asarray(np.einsum("ij,ij->i", spread, spread))

    def contributions(self, X: Array) -> Array:
        """Return by how much the squared distance falls if a feature has the value that the others predict, (n, d).

        This is (C^-1 z)_f^2 / (C^-1)_ff. If one feature is wrong by far, it is the largest one; the terms of the sum
        z_f (C^-1 z)_f are not, where features follow each other closely [Alcala and Qin 2009].
        """
        slopes = self.scaling.bounded(X) @ self.whitening.T @ self.whitening
        return np.asarray(slopes**2 / np.einsum("ij,ij->j", self.whitening, self.whitening))


def _shrunk_covariance(Z: Array) -> Array:
    """Return (1 - s) S + s m I, (d, d), with the covariance S of centred rows, their mean variance m and the best s.

    s is the expected squared error of S, by its squared distance from m I, and at most 1 [Ledoit and Wolf 2004]. The
    same as `sklearn.covariance.ledoit_wolf`, without the time that its checks take, which is longer than the rest.
    """
    n, d = Z.shape
    covariance = Z.T @ Z / n
    mean_variance = float(np.trace(covariance)) / d
    squared = float((covariance**2).sum())
    apart = squared - d * mean_variance**2
    error = (float((np.einsum("ij,ij->i", Z, Z) ** 2).mean()) - squared) / n
    share = min(max(error / apart, 0.0), 1.0) if apart > 0 else 0.0
    covariance *= 1.0 - share
    covariance[np.diag_indices(d)] += (share + _LEAST) * mean_variance or 1.0  # 1: all rows are equal
    return np.asarray(covariance)


def distance_scale(X: Array) -> str:
    """Return how columns are scaled before their covariance is shrunk: all alike if they have one unit."""
    return "common" if have_one_unit(X) else "variance"


def distances_count(statistic: str, n: int, d: int) -> bool:
    """Tell whether the statistic of a detector with n rows and d columns includes Mahalanobis distances."""
    return statistic == "all" and n >= _ROWS_PER_COLUMN * d
