"""Upper bounds of the column sums sum_i |K~_ij| that stay valid after deflations, for K~ = Z Z^T."""

import numpy as np

from mercer.arrays import Array, IntArray

_EPS = float(np.finfo(np.float64).eps)
_LEAST_WEIGHT = 1e-3  # share of the mean length: rows of length zero need a weight, too


class SumBounds:
    """Two bounds per column; the smaller one is used.

    Cauchy-Schwarz: (sum_i |K~_ij|)^2 <= sum_i a_i sum_i K~_ij^2 / a_i, for any weights a_i > 0; lengths of the rows are
    good weights. And a sum that is known grows at most by |u_j| sum_i |u_i| when u u^T is subtracted from K~.
    """

    def __init__(self, Z: Array, squares: Array) -> None:  # (n, d), (n,)
        self._known = np.full(len(Z), np.inf)
        self._weigh(Z, squares)

    def _weigh(self, Z: Array, squares: Array) -> None:
        """Compute the first bound again, with the current row lengths."""
        n, self._dimensions = Z.shape
        lengths = np.sqrt(squares)
        self._weights = np.maximum(lengths, _LEAST_WEIGHT * lengths.mean())
        self._spread = np.einsum("ij,ij->i", Z @ ((Z.T / self._weights) @ Z), Z)  # sum_i K~_ij^2 / a_i
        self._rounding = 4.0 * _EPS * (n + self._dimensions) * squares * (squares / self._weights).sum()
        self._slack = self._rounding.copy()

    def sums(self) -> Array:
        """Return the bounds, (n,)."""
        spread = self._weights.sum() * np.maximum(self._spread + self._slack, 0.0)
        return np.asarray(np.minimum(self._known, np.sqrt(spread)))

    def learn(self, columns: IntArray, sums: Array) -> None:
        """Store known sums of some columns."""
        self._known[columns] = sums

    def deflate(self, Z: Array, squares: Array, u: Array) -> None:
        """Update the bounds for K~ - u u^T; Z and `squares` are still those of K~."""
        if 2 * Z.shape[1] <= self._dimensions:  # the weights are out of date, and the bounds too loose
            self._weigh(Z, squares)
        scaled, lengths = u / self._weights, np.sqrt(squares)
        self._spread += u * (u * float(u @ scaled) - 2.0 * (Z @ (scaled @ Z)))
        self._slack += self._rounding
        self._known += np.abs(u) * np.abs(u).sum() + 16.0 * _EPS * lengths * lengths.sum()
