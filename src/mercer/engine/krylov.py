"""Block Krylov iteration for the leading eigenpairs of a symmetric operator that is only known by its products.

One step multiplies the newest block by K' and orthogonalises it against all earlier ones; the small projected problem
gives eigenpairs [Golub and Underwood 1977; Musco and Musco 2015]. All blocks stay in the basis, so that ten to twenty
steps are enough where power iteration needs hundreds. A thick restart [Wu and Simon 2000] limits the size of the basis.

A block may have fewer vectors than pairs are wanted: narrow blocks need fewer products in all. But a block of b vectors
finds at most b copies of a multiple eigenvalue. Where it has found so many, random vectors are added to the block.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from mercer.arrays import Array, IntArray
from mercer.events import SILENT, Channel

_SMALLEST_BASIS = 48  # a smaller basis saves nothing
_WIDE_BASIS = 320  # where blocks are wide, ten of them are usually enough
_QUICK_BASIS = 24  # up to this size the projected problem is solved after every step
_MOST_BLIND_STEPS = 8  # the largest number of steps between two solutions of the projected problem,
_BLIND_ROWS = 20000  # and so many rows divided by theirs: where products take long, no step may be wasted
_FULL_RANK = 1e-6  # smallest pivot of a Cholesky factor, relative to the largest, where rows count as independent
NEARLY = 10.0  # a residual that no longer falls is accepted up to so many times what rounding should allow
_EQUAL = 10.0  # eigenvalues that differ by less than so many tolerances may be copies of one
_SMALLEST, _LARGEST = 1e-100, 1e100  # sizes of products whose squares neither vanish nor overflow, nor sums of them

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
    next_vectors: Array = field(default_factory=lambda: np.empty((0, 0)))  # (n, b), the Ritz vectors after the wanted


@dataclass
class _Basis:
    """Orthonormal rows Q, the projection T = Q K' Q^T, and the newest block, whose products are not computed yet."""

    Q: Array  # (capacity, n), one basis vector per row
    T: Array  # (capacity, capacity)
    done: int  # rows of Q whose products are in T
    size: int  # rows of Q in use, the newest block included
    near: int = 0  # products of the newest block have no components in rows before this one
    coupling: Array | None = None  # (b, b'), inner products of the newest block with those of the block before it

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
        # a second time: after the first, small rows are not orthogonal to the basis
        used = self.Q[: self.size]
        block, correction = _orthonormal(block - (block @ used.T) @ used) if len(block) else (block, np.eye(0))
        self.near, self.done = self.done, self.size
        self._append(block)
        self.coupling = np.asarray(correction @ R)
        return self.coupling

    def widen(self, rng: np.random.Generator, count: int) -> None:
        """Add random rows, orthogonal to all others, to the newest block."""
        n, used = self.Q.shape[1], self.Q[: self.size]
        block = rng.standard_normal((min(count, n - self.size, len(self.Q) - self.size), n))
        for _ in range(2):
            block = np.linalg.qr((block - (block @ used.T) @ used).T)[0].T
        self._append(block)

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


@dataclass
class _Ritz:
    """Solution of the projected problem."""

    values: Array  # all Ritz values, ascending
    rotation: Array  # their vectors, in the basis
    wanted: IntArray  # positions of the wanted ones
    scale: float  # the largest modulus

    @classmethod
    def of(cls, T: Array, n_pairs: int, select: str) -> "_Ritz":
        """Solve the projected problem."""
        values, rotation = np.linalg.eigh(T)
        return cls(values, rotation, _order(values, select)[:n_pairs], float(np.abs(values).max()) or 1.0)

    def copies(self, width: float) -> int:
        """Return how often the most frequent wanted eigenvalue occurs, other than the last and than zero."""
        sizes = np.abs(self.values[self.wanted])
        counted = sizes[(sizes > sizes[-1] + width) & (sizes > width)]
        return int((np.abs(counted[:, None] - counted) <= width).sum(axis=1).max(initial=0))


