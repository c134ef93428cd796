"""The matrix of adjusted columns where there are more columns than rows, by a factor with as many columns as rows.

With n standardised rows Z of k columns and the ridge r,

    P = (Z^T Z / n + r I)^-1 = (I - L L^T) / r,    L = Z^T C,    C C^T = (Z Z^T + n r I)^-1,

so that nothing of the size k x k is held or inverted. The lengths of the rows of L are below 1: with standardised
columns 1 - |l_j|^2 is at least r / (1 + r), so that the difference loses no more than log10(1 / r) digits.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class ThinMatrix:
    """The matrix with the entries P_jk / P_jj^(1/2), for P = (I - L L^T) / ridge."""

    factor: Array  # (k, n), L
    ridge: float

    @classmethod
    def of(cls, Z: Array, ridge: float) -> "ThinMatrix":
        """Return the matrix of standardised rows, (n, k); k is larger than n."""
        n = len(Z)
        root = cholesky(Z @ Z.T + n * ridge * np.eye(n), lower=True)
        return cls(np.ascontiguousarray(solve_triangular(root, Z, lower=True).T), ridge)

    @property
    def _left(self) -> Array:
        """Return 1 - |l_j|^2, (k,): the share of each column that all of them leave unexplained."""
        return np.asarray(1.0 - np.einsum("ij,ij->i", self.factor, self.factor))

    def applied(self, Z: Array) -> Array:
        """Return the adjusted columns of standardised rows, (m, k)."""
        return np.asarray((Z - (Z @ self.factor) @ self.factor.T) / np.sqrt(self.ridge * self._left))

    def explained(self, Z: Array, limits: Array) -> Array:
        """Return by how much the sum of squares of adjusted columns falls for the best other value of each, (m, k).

        The adjusted columns are in units of limits, (k,).
        """
        L, left = self.factor, self._left
        squares = 1.0 / (limits**2 * left)  # of the rows of I - L L^T in the sum; the ridge is part of both below
        back = (Z - (Z @ L) @ L.T) * squares
        back -= (back @ L) @ L.T
        others = np.einsum("ij,ij->i", L @ (L.T @ (squares[:, None] * L)), L) - squares * (1.0 - left) ** 2
        lengths = np.maximum(others, 0.0) + squares * left**2
        return np.asarray(back**2 / np.maximum(lengths, np.finfo(float).tiny) / self.ridge)
