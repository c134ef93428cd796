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

from mercer.arrays import Array, IntArray
from mercer.engine.krylov_basis import KrylovBasis
from mercer.events import SILENT, Channel

_SMALLEST_BASIS = 48  # a smaller basis saves nothing
_WIDE_BASIS = 320  # where blocks are wide, ten of them are usually enough
_QUICK_BASIS = 24  # up to this size the projected problem is solved after every step
_MOST_BLIND_STEPS = 8  # the largest number of steps between two solutions of the projected problem,
_BLIND_ROWS = 20000  # and so many rows divided by theirs: where products take long, no step may be wasted
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
    next_values: Array = field(default_factory=lambda: np.empty(0))  # (b,), their Ritz values


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


class _Search:
    """An iteration under way: its basis, the last solution of the projected problem, and when it may end."""

    def __init__(self, product: Product, start: Array, n_pairs: int, select: str, progress: _Progress) -> None:
        self.n, self.block = start.shape
        self._product, self._noise = _InUnit(product), progress.noise
        most = max(min(20 * self.block, _WIDE_BASIS), 3 * n_pairs + 6 * self.block, _SMALLEST_BASIS)
        self.basis = KrylovBasis.begin(start, min(self.n, most))
        self.n_pairs, self.select, self.progress = n_pairs, select, progress
        self.scale, self.lowest, self.converged = 0.0, np.inf, False
        self._width = self.block  # so many copies of one eigenvalue the blocks can find
        self._least = 0  # the search does not end before this step
        self._rng = np.random.default_rng(1)

    def multiply(self) -> None:
        """Multiply the newest block by the operator, and make what is new in the result the next block."""
        basis = self.basis
        newest = slice(basis.done, basis.size)
        remainder = basis.absorb(self._product(basis.newest.T).T)
        self.progress.noise = self._noise / self._product.unit
        self.scale = self.scale or float(np.abs(basis.T[newest, newest]).max()) or 1.0
        self._coupling = basis.extend(remainder, 0.1 * self.progress.reachable(self.scale) * self.scale)

    @property
    def exhausted(self) -> bool:
        """Whether the basis holds all that products can reach."""
        return len(self.basis.newest) == 0

    def must_solve(self, step: int) -> bool:
        """Tell whether the projected problem is to be solved after this step."""
        due = step == self.progress.next or self.basis.done <= _QUICK_BASIS
        return due or self.exhausted or self.basis.must_restart()

    def solve(self, step: int) -> None:
        """Solve the projected problem, and measure the residuals of the wanted pairs."""
        basis = self.basis
        self.ritz = _Ritz.of(basis.T[: basis.done, : basis.done], self.n_pairs, self.select)
        self.scale, self.lowest = self.ritz.scale, min(self.lowest, float(self.ritz.values[0]))
        last_block = self.ritz.rotation[basis.near : basis.done][:, self.ritz.wanted]
        self.residuals = np.linalg.norm(self._coupling @ last_block, axis=0)
        worst = float(self.residuals.max(initial=0.0)) / self.scale
        self.converged = self.progress.note(step, worst, self.scale)

    def ends(self, step: int) -> bool:
        """Tell whether the pairs are found; where copies of them may be hidden, random vectors join the next block."""
        complete = len(self.ritz.wanted) == min(self.n_pairs, self.n)
        equal = _EQUAL * max(self.progress.tol, self.progress.reachable(self.scale)) * self.scale
        hidden = self.basis.done < self.n and (not complete or self.ritz.copies(equal) >= self._width)
        if not hidden:
            return self.exhausted or (self.converged and step >= self._least)
        if self.exhausted or self.converged:
            # random rows need about as many steps as the others did, and only then show a copy that was missed
            self._least = 2 * step if complete and not self.exhausted else self._least
            self.basis.widen(self._rng, self.block)
            self._width, self.progress.next = self._width + self.block, step + 1
        return False

    def make_room(self) -> None:
        """Keep only the best Ritz vectors if there is no room for one more block."""
        if self.basis.must_restart():
            kept = self._leading()
            self.basis.restart(self.ritz.values[kept], self.ritz.rotation[:, kept])

    def result(self, step: int) -> KrylovResult:
        """Return the pairs by the last solution, and the vectors that come after them."""
        leading, r, unit = self._leading(), self.n_pairs, self._product.unit
        vectors = self.basis.Q[: self.basis.done].T @ self.ritz.rotation[:, leading]
        values, lowest = unit * self.ritz.values[leading], unit * self.lowest
        found = (values[:r], vectors[:, :r], unit * self.residuals, lowest, step, self.converged)
        return KrylovResult(*found, next_vectors=vectors[:, r:], next_values=values[r:])

    def _leading(self) -> IntArray:
        """Return the positions of the wanted Ritz values, and of as many more as a block has vectors."""
        return _order(self.ritz.values, self.select)[: self.n_pairs + self.block]


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
    blind = max(1, min(_MOST_BLIND_STEPS, _BLIND_ROWS // len(start)))
    progress = _Progress(tol, floor, noise, blind)
    search = _Search(product, start, n_pairs, select, progress)
    for step in range(1, max_iter + 1):
        search.multiply()
        solved = step == max_iter or search.must_solve(step)
        if solved:
            search.solve(step)
        channel.emit("krylov", step, progress.total, progress.worst)
        if solved:
            if search.ends(step) or step == max_iter:
                break
            search.make_room()
    return search.result(step)


def _order(values: Array, select: str) -> IntArray:
    """Return the positions of the eigenvalues, the wanted ones first."""
    return np.argsort(-(np.abs(values) if select == "modulus" else values), kind="stable")
