"""Spectral coordinates: leading eigenvectors of the degree-scaled kernel matrix, and their values at new points.

With degrees d_i = sum_j |k(x_i, x_j)| and L = D^(-1/2) K D^(-1/2), rows of the leading eigenvectors V of L, scaled to
unit length, are the coordinates of [Ng, Jordan, Weiss 2002]. Since L V = V diag(lambda),

    V_i = d_i^(-1/2) sum_j k(x_i, x_j) d_j^(-1/2) V_j / lambda,

and the right-hand side with any x in the place of x_i is the extension to new points. Its first factor does not count,
because rows are scaled to unit length: an expansion on the training points is all that is needed.

Ng, Jordan and Weiss take affinities for granted that are not negative; for kernels with other values the sum of moduli
keeps the eigenvalues of L within [-1, 1]. They also set k(x, x) = 0, which leaves no positive definite kernel;
[guenter2006, sec. 5.3] extracts kernel principal components, so the diagonal stays here.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, Points, check_kernel_values
from mercer.engine.spectrum import inverse_roots, orient
from mercer.events import SILENT, Channel
from mercer.expansion.build import on_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.given import GivenOperator
from mercer.kernels.operator import CentredOperator, Operator
from mercer.kernels.threads import available_threads
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.kernels.user_given import Precomputed
from mercer.solvers.exact.eigen import EigenOptions, solve
from mercer.solvers.hebbian.blocks import KhaState, start_state
from mercer.solvers.hebbian.gain_choice import GainRule, random_rows, spread, whitened
from mercer.solvers.hebbian.kernel_passes import PassOptions, ritz, run_passes
from mercer.solvers.hebbian.visits import VisitTiles

_NOISE = 1e-12  # eigenvalues of L below are rounding: the largest is one where no kernel value is negative
_NO_OTHERS = 1e-6  # share of a degree that is left for all other rows, below which there are none, in float32 too
_NO_DIRECTION = 1e-10  # of the largest row of coordinates: shorter ones have no direction but that of rounding


@dataclass(frozen=True)
class Affinity:
    """The scaled matrix L, with what is needed to extend its eigenvectors."""

    kernel: Kernel
    points: Points  # (n, d), or the numbers of rows for a precomputed kernel
    operator: Operator  # L
    scale: Array  # (n,), d_i^(-1/2); zero for a row without any affinity
    alone: npt.NDArray[np.bool_]  # (n,), rows without an affinity to any other row


@dataclass(frozen=True)
class Embedding:
    """Coordinates of the training rows, and the expansion that gives those of any rows."""

    coordinates: Array  # (n, r), rows of unit length, or zero
    expansion: Expansion
    solver: str
    n_iter: int


@dataclass(frozen=True)
class PassSettings:
    """How Hebbian passes run: the estimator's parameters of the same names."""

    gain: str
    eta0: float | str
    tol: float


def make_affinity(kernel: Kernel, X: Points, n_jobs: int | None = None, hold: bool = True) -> Affinity:
    """Return the scaled matrix of the rows of X; `hold`: keep tiles for many products, if they fit the budget."""
    if isinstance(kernel, Precomputed):
        K = X.astype(np.float64)
        degrees = np.abs(K).sum(axis=1)
        scale, alone = _inverse_root(degrees), _alone(degrees, np.diag(K))
        K *= scale[:, None]
        K *= scale
        return Affinity(kernel, np.arange(len(K)), GivenOperator(K, center=False), scale, alone)
    threads = available_threads(n_jobs)
    tiles = SymmetricTiles(kernel, X, X.dtype, memory_budget() if hold else 0, threads)
    degrees, diagonal = _degrees(tiles), kernel.diagonal(X)
    scale = _inverse_root(degrees)
    operator = CentredOperator(tiles, diagonal, scale=scale, center=False)
    return Affinity(kernel, X, operator, scale, _alone(degrees, diagonal))


def _degrees(tiles: SymmetricTiles) -> Array:
    """Return sum_j |k(x_i, x_j)| in one visit of the tiles, in float64."""
    sums = np.zeros((tiles.threads, tiles.shape[0]))

    def work(worker: int, I: slice, J: slice, tile: Array) -> None:
        sizes = np.abs(tile)
        sums[worker, I] += sizes.sum(axis=1, dtype=np.float64)
        if I != J:
            sums[worker, J] += sizes.sum(axis=0, dtype=np.float64)

    tiles.for_each_tile(work)
    return np.asarray(sums.sum(axis=0))


