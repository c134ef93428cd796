"""The Kernel Hebbian Algorithm on a fixed set: passes until they change little, and the resulting model."""

import time
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from mercer.arrays import Array, Points
from mercer.engine.gains import Gain
from mercer.engine.spectrum import orientation
from mercer.events import SILENT, Channel
from mercer.expansion.build import on_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.threads import one_blas_thread
from mercer.solvers.exact.eigen import EigenOptions, solve
from mercer.solvers.hebbian.blocks import KhaState, run_pass
from mercer.solvers.hebbian.guard import DivergedError
from mercer.solvers.hebbian.visits import VisitTiles

_DEPENDENT = 1e-10  # share of the largest eigenvalue of the cosines between rows; rows below it depend on others
_JUDGED = 1e-4  # share of the largest eigenvalue; components below it are too small for a relative accuracy
_CANCELLED = 1e-13  # share of ||K'||^2; smaller differences are rounding


@dataclass(frozen=True)
class PassOptions:
    """How passes run: the estimator's parameters of the same names."""

    max_iter: int
    tol: float
    block_size: int
    shuffle: bool
    excess: bool = False  # record the excess reconstruction error of each pass; costs an eigendecomposition


@dataclass
class PassHistory:
    """Measures of a run, one value per pass."""

    change: list[float] = field(default_factory=list)  # relative change of the components
    unexplained: list[float] = field(default_factory=list)  # share of the total variation outside their span
    seconds: list[float] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)  # E(A) / Emin - 1 of the rows as they are [guenter2006, eq. 22]
    excess_orthonormal: list[float] = field(default_factory=list)  # the same of an orthonormal basis of their span

    def arrays(self) -> dict[str, Array]:
        """Return what was recorded, by name."""
        return {name: np.array(values) for name, values in vars(self).items() if values}


@dataclass(frozen=True)
class KhaRun:
    """How a run ended."""

    state: KhaState
    n_iter: int
    history: PassHistory
    diverged: bool


def run_passes(
    tiles: VisitTiles,
    state: KhaState,
    gain: Gain,
    options: PassOptions,
    rng: np.random.RandomState,
    channel: Channel = SILENT,
) -> KhaRun:
    """Visit all samples once per pass, until a pass changes the components by at most tol > 0."""
    history = PassHistory()
    meter = _ExcessMeter(tiles, len(state.A)) if options.excess else None
    n, started = tiles.shape[0], time.perf_counter()
    for done in range(1, options.max_iter + 1):
        before = state.copy()
        order = rng.permutation(n) if options.shuffle else np.arange(n)
        try:
            with one_blas_thread():  # products of a block are too small for several threads
                run_pass(state, tiles, order, gain, options.block_size)
        except DivergedError:
            return KhaRun(before, done - 1, history, True)
        _record(history, before, state, tiles.trace)
        history.seconds.append(time.perf_counter() - started)
        if meter:
            meter.record(state, history)
        channel.emit("Hebbian passes", done, options.max_iter, history.change[-1])
        if 0 < options.tol >= history.change[-1]:
            break
    return KhaRun(state, done, history, False)


def _record(history: PassHistory, before: KhaState, after: KhaState, trace: float) -> None:
    """Measure the pass in feature space, from A and A K' alone."""
    moved = np.einsum("ij,ij->i", after.A - before.A, after.AK - before.AK)
    length = np.einsum("ij,ij->i", after.A, after.AK)
    moved, length = np.maximum(moved, 0.0), np.maximum(length, np.finfo(float).tiny)
    history.change.append(float(np.sqrt(np.mean(np.minimum(moved / length, 1.0)))))
    captured = ritz(after.A, after.AK)[1].sum()
    history.unexplained.append(float(np.clip(1.0 - captured / trace, 0.0, 1.0)) if trace > 0 else 0.0)


def residual(tiles: VisitTiles, state: KhaState) -> float:
    """Return the largest |K' v - theta v| / theta among the best basis of the span; costs one product with K'.

    It is small for any set of eigenvectors, not only for the leading ones: it shows whether rows have converged.
    """
    T, values = ritz(state.A, state.AK)
    present = values > max(tiles.noise, _JUDGED * float(values.max(initial=0.0)))
    if not present.any():
        return 0.0
    V = (T[present] @ state.AK) / np.sqrt(values[present])[:, None]
    away = tiles.matmul(np.ascontiguousarray(V.T)).T - values[present][:, None] * V
    return float((np.linalg.norm(away, axis=1) / values[present]).max())


