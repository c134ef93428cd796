"""The deflated kernel matrix K~ of L1-norm kernel PCA: held whole, made in tiles, or as explicit features."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray, Points, is_sparse
from mercer.engine.signs import (
    PENDING,
    add_rows,
    add_strip_sums,
    centre_rows,
    no_terms,
    row_means,
    subtract_and_sum,
    subtract_waiting,
)
from mercer.kernels.functions import Kernel, Linear
from mercer.kernels.operator import CentredOperator, GivenOperator, Operator
from mercer.kernels.tiles import SymmetricTiles, memory_budget, one_blas_thread, row_slices, run_in_threads
from mercer.solvers.exact import make_operator

EXHAUSTED = 1e-12  # of the first largest K_ii: what is left of a row below this is rounding
_ROUNDING = 8.0  # units in the last place of |phi_i| sum_j |phi_j|, which bounds every partial sum of (K c)_i
_STRIP = 128  # rows whose sums are kept in single precision, if that is K's; threads take turns in strips
_WORTH_THREADS = 2**21  # entries to read below which threads cost more than they save
TIE = 1e-8  # columns whose (19) differs by less are equal for all that rounding can tell, and the first one wins
_SINGLE_TIE = 1e-5
_COLUMNS = 256  # candidates for the start that are looked at together


Mask = npt.NDArray[np.bool_]


class Residual(Protocol):
    """What the sign iteration needs of K~."""

    diagonal: Array  # (n,), float64
    floor: float  # a diagonal below this is rounding of what K was made of

    def running(self) -> AbstractContextManager[None]:
        """Return a context for the whole extraction, in which threads wait for work."""

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero for all that rounding can tell, (n,)."""

    def best_column(self, alive: Mask) -> int:
        """Return the first j, among the rows alive, that maximises sum_i |K~_ij| / sqrt(K~_jj) [kim2019, eq. 19]."""

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v."""

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Subtract the component of the signs c, with v = K~ c and square = c^T v; return its scores u."""


def first_largest(values: Array, tie: float = TIE) -> int:
    """Return the first place of the maximum, where values that differ by rounding only count as equal."""
    largest = float(values.max())
    return int(np.argmax(values >= largest - tie * abs(largest)))


def _floor(largest_entry: float, dtype: Any) -> float:
    """Return what centring leaves of equal rows: the rounding of k(x, x)."""
    return _ROUNDING * float(np.finfo(dtype).eps) * largest_entry


def _rounding(diagonal: Array, dtype: Any) -> Array:
    norms = np.sqrt(np.maximum(diagonal, 0.0))
    return np.asarray(_ROUNDING * float(np.finfo(dtype).eps) * norms * norms.sum())


