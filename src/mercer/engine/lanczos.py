"""Lanczos iteration on a matrix in memory: a few leading eigenpairs from one start vector, without restarts.

Every new vector is made orthogonal to all earlier ones, so that no eigenvalue appears twice. A few dozen steps are
enough for a few pairs of a kernel matrix, which is why the basis need not be shortened.
"""

from dataclasses import dataclass
from math import log

import numpy as np
from scipy.linalg.blas import dnrm2, dsymv

from mercer.arrays import Array
from mercer.engine.tridiagonal import largest_pairs, lowest_value

_RESIDUAL = 1e-12  # relative to the largest eigenvalue: far below what changes the eigenvalues
_FIRST, _FIRST_PER_PAIR = 6, 2  # steps before the first look at the residuals
_MOST, _MOST_PER_PAIR = 100, 5  # steps after which the iteration is given up
_INVARIANT = 1e-14  # relative to the product: a shorter new vector is rounding
_SHORTEST, _LONGEST = 2, 12  # steps between two looks at the residuals


@dataclass(frozen=True, eq=False)
class LanczosPairs:
    """Eigenpairs, and the smallest Ritz value, which is an upper bound of the smallest eigenvalue."""

    values: Array  # (r,), descending
    vectors: Array  # (n, r)
    lowest: float
    n_steps: int


@dataclass
class _Looks:
    """When to look at the residuals: a look takes as long as a step."""

    next: int
    before: tuple[int, float] | None = None  # step and residual of the last look

    def plan(self, step: int, residual: float) -> None:
        """Take a residual into account; the next look is when it should be small enough."""
        wait = float(_SHORTEST)
        if self.before is not None and 0 < residual < self.before[1]:
            per_step = log(self.before[1] / residual) / (step - self.before[0])
            wait = 0.8 * log(residual / _RESIDUAL) / per_step
        self.next = step + int(min(max(wait, _SHORTEST), _LONGEST))
        self.before = step, residual


@dataclass(frozen=True, eq=False)
class _Basis:
    """Orthonormal rows Q, and the tridiagonal matrix Q K Q^T."""

    Q: Array  # (capacity + 1, n)
    diagonal: Array  # (capacity,)
    beside: Array  # (capacity,), the last one used is the length of the next row before it is normalised

    def extend(self, product: Array, size: int) -> bool:
        """Add a row from the product of the last of `size` rows; return whether there is something outside of them."""
        used = self.Q[:size]
        inside = used @ product
        product -= inside @ used
        again = used @ product  # what rounding has left, which would become larger with every step
        product -= again @ used
        norm = dnrm2(product)
        self.diagonal[size - 1], self.beside[size - 1] = inside[-1] + again[-1], norm
        if norm <= _INVARIANT * dnrm2(inside):
            return False
        np.divide(product, norm, out=self.Q[size])  # 1 / norm could overflow
        return True


def lanczos(K: Array, n_pairs: int, start: Array, least_steps: int = 0) -> LanczosPairs | None:
    """Return the leading eigenpairs of a symmetric matrix; None where they do not converge soon.

    `K` is in the order of BLAS, of which the upper triangle is read; `start` is a vector of length n that is not zero.
    Of several eigenvectors with the same eigenvalue this method finds one. More steps than the pairs need make the
    bound of the smallest eigenvalue tight.
    """
    n = len(K)
    most = min(n, _MOST + _MOST_PER_PAIR * n_pairs)
    basis = _Basis(np.empty((most + 1, n)), np.empty(most), np.empty(most))
    basis.Q[0] = start / dnrm2(start)
    looks = _Looks(max(_FIRST + _FIRST_PER_PAIR * n_pairs, least_steps))
    for size in range(1, most + 1):
        ended = not basis.extend(dsymv(1.0, K, basis.Q[size - 1]), size) or size == most
        if size >= n_pairs and (size >= looks.next or ended):
            values, rotation = largest_pairs(basis.diagonal[:size], basis.beside[: size - 1], n_pairs)
            residual = float(np.abs(rotation[-1]).max()) * float(basis.beside[size - 1])
            residual /= float(np.abs(values).max()) or 1.0
            if residual <= _RESIDUAL:
                lowest = lowest_value(basis.diagonal[:size], basis.beside[: size - 1])
                return LanczosPairs(values[::-1], basis.Q[:size].T @ rotation[:, ::-1], lowest, size)
            looks.plan(size, residual)
        if ended:
            return None
    return None