def _alone(degrees: Array, diagonal: Array) -> npt.NDArray[np.bool_]:
    """Return which rows have hardly any affinity but that with themselves."""
    return np.asarray(degrees - np.abs(diagonal) <= _NO_OTHERS * degrees)


def _inverse_root(degrees: Array) -> Array:
    check_kernel_values(degrees)
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)


def solve_embedding(affinity: Affinity, r: int, options: EigenOptions, channel: Channel = SILENT) -> Embedding:
    """Return the coordinates from eigenvectors of L."""
    found = solve(affinity.operator, r, options, channel)
    values = np.where(found.values > _NOISE, found.values, 0.0)
    inverse = np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)
    V = orient(found.vectors).T * (values > 0)[:, None]
    return _embedding(affinity, V, V * inverse[:, None], values, found.solver, found.n_iter)


class HebbianEmbedding:
    """Coordinates from passes of a Kernel Hebbian Algorithm over the rows of L [guenter2006, sec. 5.3]."""

    def __init__(self, affinity: Affinity, r: int, settings: PassSettings, rng: np.random.RandomState) -> None:
        self.affinity, self.settings, self._rng = affinity, settings, rng
        self.tiles = VisitTiles(affinity.operator, hold=True)
        n = self.tiles.shape[0]
        self.gain = GainRule(settings.gain, settings.eta0).gain(spread(self.tiles, rng), n)
        A = random_rows(min(r, n), n, rng)
        A, AK = whitened(A, np.ascontiguousarray(self.tiles.matmul(np.ascontiguousarray(A.T)).T))
        self.state: KhaState = start_state(A, AK, self.gain)
        self.n_iter, self.diverged = 0, False
        self.history: dict[str, Array] = {}

    def run(self, passes: int, channel: Channel = SILENT, *, excess: bool = False) -> "HebbianEmbedding":
        """Make so many more passes, fewer if they change little."""
        options = PassOptions(passes, self.settings.tol, 128, True, excess=excess)
        run = run_passes(self.tiles, self.state, self.gain, options, self._rng, channel)
        self.state, self.n_iter, self.diverged = run.state, self.n_iter + run.n_iter, run.diverged
        for name, values in run.history.arrays().items():
            self.history[name] = np.append(self.history.get(name, np.empty(0)), values)
        return self

    def embedding(self) -> Embedding:
        """Return the coordinates that the best basis of the present span gives."""
        T, values = ritz(self.state.A, self.state.AK)
        values = np.where(values > _NOISE, values, 0.0)
        T = T * inverse_roots(values)[:, None]  # T A L = V^T
        return _embedding(self.affinity, T @ self.state.AK, T @ self.state.A, values, "hebbian", self.n_iter)


def held_bytes(n: int) -> int:
    """Return how much memory the matrix takes that Hebbian passes hold."""
    return 8 * n * n


def _embedding(affinity: Affinity, V: Array, C: Array, values: Array, solver: str, n_iter: int) -> Embedding:
    """Return the coordinates; V, (r, n), are eigenvectors, and V = C L."""
    coef = C * affinity.scale
    V = np.where(affinity.scale > 0, V, 0.0)  # a row without any affinity is in no eigenvector but by rounding
    gram = np.diag(np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0))
    operator = affinity.operator
    expansion = on_rows(affinity.kernel, affinity.points, operator, np.ascontiguousarray(coef), values, gram)
    shortest = _NO_DIRECTION * float(np.linalg.norm(V, axis=0).max(initial=0.0))
    return Embedding(unit_rows(V.T, shortest), expansion, solver, n_iter)


def unit_rows(rows: Array, shortest: float = 0.0) -> Array:
    """Return rows of unit length [Ng, Jordan, Weiss 2002, step 4]; zeros where they are not longer than `shortest`."""
    rows = rows.astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)  # first, or squares of tiny rows would vanish
    rows = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths * largest > shortest))