class HeldResidual:
    """K~ in memory, with a few deflations that wait."""

    def __init__(self, K: Array, threads: int = 1, floor: float = 0.0) -> None:  # (n, n), overwritten
        self._K, self._threads, self.floor = K, threads, floor
        self._waiting, self._count = no_terms(len(K), K.dtype.type), 0
        self.diagonal: Array = np.diag(K).astype(np.float64)
        self._tie = TIE if K.dtype == np.float64 else _SINGLE_TIE
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Keep threads ready: to start them for every pass would take as long as a pass over a few thousand rows."""
        if self._threads == 1 or self._K.size <= _WORTH_THREADS:
            yield
            return
        with one_blas_thread(), ThreadPoolExecutor(self._threads) as self._pool:
            yield
        self._pool = None

    def _share(self, work: Callable[[int, Any], None], items: Sequence[Any], entries: int) -> None:
        """Call work(worker, item) for all items, dealt out in turn to the threads if there is enough to do."""
        if self._pool is None or entries <= _WORTH_THREADS:
            for item in items:
                work(0, item)
            return

        def loop(worker: int) -> None:
            for item in items[worker :: self._threads]:
                work(worker, item)

        list(self._pool.map(loop, range(self._threads)))  # list: raises what a worker raised

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero."""
        return _rounding(self.diagonal, self._K.dtype)

    def best_column(self, alive: Mask) -> int:
        """Sum all columns: of the upper triangle, or of the whole when it is time to subtract what waits."""
        sums = self._flush() if self._count == PENDING else self._upper_sums()
        sums /= np.sqrt(np.where(alive, self.diagonal, 1.0))
        return first_largest(np.where(alive, sums, -np.inf), self._tie)

    def _upper_sums(self) -> Array:
        n = len(self._K)
        parts, starts = np.zeros((self._threads, n)), np.arange(0, n, _STRIP)

        def work(_: int, k: int) -> None:
            short = np.empty(n, self._K.dtype)
            add_strip_sums(self._K, self._waiting, starts[k :: self._threads], _STRIP, short, parts[k])

        self._share(work, range(self._threads), n * n)
        return np.asarray(parts.sum(axis=0))

    def _flush(self) -> Array:
        sums = np.empty(len(self._K))
        self._share(
            lambda _, rows: subtract_and_sum(self._K, self._waiting, rows.start, rows.stop, sums),
            self._pieces(),
            self._K.size,
        )
        self._waiting[...], self._count = 0, 0
        return sums

    def _pieces(self) -> list[slice]:
        """Cut the rows, or the columns, into one piece a thread."""
        n = len(self._K)
        width = -(-n // self._threads)
        return [slice(i, min(i + width, n)) for i in range(0, n, width)]

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""
        v = np.zeros(len(self._K))
        self.add(np.array([j]), np.ones(1), v)
        return v

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v: rows of K, then what waits."""
        entries = len(rows) * len(v)
        pieces = self._pieces() if entries > _WORTH_THREADS else [slice(0, len(v))]
        self._share(lambda _, part: add_rows(self._K, rows, factors, part.start, part.stop, v), pieces, entries)
        subtract_waiting(self._waiting[: self._count], rows, factors, v)

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""
        U, short = self._waiting[: self._count].astype(np.float64), V.astype(self._K.dtype, copy=False)
        product = np.empty(V.shape)

        def work(_: int, rows: slice) -> None:
            product[rows] = self._K[rows] @ short

        self._share(work, self._pieces(), self._K.size)
        return np.asarray(product - U.T @ (U @ V))

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Let u u^T wait."""
        if self._count == PENDING:
            self._flush()
        u = v / np.sqrt(square)
        self._waiting[self._count] = u
        self._count += 1
        self.diagonal -= u * u
        return np.asarray(u)


class TiledResidual:
    """K~ in tiles that are remade for every product; all deflations stay beside it."""

    def __init__(self, operator: CentredOperator) -> None:
        assert isinstance(operator.source, SymmetricTiles)
        self._operator, self._source = operator, operator.source
        self._U = np.empty((0, operator.shape[0]))
        self.diagonal = operator.diagonal()
        self.floor = _floor(operator.largest_entry, self._source.dtype) if operator.center else 0.0
        self._tie = TIE if self._source.dtype == np.float64 else _SINGLE_TIE

    def running(self) -> AbstractContextManager[None]:
        """Need nothing."""
        return nullcontext()

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero."""
        return _rounding(self.diagonal, self._source.dtype)

    def best_column(self, alive: Mask) -> int:
        """Sum all columns in one visit of the upper tiles."""
        means, level, U = self._operator.row_means, self._operator.mean_norm, self._U
        sums = np.zeros((self._source.threads, len(means)))

        def work(worker: int, I: slice, J: slice, tile: Array) -> None:
            entries = tile - means[I, None] - means[J] + level - U[:, I].T @ U[:, J]
            np.abs(entries, out=entries)
            sums[worker, I] += entries.sum(axis=1)
            if I != J:
                sums[worker, J] += entries.sum(axis=0)

        self._source.for_each_tile(work)
        values = sums.sum(axis=0) / np.sqrt(np.where(alive, self.diagonal, 1.0))
        return first_largest(np.where(alive, values, -np.inf), self._tie)

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""
        return np.asarray(self._operator.columns(np.array([j]))[:, 0] - self._U[:, j] @ self._U)

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v, by the columns, or by all tiles where these are cheaper."""
        n = len(v)
        if 2 * len(rows) > n:
            whole = np.zeros((n, 1))
            whole[rows, 0] = factors
            v += self._operator.matmul(whole)[:, 0]
        else:
            for part in row_slices(len(rows), 16 * n):
                v += self._operator.columns(rows[part]) @ factors[part]
        v -= (self._U[:, rows] @ factors) @ self._U

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""
        return np.asarray(self._operator.matmul(V) - self._U.T @ (self._U @ V))

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Keep u."""
        u = v / np.sqrt(square)
        self._U = np.vstack([self._U, u])
        self.diagonal = self.diagonal - u * u
        return np.asarray(u)


class FeatureResidual:
    """K~ = Z Z^T by its explicit features Z, (n, d): no n x n matrix at all."""

    def __init__(self, Z: Array, floor: float = 0.0) -> None:  # (n, d), float64, overwritten
        self._Z, self.floor = Z, floor
        self.diagonal = self._norms()

    def _norms(self) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self._Z, self._Z))

    def running(self) -> AbstractContextManager[None]:
        """Need nothing."""
        return nullcontext()

    def rounding(self) -> Array:
        """Return the sizes below which (K~ c)_i is zero."""
        return _rounding(self.diagonal, np.float64)

    def best_column(self, alive: Mask) -> int:
        """Look at columns in the order of sqrt(n) |K~_j| / sqrt(K~_jj), which bounds (19), while they can still win."""
        rows = np.flatnonzero(alive)
        unit = self._Z[rows] / np.sqrt(self.diagonal[rows, None])
        spread = np.einsum("ij,ij->i", unit @ (self._Z.T @ self._Z), unit)
        bounds = np.sqrt(len(self._Z) * np.maximum(spread, 0.0)) * (1.0 + 2.0 * TIE)
        order, values = np.argsort(-bounds, kind="stable"), np.full(len(rows), -np.inf)
        for first in range(0, len(rows), _COLUMNS):
            some = order[first : first + _COLUMNS]
            if bounds[some[0]] < values.max():
                break
            values[some] = self._abs_sums(unit[some])
        return int(rows[first_largest(values)])

    def _abs_sums(self, unit: Array) -> Array:
        """Return sum_i |z_i . w| for some directions w, (b,)."""
        totals = np.zeros(len(unit))
        for part in row_slices(len(self._Z), 8 * len(unit), 2**21):
            totals += np.abs(self._Z[part] @ unit.T).sum(axis=0)
        return totals

    def column(self, j: int) -> Array:
        """Return K~[:, j]."""
        return np.asarray(self._Z @ self._Z[j])

    def add(self, rows: IntArray, factors: Array, v: Array) -> None:
        """Add K~[:, rows] @ factors to v."""
        v += self._Z @ (factors @ self._Z[rows])

    def product(self, V: Array) -> Array:
        """Return K~ V, (n, b)."""
        return np.asarray(self._Z @ (self._Z.T @ V))

    def deflate(self, c: Array, v: Array, square: float) -> Array:
        """Project the component out of the features."""
        w = (c @ self._Z) / np.sqrt(square)
        u = self._Z @ w
        self._Z -= np.outer(u, w)
        self.diagonal = self._norms()
        return np.asarray(u)


@dataclass(frozen=True)
class Centring:
    """What was subtracted to centre: K w and w^T K w (zeros without centring), and the trace of what is left."""

    center: bool
    weights: Array  # (n,)
    row_means: Array  # (n,)
    mean_norm: float
    trace: float

    @classmethod
    def of(cls, operator: Operator) -> "Centring":
        """Return the centring of an operator."""
        return cls(operator.center, operator.weights, operator.row_means, operator.mean_norm, operator.trace)


def make_residual(kernel: Kernel, X: Points, dtype: Any, center: bool, n_jobs: int | None) -> tuple[Residual, Centring]:
    """Return K' of the rows of X in the form that suits the kernel and the memory."""
    n, d = X.shape
    fits = n * n * np.dtype(dtype).itemsize <= memory_budget()
    if isinstance(kernel, Linear) and (d <= n or not fits) and 8 * n * d <= memory_budget():
        return _linear_residual(X, center)
    operator = make_operator(kernel, X, dtype, n_jobs, center)
    if isinstance(operator, GivenOperator):
        floor = _floor(operator.largest_entry, operator.K.dtype) if center else 0.0
        return HeldResidual(operator.K, floor=floor), Centring.of(operator)
    assert isinstance(operator, CentredOperator)
    assert isinstance(operator.source, SymmetricTiles)
    if not fits:
        return TiledResidual(operator), Centring.of(operator)
    K = operator.source.dense()
    centring = _centre(K, center, kernel.diagonal(X), operator.source.threads)
    floor = _floor(operator.largest_entry, K.dtype) if center else 0.0
    return HeldResidual(K, operator.source.threads, floor), centring


def _linear_residual(X: Points, center: bool) -> tuple[Residual, Centring]:
    Z = X.toarray() if is_sparse(X) else X
    Z = np.array(Z, np.float64)
    mean = Z.mean(axis=0) if center else np.zeros(Z.shape[1])
    means = Z @ mean
    largest = float(np.einsum("ij,ij->i", Z, Z).max(initial=0.0))
    Z -= mean
    # features are centred before they are squared, so that is what happens to the rounding
    residual = FeatureResidual(Z, (_ROUNDING * float(np.finfo(np.float64).eps)) ** 2 * largest if center else 0.0)
    weights = np.full(len(Z), 1.0 / len(Z))
    return residual, Centring(center, weights, means, float(mean @ mean), float(residual.diagonal.sum()))


def _centre(K: Array, center: bool, diagonal: Array, threads: int) -> Centring:
    """Centre K in place, in float64 whatever it is stored in."""
    n = len(K)
    weights = np.full(n, 1.0 / n)
    if not center:
        _check_finite(diagonal)
        return Centring(False, weights, np.zeros(n), 0.0, float(diagonal.sum()))
    means = np.empty(n)
    bounds = np.linspace(0, n, threads + 1).astype(int)
    pieces = list(pairwise(bounds))
    run_in_threads(lambda _, rows: row_means(K, *rows, means), pieces, threads)
    _check_finite(means)
    level = float(means.mean())
    run_in_threads(lambda _, rows: centre_rows(K, means, level, *rows), pieces, threads)
    return Centring(True, weights, means, level, float((diagonal - 2.0 * means + level).sum()))


def _check_finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            "The kernel matrix has values that are not finite. Rescale the features (for example with StandardScaler) "
            "or lower gamma, coef0 or degree."
        )
