"""Some eigenpairs of a tridiagonal matrix, and of a symmetric matrix from its tridiagonal form.

LAPACK's driver for some pairs, `syevr`, computes the tridiagonal form T = Q^T K Q and forgets it. Here it is kept: the
smallest eigenvalue, which tells whether a kernel is indefinite, then costs nearly nothing more.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.linalg.lapack import dormqr, dstebz, dstemr, dsytrd

from mercer.arrays import Array

_BY_POSITION = 2  # LAPACK's code for "pairs number il to iu"
_BLOCK = 32  # columns that LAPACK treats at once


@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """K = Q T Q^T; Q is a product of n - 1 reflections."""

    diagonal: Array  # (n,), of T
    beside: Array  # (n - 1,), of T
    reflections: Array  # (n, n), one per column, below the diagonal
    scales: Array  # (n - 1,)

    @classmethod
    def of(cls, K: Array) -> "Tridiagonal":
        """Return the tridiagonal form of a symmetric matrix of at least two rows, which is overwritten."""
        reflections, diagonal, beside, scales, _ = dsytrd(K.T, lower=1, lwork=_BLOCK * len(K), overwrite_a=1)
        return cls(diagonal, beside, reflections, scales)

    def lowest(self) -> float:
        """Return the smallest eigenvalue."""
        return lowest_value(self.diagonal, self.beside)

    def leading(self, n_pairs: int) -> tuple[Array, Array]:
        """Return the largest eigenvalues, descending, and their vectors, (n, n_pairs)."""
        values, vectors = largest_pairs(self.diagonal, self.beside, n_pairs)
        turned, _, _ = dormqr("L", "N", self.reflections[1:, :-1], self.scales, vectors[1:], _BLOCK * n_pairs)
        return values[::-1], np.vstack([vectors[:1], turned])[:, ::-1]


def lowest_value(diagonal: Array, beside: Array) -> float:
    """Return the smallest eigenvalue of T; the method computes squares, so T is scaled to size 1."""
    if len(diagonal) == 1:
        return float(diagonal[0])
    size = max(float(np.abs(diagonal).max()), float(np.abs(beside).max())) or 1.0
    diagonal, beside = diagonal / size, beside / size
    found, values, _, _, failed = dstebz(diagonal, beside, _BY_POSITION, 0.0, 0.0, 1, 1, 0.0, "E")
    if failed or not found:
        values = eigh_tridiagonal(diagonal, beside, eigvals_only=True)
    return size * float(values[0])


def largest_pairs(diagonal: Array, beside: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of T, ascending, and their vectors, (n, n_pairs).

    The method for some pairs can fail, or return too few for matrices near the identity: then all are computed.
    """
    n = len(diagonal)
    padded = np.append(beside, 0.0)
    found, values, vectors, failed = dstemr(diagonal, padded, _BY_POSITION, 0.0, 0.0, n - n_pairs + 1, n)
    if not failed and found == n_pairs and np.isfinite(vectors[:, :n_pairs]).all():
        return values[:n_pairs], vectors[:, :n_pairs]
    values, vectors = eigh_tridiagonal(diagonal, beside, lapack_driver="stev")
    return values[-n_pairs:], vectors[:, -n_pairs:]
