"""Block Krylov iteration for the leading eigenpairs of a symmetric operator that is only known by its products.

One step multiplies the newest block by K', orthogonalises it against all earlier ones, and solves the small projected
problem [Golub and Underwood 1977; Musco and Musco 2015]. All blocks stay in the basis, so five to ten steps are enough
where power iteration needs hundreds. A thick restart [Wu and Simon 2000] limits the size of the basis.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import qr, solve_triangular

from mercer.arrays import Array, IntArray
from mercer.events import SILENT, Channel

_SMALLEST_BASIS = 48  # a smaller basis saves nothing

Product = Callable[[Array], Array]


@dataclass(frozen=True)
class KrylovResult:
    """Eigenpairs with their residual norms, and a bound of the smallest eigenvalue."""

    values: Array  # (r,), descending (by modulus where that was asked for)
    vectors: Array  # (n, r)
    residuals: Array  # (r,), |K' v - lambda v|
    lowest: float  # the smallest Ritz value: an upper bound of the smallest eigenvalue
    n_iter: int
    converged: bool


@dataclass
class _Basis:
    """Orthonormal rows Q, the projection T = Q K' Q^T, and the newest block, whose products are not computed yet."""

    Q: Array  # (capacity, n), one basis vector per row
    T: Array  # (capacity, capacity)
    done: int  # rows of Q whose products are in T
    size: int  # rows of Q in use, the newest block included
    near: int = 0  # products of the newest block have no components in rows before this one

    @classmethod
    def begin(cls, start: Array, capacity: int) -> "_Basis":
        """Return a basis that consists of one block."""
        n, block = start.shape
        basis = cls(np.empty((capacity, n)), np.zeros((capacity, capacity)), 0, block)
        basis.Q[:block] = np.linalg.qr(start)[0].T
        return basis

    @property
    def newest(self) -> Array:
        """The newest block, (b, n)."""
        return self.Q[self.done : self.size]

    def absorb(self, product: Array) -> Array:
        """Put the products of the newest block, (b, n), into T; return the part of them outside the basis.

        K' is symmetric, so only the newest block and the one before it (after a restart: all) have inner products
        with them.
        """
        used = self.Q[self.near : self.size]
        projected = product @ used.T
        self.T[self.done : self.size, : self.size] = 0.0
        self.T[: self.size, self.done : self.size] = 0.0
        self.T[self.done : self.size, self.near : self.size] = projected
        self.T[self.near : self.size, self.done : self.size] = projected.T
        return np.asarray(product - projected @ used)

    def extend(self, remainder: Array, negligible: float) -> Array:
        """Append an orthonormal basis of the remainder as the newest block; return R with remainder = R^T block."""
        block, R = _leading_rows(remainder, self.Q.shape[1] - self.size)
        keep = np.linalg.norm(R, axis=1) > negligible
        block, R = block[keep], R[keep]
        if len(block) == 0:
            return np.asarray(R)
        # a second time: after the first, small rows are not orthogonal to the basis
        used = self.Q[: self.size]
        block, correction = _orthonormal(block - (block @ used.T) @ used)
        self.near, self.done, self.size = self.done, self.size, self.size + len(block)
        self.Q[self.done : self.size] = block
        return np.asarray(correction @ R)

    def restart(self, values: Array, rotation: Array) -> None:
        """Replace all finished rows by Ritz vectors (a thick restart); the newest block stays the newest."""
        kept, newest = len(values), self.newest.copy()
        self.Q[:kept] = rotation.T @ self.Q[: self.done]
        self.T[:kept, :kept] = np.diag(values)
        self.near, self.done, self.size = 0, kept, kept + len(newest)
        self.Q[self.done : self.size] = newest


def block_krylov(
    product: Product,
    start: Array,  # (n, b), b at least the number of wanted pairs
    n_pairs: int,
    *,
    tol: float,  # relative to the largest eigenvalue, for the residual norms
    floor: float,  # relative residual that rounding in the iteration allows
    noise: float = 0.0,  # absolute rounding error of a product with a unit vector
    max_iter: int,
    select: Literal["largest", "modulus"] = "largest",
    channel: Channel = SILENT,
) -> KrylovResult:
    """Return the leading eigenpairs of the operator; stop by residuals, by stagnation, or after max_iter products."""
    n, block = start.shape
    basis = _Basis.begin(start, min(n, max(12 * block, n_pairs + 6 * block, _SMALLEST_BASIS)))
    best, lowest, stalled = np.inf, np.inf, 0
    for step in range(1, max_iter + 1):
        remainder = basis.absorb(product(basis.newest.T).T)
        values, rotation = np.linalg.eigh(basis.T[: basis.size, : basis.size])
        lowest, scale = min(lowest, float(values[0])), float(np.abs(values).max()) or 1.0
        newest, finished = slice(basis.done, basis.size), basis.size
        reachable = max(floor, noise / scale)
        R = basis.extend(remainder, 0.1 * reachable * scale)
        wanted = _order(values, select)[:n_pairs]
        residuals = np.linalg.norm(R @ rotation[newest][:, wanted], axis=0)
        worst = float(residuals.max(initial=0.0)) / scale
        channel.emit("krylov", step, None, worst)
        stalled, best = stalled + 1 if worst > 0.5 * best else 0, min(best, worst)
        converged = worst <= max(tol, reachable) or (stalled >= 2 and worst <= 1e3 * reachable)
        if converged or step == max_iter:
            break
        if basis.size + block > len(basis.Q) < n:
            kept = _order(values, select)[: n_pairs + block]
            basis.restart(values[kept], rotation[:, kept])
    vectors = basis.Q[:finished].T @ rotation[:, wanted]
    return KrylovResult(values[wanted], vectors, residuals, lowest, step, converged)


def _leading_rows(remainder: Array, room: int) -> tuple[Array, Array]:
    """Return orthonormal rows Q and R with remainder = R^T Q; at most `room` rows, the dimensions that are left."""
    if room < len(remainder):  # the basis nearly fills the whole space: the rest is rounding
        U, sizes, rows = np.linalg.svd(remainder, full_matrices=False)
        return rows[:room], (U * sizes).T[:room]
    columns, R = qr(remainder.T, mode="economic", overwrite_a=True, check_finite=False)
    return columns.T, R


def _orthonormal(block: Array) -> tuple[Array, Array]:
    """Return Q, R with block = R^T Q for rows that are nearly orthonormal, for which Cholesky is fast."""
    try:
        lower = np.linalg.cholesky(block @ block.T)
    except np.linalg.LinAlgError:  # a row was only rounding: QR is safe
        columns, R = np.linalg.qr(block.T)
        return columns.T, R
    return solve_triangular(lower, block, lower=True, check_finite=False), lower.T


def _order(values: Array, select: str) -> IntArray:
    """Return the positions of the eigenvalues, the wanted ones first."""
    return np.argsort(-(np.abs(values) if select == "modulus" else values), kind="stable")
