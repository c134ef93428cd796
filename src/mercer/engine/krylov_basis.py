"""The basis of a block Krylov iteration: orthonormal rows, and the projection of the operator on them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from mercer.arrays import Array

_HARDLY_CHANGED, _MOST_TIMES = 0.5, 4  # length of rows after they are made orthogonal to others; how often that is done
_FULL_RANK = 1e-6  # smallest pivot of a Cholesky factor, relative to the largest, where rows count as independent


@dataclass
class KrylovBasis:
    """Orthonormal rows Q, the projection T = Q K' Q^T, and the newest block, whose products are not computed yet."""

    Q: Array  # (capacity, n), one basis vector per row
    T: Array  # (capacity, capacity)
    done: int  # rows of Q whose products are in T
    size: int  # rows of Q in use, the newest block included
    near: int = 0  # products of the newest block have no components in rows before this one
    coupling: Array | None = None  # (b, b'), inner products of the newest block with those of the block before it

    @classmethod
    def begin(cls, start: Array, capacity: int) -> "KrylovBasis":
        """Return a basis that consists of one block."""
        n = len(start)
        basis = cls(np.empty((capacity, n)), np.zeros((capacity, capacity)), 0, 0)
        basis._append(basis._orthogonal(_leading_rows(start.T, n)[0])[0])
        return basis

    @property
    def newest(self) -> Array:
        """The newest block, (b, n)."""
        return self.Q[self.done : self.size]

    def absorb(self, product: Array) -> Array:
        """Put the products of the newest block, (b, n), into T; return the part of them outside the basis.

        K' is symmetric, so only the newest block and the one before it (after a restart: all) have inner products
        with them. Those with the block before are known from its own products, which may be more accurate.
        """
        used = self.Q[self.near : self.size]
        projected = product @ used.T
        self.T[self.done : self.size, : self.size] = 0.0
        self.T[: self.size, self.done : self.size] = 0.0
        self.T[self.done : self.size, self.near : self.size] = projected
        self.T[self.near : self.size, self.done : self.size] = projected.T
        if self.coupling is not None:
            rows = slice(self.done, self.done + len(self.coupling))
            self.T[rows, self.near : self.done] = self.coupling
            self.T[self.near : self.done, rows] = self.coupling.T
        return np.asarray(product - projected @ used)

    def extend(self, remainder: Array, negligible: float) -> Array:
        """Make an orthonormal basis of the remainder the newest block; return R with remainder = R^T block."""
        block, R = _leading_rows(remainder, self.Q.shape[1] - self.size)
        sizes = np.einsum("ij,ij->i", R, R)
        if sizes.min(initial=np.inf) <= negligible**2:
            keep = sizes > negligible**2
            block, R = block[keep], R[keep]
        block, correction = self._orthogonal(block)
        self.near, self.done = self.done, self.size
        self._append(block)
        self.coupling = np.asarray(correction @ R)
        return self.coupling

    def _orthogonal(self, block: Array) -> tuple[Array, Array]:
        """Return orthonormal rows, orthogonal to the basis, and R with block = R^T rows + what is in the basis.

        The rows of the block have unit length and are nearly at right angles.

        A small remainder lies partly in the basis by rounding, and one that is rounding itself nearly wholly. What such
        rows become is exact only when they hardly change any more.
        """
        used, total = self.Q[: self.size], np.eye(len(block))
        for _ in range(_MOST_TIMES):
            block, R = _orthonormal(block - (block @ used.T) @ used)
            total = R @ total
            if np.abs(np.diag(R)).min(initial=1.0) > _HARDLY_CHANGED:
                break
        return block, total

    def widen(self, rng: np.random.Generator, count: int) -> None:
        """Add random rows, orthogonal to all others, to the newest block."""
        n = self.Q.shape[1]
        block = rng.standard_normal((min(count, n - self.size, len(self.Q) - self.size), n))
        self._append(self._orthogonal(_orthonormal(block)[0])[0])

    def _append(self, block: Array) -> None:
        self.Q[self.size : self.size + len(block)] = block
        self.size += len(block)

    def must_restart(self) -> bool:
        """Tell whether there is no room for one more block."""
        return bool(2 * self.size - self.done > len(self.Q) < self.Q.shape[1])

    def restart(self, values: Array, rotation: Array) -> None:
        """Replace all finished rows by Ritz vectors (a thick restart); the newest block stays the newest."""
        kept, newest = len(values), self.newest.copy()
        self.Q[:kept] = rotation.T @ self.Q[: self.done]
        self.T[:kept, :kept] = np.diag(values)
        self.near, self.done, self.size, self.coupling = 0, kept, kept + len(newest), None
        self.Q[self.done : self.size] = newest


def _leading_rows(remainder: Array, room: int) -> tuple[Array, Array]:
    """Return orthonormal rows Q and R with remainder = R^T Q; at most `room` rows, the dimensions that are left."""
    if room < len(remainder):  # the basis nearly fills the whole space: the rest is rounding
        U, sizes, rows = np.linalg.svd(remainder, full_matrices=False)
        return rows[:room], (U * sizes).T[:room]
    return _orthonormal(remainder)


def _orthonormal(block: Array) -> tuple[Array, Array]:
    """Return Q, R with block = R^T Q; Cholesky is fast, and QR is safe where rows are nearly dependent."""
    if not len(block):
        return block, np.eye(0)
    upper, failed = dpotrf(block @ block.T)
    pivots = np.diag(upper)
    if not failed and pivots.min() > _FULL_RANK * pivots.max():
        inverse, _ = dtrtri(upper)
        return inverse.T @ block, upper
    columns, R = np.linalg.qr(block.T)
    return columns.T, R
