"""Block Krylov iterations for several symmetric operators of one size, side by side.

The operators are known by one function that multiplies all of them at once, as models of overlapping rows share a
kernel matrix. Good start vectors are known, so a few steps are enough, and small dense steps are done for all operators
in one call.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.engine.krylov import NEARLY
from mercer.events import SILENT, Channel

_BLOCKS, _SMALLEST_BASIS = 12, 64  # blocks of a basis, and vectors at least; then it is restarted
_BASIS_PER_PAIR = 5  # vectors of it at least for each wanted pair
_FIRST_TEST = 3  # steps before the first test, or two more than find as many pairs: start vectors are not that good
_FASTEST = np.log(20.0)  # hardly a step lowers residuals by a larger factor, so no test is needed before
_DEPENDENT = 1e-13  # share of the largest row below which a row is rounding
_INDEPENDENT = 1e-3  # distance of a row of unit length from the span of others, from which Cholesky is accurate enough,
_FAR_APART = 0.1  # and from which it makes rows orthogonal at once

Products = Callable[[Array], Array]  # (k, b, n) -> (k, b, n)


@dataclass(frozen=True)
class BatchResult:
    """Eigenpairs of all operators, with their residual norms."""

    values: Array  # (k, r), descending
    vectors: Array  # (k, r, n), one vector per row
    residuals: Array  # (k, r)
    lowest: Array  # (k,), the smallest Ritz value: an upper bound of the smallest eigenvalue
    n_iter: int
    converged: Array  # (k,)
    goal: Array  # (k,), the relative residual norm that was asked for
    outside: Array  # (k,), the largest part of a vector outside of the start vectors' span, or 1 where that is unknown


def batch_krylov(
    products: Products,
    start: Array,  # (k, b, n), n at least 12 b
    n_pairs: int,  # if more than b, enough steps for a larger basis; more than b copies of an eigenvalue can be missed
    *,
    allowed: Array,  # (k, n), 0 where vectors of an operator are zero, else 1
    tol: float | Array,  # relative to the largest eigenvalue, for the residual norms; one for all, or (k,)
    floor: float,  # relative residual that rounding in the iteration allows
    noise: float,  # absolute rounding error of a product with a unit vector
    max_iter: int,
    first: Array | None = None,  # (k, b, n), the products of `start`, where they are known
    error: float = 0.0,  # of the space of all vectors (the sine of its angle to the exact one), where tol asks for less
    channel: Channel = SILENT,
) -> BatchResult:
    """Return the leading eigenpairs of all operators; stop by residuals, by stagnation, or after max_iter products."""
    k, b, n = start.shape
    room = max(_BLOCKS * b, _SMALLEST_BASIS, _BASIS_PER_PAIR * n_pairs)
    room = min(room, int(allowed.sum(axis=1).min()) // 2) // b * b
    space = _Space(np.empty((k, room, n)), np.zeros((k, room, room)), allowed)
    block, R = space.orthonormal(start)
    known = None if first is None or not _independent(R) else np.linalg.solve(R.transpose(0, 2, 1), first)
    best, lowest, stalled = np.full(k, np.inf), np.full(k, np.inf), np.zeros(k, int)
    test = max(_FIRST_TEST, -(-n_pairs // b) + 2)
    for step in range(1, max_iter + 1):
        block, R = space.extend(block, products(block) if known is None else known)
        known = None
        full, last = space.size + b > room, step == max_iter
        if step < test and not (full or last):
            continue
        values, rotation = np.linalg.eigh(space.T[:, : space.size, : space.size])
        lowest = np.minimum(lowest, values[:, 0])
        scale = np.abs(values).max(axis=1)
        scale[scale == 0] = 1.0
        wanted = rotation[:, :, : -n_pairs - 1 : -1]  # (k, size, r)
        residuals = np.linalg.norm(R @ wanted[:, -b:], axis=1)  # (k, r)
        worst, reachable = residuals.max(axis=1) / scale, np.maximum(floor, noise / scale)
        channel.emit("krylov", step, None, float(worst.max()))
        stalled, best = np.where(worst > 0.5 * best, stalled + 1, 0), np.minimum(best, worst)
        goal = np.maximum(np.maximum(tol, reachable), error * _gaps(values, n_pairs) / scale)
        converged = (worst <= goal) | ((stalled >= 2) & (worst <= NEARLY * reachable))
        if converged.all() or last:
            break
        test = step + max(1, int(np.log((worst / goal).max()) / _FASTEST))
        if full:
            space.restart(values[:, : -n_pairs - b - 1 : -1], rotation[:, :, : -n_pairs - b - 1 : -1])
    vectors = wanted.transpose(0, 2, 1) @ space.Q[:, : space.size]
    outside = np.ones(k) if space.restarted else np.linalg.norm(wanted[:, b:], axis=1).max(axis=1)
    return BatchResult(values[:, : -n_pairs - 1 : -1], vectors, residuals, lowest, step, converged, goal, outside)


def _independent(R: Array) -> bool:
    """Tell whether rows of a basis are known accurately from R^T basis = rows."""
    return bool((np.abs(np.diagonal(R, axis1=1, axis2=2)) > _INDEPENDENT * np.linalg.norm(R, axis=1)).all())


def _gaps(values: Array, n_pairs: int) -> Array:
    """Return by how much the last wanted eigenvalue exceeds the next one, or zero, (k,); values are ascending.

    Residuals divided by this bound the error of the space of the wanted vectors [Davis and Kahan 1970].
    """
    wanted, following = values[:, -n_pairs], values[:, -n_pairs - 1] if values.shape[1] > n_pairs else 0.0
    return np.asarray(np.maximum(wanted - np.maximum(following, 0.0), 0.0))


class _Space:
    """Orthonormal rows Q of all operators, and the projections T = Q A Q^T."""

    def __init__(self, Q: Array, T: Array, allowed: Array) -> None:
        self.Q, self.T, self.allowed = Q, T, allowed
        self.size, self.restarted = 0, False
        self._near = 0  # products of the next block have no inner products with rows before this one
        self._largest = np.zeros(len(Q))  # entry of T up to now
        self._coupling: Array | None = None  # of the next block with the products of the last one, if known from these
        self._rng = np.random.default_rng(0)

    def extend(self, block: Array, product: Array) -> tuple[Array, Array]:
        """Add a block, whose products are known; return the next block, and R with remainder = R^T block."""
        first, self.size = self.size, self.size + block.shape[1]
        near, self._near = self._near, first
        self.Q[:, first : self.size] = block
        projected, remainder = self._outside(product, near)
        if first and self._coupling is not None:  # which may be more accurate, as the products of the last block may be
            projected[:, :, : first - near] = self._coupling
        self._largest = np.maximum(self._largest, np.abs(projected).max(axis=(1, 2)))
        self.T[:, first : self.size, near : self.size] = projected
        self.T[:, near : self.size, first : self.size] = projected.transpose(0, 2, 1)
        return self.orthonormal(remainder)

    def _outside(self, rows: Array, near: int = 0) -> tuple[Array, Array]:
        """Return the inner products of rows with the basis, or with the end of it, and what is left of the rows."""
        used = self.Q[:, near : self.size]
        inner = rows @ used.transpose(0, 2, 1)
        return inner, rows - inner @ used

    def orthonormal(self, rows: Array) -> tuple[Array, Array]:
        """Return an orthonormal basis of rows, orthogonal to Q, and R with rows = R^T basis."""
        sizes = np.sqrt(np.einsum("kbn,kbn->kb", rows, rows))
        known = np.maximum(self._largest, sizes.max(axis=1))[:, None]
        if (sizes > _DEPENDENT * known).all():
            unit = self._outside(rows / sizes[:, :, None])[1]  # after the first time, small rows are not orthogonal
            lower, least = _cholesky(unit)
            if least > _INDEPENDENT:
                self._coupling = (sizes[:, :, None] * lower).transpose(0, 2, 1)
                basis = np.linalg.inv(lower) @ unit
                return basis if least > _FAR_APART else self._again(basis), self._coupling
        self._coupling = None  # random rows have inner products with all others
        return self._by_qr(rows, known)

    def _again(self, basis: Array) -> Array:
        """Return rows that are nearly orthogonal to Q and to each other, made orthogonal."""
        basis = self._outside(basis)[1]
        return np.asarray(np.linalg.inv(_cholesky(basis)[0]) @ basis)

    def _by_qr(self, rows: Array, known: Array) -> tuple[Array, Array]:
        """Do the same for rows some of which depend on others: random ones replace them.

        Otherwise rounding would bring back what is in the basis.
        """
        columns, R = np.linalg.qr(rows.transpose(0, 2, 1))
        lost = np.abs(np.diagonal(R, axis1=1, axis2=2)) <= _DEPENDENT * known
        basis = np.where(lost[:, :, None], self._rng.standard_normal(rows.shape), columns.transpose(0, 2, 1))
        basis = self._outside(basis * self.allowed[:, None])[1]
        columns = np.linalg.qr(basis.transpose(0, 2, 1))[0]
        return self._again(columns.transpose(0, 2, 1) * self.allowed[:, None]), R

    def restart(self, values: Array, rotation: Array) -> None:
        """Keep only some Ritz vectors (a thick restart); the next block stays orthogonal to them."""
        kept = values.shape[1]
        self.Q[:, :kept] = rotation.transpose(0, 2, 1) @ self.Q[:, : self.size]
        self.T[:] = 0.0
        self.T[:, np.arange(kept), np.arange(kept)] = values
        self.size, self.restarted, self._near, self._coupling = kept, True, 0, None


def _cholesky(rows: Array) -> tuple[Array, float]:
    """Return the Cholesky factors of the inner products of rows, and the smallest number on their diagonals.

    For rows of unit length this is the distance of one of them from the span of others. Without factors it is zero.
    """
    try:
        lower = np.linalg.cholesky(rows @ rows.transpose(0, 2, 1))
    except np.linalg.LinAlgError:
        return np.empty(0), 0.0
    return lower, float(np.diagonal(lower, axis1=1, axis2=2).min())