class _InUnit:
    """Products divided by a power of two where they are so large or small that their squares are no numbers."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self.unit = 0.0  # the first product chooses it

    def __call__(self, V: Array) -> Array:
        product = self._product(V)
        if not self.unit:
            largest = float(np.abs(product).max(initial=0.0))
            usual = largest == 0.0 or _SMALLEST <= largest <= _LARGEST
            self.unit = 1.0 if usual else float(np.ldexp(1.0, np.frexp(largest)[1] - 1))
        return product if self.unit == 1.0 else product / self.unit


@dataclass
class _Progress:
    """Residuals so far, and when to solve the projected problem next: its cost grows with the cube of the basis."""

    tol: float
    floor: float
    noise: float
    blind: int = 1  # the largest number of steps until the next solution
    worst: float = np.inf
    best: float = np.inf
    stalled: int = 0
    last: int = 0  # the step of the last solution
    next: int = 1
    total: int | None = field(default=None)  # estimated number of steps

    def reachable(self, scale: float) -> float:
        """Return the relative residual that rounding allows."""
        return max(self.floor, self.noise / scale)

    def note(self, step: int, worst: float, scale: float) -> bool:
        """Take a residual into account; return whether it is small enough, or does not become smaller."""
        reachable, taken = self.reachable(scale), step - self.last
        goal = max(self.tol, reachable)
        self.stalled = self.stalled + taken if worst > 0.5 * self.best else 0
        rate = np.log(self.worst / worst) / taken if 0 < worst < self.worst < np.inf else 0.0
        missing = np.log(worst / goal) / rate if rate > 0 and worst > goal else 1.0
        self.next = step + int(np.clip(0.7 * missing, 1, self.blind))
        self.total = step + int(np.ceil(missing)) if rate > 0 else None
        self.worst, self.best, self.last = worst, min(self.best, worst), step
        return worst <= goal or (self.stalled >= 2 and worst <= NEARLY * reachable)


def block_krylov(
    product: Product,
    start: Array,  # (n, b)
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
    basis = _Basis.begin(start, min(n, max(min(20 * block, _WIDE_BASIS), 3 * n_pairs + 6 * block, _SMALLEST_BASIS)))
    blind = max(1, min(_MOST_BLIND_STEPS, _BLIND_ROWS // n))
    progress, rng = _Progress(tol, floor, noise, blind), np.random.default_rng(1)
    scale, lowest, width, converged, least = 0.0, np.inf, block, False, 0
    in_unit = _InUnit(product)
    for step in range(1, max_iter + 1):
        remainder = basis.absorb(in_unit(basis.newest.T).T)
        progress.noise = noise / in_unit.unit
        newest, finished = slice(basis.done, basis.size), basis.size
        scale = scale or float(np.abs(basis.T[newest, newest]).max()) or 1.0
        R = basis.extend(remainder, 0.1 * progress.reachable(scale) * scale)
        exhausted = len(basis.newest) == 0
        solve = exhausted or basis.must_restart() or step in (progress.next, max_iter) or finished <= _QUICK_BASIS
        if solve:
            ritz = _Ritz.of(basis.T[:finished, :finished], n_pairs, select)
            scale, lowest = ritz.scale, min(lowest, float(ritz.values[0]))
            residuals = np.linalg.norm(R @ ritz.rotation[newest][:, ritz.wanted], axis=0)
            converged = progress.note(step, float(residuals.max(initial=0.0)) / scale, scale)
        channel.emit("krylov", step, progress.total, progress.worst)
        if solve:
            complete = len(ritz.wanted) == min(n_pairs, n)
            equal = _EQUAL * max(tol, progress.reachable(scale)) * scale
            hidden = finished < n and (not complete or ritz.copies(equal) >= width)
            if ((converged and step >= least) or exhausted) and not hidden:
                break
            if exhausted or (converged and hidden):
                basis.widen(rng, block)
                width, progress.next = width + block, step + 1
                # random rows need about as many steps as the others did, and only then show a copy that was missed
                least = 2 * step if complete and not exhausted else least
            if basis.must_restart():
                kept = _order(ritz.values, select)[: n_pairs + block]
                basis.restart(ritz.values[kept], ritz.rotation[:, kept])
    order = _order(ritz.values, select)[: n_pairs + block]
    vectors = basis.Q[:finished].T @ ritz.rotation[:, order]
    vectors, further, unit = vectors[:, :n_pairs], vectors[:, n_pairs:], in_unit.unit
    values, residuals = unit * ritz.values[ritz.wanted], unit * residuals
    return KrylovResult(values, vectors, residuals, unit * lowest, step, converged, further)


def _leading_rows(remainder: Array, room: int) -> tuple[Array, Array]:
    """Return orthonormal rows Q and R with remainder = R^T Q; at most `room` rows, the dimensions that are left."""
    if room < len(remainder):  # the basis nearly fills the whole space: the rest is rounding
        U, sizes, rows = np.linalg.svd(remainder, full_matrices=False)
        return rows[:room], (U * sizes).T[:room]
    return _orthonormal(remainder)


def _orthonormal(block: Array) -> tuple[Array, Array]:
    """Return Q, R with block = R^T Q; Cholesky is fast, and QR is safe where rows are nearly dependent."""
    upper, failed = dpotrf(block @ block.T)
    pivots = np.diag(upper)
    if not failed and pivots.min() > _FULL_RANK * pivots.max():
        inverse, _ = dtrtri(upper)
        return inverse.T @ block, upper
    columns, R = np.linalg.qr(block.T)
    return columns.T, R


def _order(values: Array, select: str) -> IntArray:
    """Return the positions of the eigenvalues, the wanted ones first."""
    return np.argsort(-(np.abs(values) if select == "modulus" else values), kind="stable")
