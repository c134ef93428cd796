"""Block Krylov iteration for the leading eigenpairs of a symmetric operator that is only known by its products.

One step multiplies the newest block by K', orthogonalises it against all earlier ones, and solves the small projected
problem [Golub and Underwood 1977; Musco and Musco 2015]. All blocks stay in the basis, so five to ten steps suffice
where power iteration needs hundreds; a thick restart [Wu and Simon 2000] bounds the basis.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import solve_triangular

from mercer.arrays import Array, IntArray
from mercer.events import SILENT, Channel

Product = Callable[[Array], Array]


@dataclass(frozen=True)
class KrylovResult:
    """Eigenpairs with their residual norms, and how far the spectrum reaches."""

    values: Array  # (r,), descending (by modulus where that was asked for)
    vectors: Array  # (n, r)
    residuals: Array  # (r,), |K' v - lambda v|
    lowest: float  # the smallest Ritz value: an upper bound of the smallest eigenvalue
    n_iter: int
    converged: bool


@dataclass
class _Basis:
    """An orthonormal basis Q, the projection T = Q^T K' Q, and the newest block waiting to be multiplied."""

    Q: Array  # (n, capacity)
    T: Array  # (capacity, capacity)
    done: int  # columns of Q whose products are in T
    size: int  # columns of Q in use, the newest block included

    @property
    def newest(self) -> Array:
        return self.Q[:, self.done : self.size]

    def absorb(self, product: Array) -> Array:
        """Put the products of the newest block into T; return what is left of them outside the basis."""
        used = self.Q[:, : self.size]
        projected = used.T @ product
        self.T[: self.size, self.done : self.size] = projected
        self.T[self.done : self.size, : self.size] = projected.T
        return np.asarray(product - used @ projected)

    def extend(self, remainder: Array, negligible: float) -> Array:
        """Append an orthonormal basis of the remainder as the newest block; return R with remainder = block R."""
        block, R = np.linalg.qr(remainder)
        keep = np.linalg.norm(R, axis=1) > negligible
        block, R = block[:, keep], R[keep]
        # once more: after the first pass small columns are no longer orthogonal to the basis
        used = self.Q[:, : self.size]
        block, correction = _orthonormal(block - used @ (used.T @ block))
        self.done, self.size = self.size, self.size + block.shape[1]
        self.Q[:, self.done : self.size] = block
        return np.asarray(correction @ R)

    def restart(self, values: Array, rotation: Array) -> None:
        """Replace all finished columns by Ritz vectors (a thick restart); the newest block stays newest."""
        kept, newest = len(values), self.newest.copy()
        self.Q[:, :kept] = self.Q[:, : self.done] @ rotation
        self.T[:kept, :kept] = np.diag(values)
        self.done, self.size = kept, kept + newest.shape[1]
        self.Q[:, self.done : self.size] = newest


def block_krylov(
    product: Product,
    start: Array,  # (n, b), b at least the number of wanted pairs
    n_pairs: int,
    *,
    tol: float,  # relative to the largest eigenvalue, for the residual norms
    floor: float,  # relative residual that rounding allows
    max_iter: int,
    select: Literal["largest", "modulus"] = "largest",
    channel: Channel = SILENT,
) -> KrylovResult:
    """Return the leading eigenpairs of the operator; stops on residuals, on stagnation, or after max_iter products."""
    n, block = start.shape
    capacity = min(n, max(12 * block, n_pairs + 6 * block)) + block
    basis = _Basis(np.empty((n, capacity)), np.zeros((capacity, capacity)), 0, block)
    basis.Q[:, :block] = np.linalg.qr(start)[0]
    best = np.inf
    stalled = 0
    for step in range(1, max_iter + 1):
        remainder = basis.absorb(product(basis.newest))
        values, rotation = np.linalg.eigh(basis.T[: basis.size, : basis.size])
        scale = float(np.abs(values).max())
        newest = slice(basis.done, basis.size)
        R = (
            basis.extend(remainder, 0.1 * floor * scale)
            if basis.size < n
            else np.zeros((0, newest.stop - newest.start))
        )
        wanted = _order(values, select)[:n_pairs]
        residuals = np.linalg.norm(R @ rotation[newest][:, wanted], axis=0)
        worst = float(residuals.max(initial=0.0)) / (scale or 1.0)
        channel.emit("krylov", step, None, worst)
        stalled = stalled + 1 if worst > 0.5 * best else 0
        best = min(best, worst)
        converged = worst <= max(tol, floor) or R.shape[0] == 0
        if converged or step == max_iter or (stalled >= 2 and worst <= 1e3 * floor):
            break
        if basis.size + block > capacity:
            kept = _order(values, select)[: n_pairs + block]
            basis.restart(values[kept], rotation[:, kept])
    finished = basis.done if R.shape[0] else basis.size
    vectors = basis.Q[:, :finished] @ rotation[:, wanted]
    return KrylovResult(
        values[wanted], vectors, residuals, float(values[0]), step, converged or worst <= 1e3 * floor
    )


def _orthonormal(block: Array) -> tuple[Array, Array]:
    """Return Q, R with block = Q R for columns that are nearly orthonormal already, which is cheap by Cholesky."""
    try:
        lower = np.linalg.cholesky(block.T @ block)
    except np.linalg.LinAlgError:  # a column was all rounding: the safe way
        Q, R = np.linalg.qr(block)
        return Q, R
    return solve_triangular(lower, block.T, lower=True, check_finite=False).T, lower.T


def _order(values: Array, select: str) -> IntArray:
    return np.argsort(-(np.abs(values) if select == "modulus" else values), kind="stable")