def ritz(A: Array, AK: Array) -> tuple[Array, Array]:
    """Return T, (r, r), and values, descending, such that the rows of T A are the best basis of the span of A.

    They are orthonormal in feature space, T (A K' A^T) T^T = I, and diagonalise K' within the span,
    T (A K')(A K')^T T^T = diag(values). Where rows of A depend on each other, the last rows of T are zero.
    """
    r = len(A)
    gram = AK @ A.T
    squares = np.maximum(np.diag(gram), 0.0)
    units = np.divide(1.0, np.sqrt(squares), out=np.zeros(r), where=squares > 0)  # rows may differ by any factor
    cosines, directions = np.linalg.eigh(0.5 * (gram + gram.T) * np.outer(units, units))
    keep = cosines > max(_DEPENDENT * cosines[-1], 0.0)
    whiten = (directions[:, keep] / np.sqrt(cosines[keep])).T * units
    scores = whiten @ AK
    values, rotation = scipy.linalg.eigh(scores @ scores.T)
    T, found = np.zeros((r, r)), np.zeros(r)
    T[: len(values)] = rotation[:, ::-1].T @ whiten
    found[: len(values)] = np.maximum(values[::-1], 0.0)
    return T, found


class _ExcessMeter:
    """E(A) / Emin - 1 [guenter2006, sec. 5], from one product with K' per pass."""

    def __init__(self, operator: VisitTiles, r: int) -> None:
        self._operator = operator
        self._square = operator.frobenius**2
        values = np.maximum(solve(operator, min(r, operator.shape[0]), EigenOptions()).values, 0.0)
        least = self._square - float(values @ values)
        self._least = np.sqrt(least) if least > _CANCELLED * self._square else 0.0

    def record(self, state: KhaState, history: PassHistory) -> None:
        Y = state.AK
        YK = self._operator.matmul(np.ascontiguousarray(Y.T)).T
        T = ritz(state.A, Y)[0]
        history.excess.append(self._excess(Y, YK))
        history.excess_orthonormal.append(self._excess(T @ Y, T @ YK))

    def _excess(self, Y: Array, YK: Array) -> float:
        """Return the excess for scores Y: ||K' - Y^T Y||^2 = ||K'||^2 - 2 tr(Y K' Y^T) + ||Y Y^T||^2."""
        gram = Y @ Y.T
        error = self._square - 2.0 * float(np.sum(YK * Y)) + float(np.sum(gram * gram))
        if self._least > 0:
            return float(np.sqrt(max(error, 0.0)) / self._least - 1.0)
        return 0.0 if error <= 10 * _CANCELLED * self._square else float("inf")


def renew_products(state: KhaState, tiles: VisitTiles) -> None:
    """Compute the products with K' again, for other rows than those of the last fit."""
    state.AK = tiles.matmul(np.ascontiguousarray(state.A.T)).T
    if state.B is not None:
        state.BK = tiles.matmul(np.ascontiguousarray(state.B.T)).T


def expand(kernel: Kernel, points: Points, tiles: VisitTiles, state: KhaState, orthonormal: bool) -> Expansion:
    """Return the model: transform(x) = A k'(x) for the rows as they are, or for the best basis of their span."""
    A, AK, values = state.A, state.AK, state.eigenvalues
    if orthonormal:
        first, _ = ritz(A, AK)
        again, values = ritz(first @ A, first @ AK)  # again, to remove rounding errors where rows differ in size
        T = again @ first
        absent = values <= tiles.noise
        T[absent], values[absent] = 0.0, 0.0
        T *= orientation((T @ AK).T)[:, None]  # as in `KernelPCA`: the largest score of each component is positive
        A, AK = T @ A, T @ AK
    gram = AK @ A.T
    return on_rows(kernel, points, tiles, A, values, 0.5 * (gram + gram.T))
