"""The leading eigenpairs of a centred kernel operator, by the solver that suits its size."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array
from mercer.engine.dense import leading_pairs_by_lanczos, pairs_and_lowest, pairs_of_low_rank
from mercer.engine.krylov import NEARLY, KrylovResult, Product, block_krylov
from mercer.errors import SlowFitWarning, warn_user
from mercer.events import SILENT, Channel
from mercer.kernels.operator import Operator
from mercer.kernels.threads import one_blas_thread

_DENSE_ROWS = 1000  # up to so many rows the whole matrix is held
_DENSE_SHARE = 8  # LAPACK is faster than products with tiles when more than an eighth of all pairs is wanted,
_SLOW_ROWS = 5000  # from here on LAPACK takes tens of seconds, and a time that grows with the cube of the rows
_INDEFINITE_SHARE, _INDEFINITE_ROWS = 32, 5000  # or more than this share, where negative eigenvalues delay convergence
_LANCZOS_ROWS = 250  # up to so many rows LAPACK is faster
_WHOLE_ROWS, _WHOLE_PAIRS = 1800, 16  # up to here products with the whole matrix pay
_LANCZOS_SHARE = (16, _INDEFINITE_SHARE)  # LAPACK is faster for a larger share of all pairs: positive kernels, others
_LOW_RANK_ROWS, _MANY_PAIRS = 300, 0.5  # from here on it pays to ask for the rank, if this share of all pairs is wanted
_ENTRY_ERROR = 16.0  # of centred kernel values at most, in units of the last place of the largest k(x, x)
_BLOCK = 8  # a pass over the tiles costs about the same for one vector as for eight
_PAIRS_PER_BLOCK = 40  # so many wanted pairs for each eight vectors of a block
_WIDEST_BLOCK = 32
_COMPUTED_BLOCK = 32  # where every pass computes the tiles again, fewer passes with more vectors are faster
_ONE_THREAD_ROWS = 700  # up to here one BLAS thread is as fast as several, and much faster on a busy machine
# tol=0: the eigenvalues, whose error is quadratic in this, are then exact to rounding
_WORKING_RESIDUAL = 1e-9
# rounding errors of a product grow with the square root of the rows, but not beyond those of a tile
_LONGEST_SUM = 85.0
_ROUGH_RESIDUAL = 1e-6  # what rough products should reach where each of them computes the tiles again,
_REFINING_STEPS = 6  # and after how many of them they are given up
FLOAT32_RESIDUAL = 2e-7  # the same where tiles are kept, so that products are cheap: what float32 can reach
_CHEAP_REFINING_STEPS = 12
_MORE_VECTORS = 4  # at most, beside the wanted ones, in cheap products that refine:
_NEAR = 0.5  # those of eigenvalues that are larger than this share of the last wanted one, which they would delay
_CHEAP_STEPS = 60  # products after which the first run with cheap products ends, converged or not
KRYLOV_STEPS = 200
_PROBE_STEPS = 20  # products that show whether ARPACK has missed an eigenvalue, and negative ones
_MISSED = 1e-10  # relative to the largest eigenvalue: one that exceeds others by more is not rounding
_OVERSAMPLING = 10  # vectors of the randomized solver beside the wanted ones, as in scikit-learn


@dataclass(frozen=True)
class EigenOptions:
    """How to solve: the estimator's parameters of the same names, and what is known of the operator."""

    solver: str = "auto"
    tol: float = 0.0
    max_iter: int | None = None
    power: int | None = None  # steps of the randomized solver; None: until converged
    rng: Any = None  # numpy Generator or RandomState for the start; None: always the same start
    positive: bool = False  # whether the operator is known to be positive semi-definite
    costly: bool = False  # whether every product (every rough one, if there are such) computes the kernel values again
    rough: Operator | None = None  # nearly the same operator with quicker products, whose eigenvectors are the start
    improve: Callable[[Array], Array] | None = None  # turns random start vectors into better ones
    zeros: bool = True  # whether pairs of eigenvalue zero are wanted, too, where all others are fewer than asked for
    whole: bool = False  # whether the matrix is computed in this process, and fits in memory as a whole


@dataclass(frozen=True)
class Spectrum:
    """Eigenpairs as computed; noise is not yet set to zero."""

    values: Array  # (r,), descending
    vectors: Array  # (n, r)
    lowest: float  # the smallest eigenvalue that the solver has seen
    solver: str
    n_iter: int


def choose_solver(solver: str, n: int, n_pairs: int, positive: bool = True) -> str:
    """Resolve "auto": the whole matrix for small problems or many pairs, block Krylov on tiles otherwise."""
    if solver == "auto":
        share = _DENSE_SHARE if positive or n > _INDEFINITE_ROWS else _INDEFINITE_SHARE
        return "dense" if n <= _DENSE_ROWS or n_pairs * share > n else "krylov"
    # ARPACK cannot find all pairs; a Krylov basis as wide as the matrix costs as much as the dense method
    return "dense" if n_pairs >= n or (solver == "krylov" and 2 * n_pairs > n) else solver


def solve(operator: Operator, n_pairs: int, options: EigenOptions, channel: Channel = SILENT) -> Spectrum:
    """Return the leading eigenpairs of the operator."""
    solver = choose_solver(options.solver, operator.shape[0], n_pairs, options.positive)
    if solver == "dense":
        if options.solver == "auto":
            _warn_of_many(n_pairs, operator.shape[0])
        return _dense(operator, n_pairs, options)
    if options.solver == "auto" and _pays_as_a_whole(operator, n_pairs, options):
        found = _lanczos(operator.dense(), n_pairs, options)
        if found is not None:
            return found
    with one_blas_thread():
        if solver == "arpack":
            try:
                spectrum = _arpack(operator, n_pairs, options)
            except ArpackNoConvergence:
                raise
            except ArpackError:  # for example, a zero operator leaves ARPACK without a start vector
                spectrum = None
            if spectrum is not None:
                return spectrum
        return _krylov(operator, n_pairs, options, channel)


def solve_share(operator: Operator, share: float, options: EigenOptions, channel: Channel = SILENT) -> Spectrum:
    """Return the smallest number of leading pairs that explain the given share of the trace."""
    n, n_pairs = operator.shape[0], min(operator.shape[0], 16)
    while True:
        spectrum = solve(operator, n_pairs, options, channel)
        enough = shortened(spectrum, share, operator.trace)
        if enough is not None or n_pairs == n:
            return enough or spectrum
        n_pairs = _more_pairs(spectrum.values, share * operator.trace, n, options)


def _more_pairs(values: Array, wanted: float, n: int, options: EigenOptions) -> int:
    """Return how many of n pairs to compute next, where the values explain less than is wanted.

    No further value is larger than the last one, which bounds the number from below. LAPACK's time hardly depends on
    the number of pairs, so where it is used it computes all.
    """
    count = min(n, 2 * len(values))
    missing, last = wanted - float(np.maximum(values, 0.0).sum()), float(values[-1])
    if last > 0.0:
        count = int(min(n, max(count, len(values) + np.ceil(missing / last))))
    return n if choose_solver(options.solver, n, count, options.positive) == "dense" else count


def shortened(spectrum: Spectrum, share: float, trace: float) -> Spectrum | None:
    """Return the fewest leading pairs that explain the given share of the trace; None if all are too few."""
    explained = np.cumsum(np.maximum(spectrum.values, 0.0))
    # rounding errors of the sum must not decide whether all components are enough
    enough = np.flatnonzero(explained >= share * trace * (1.0 - 1e-10))
    if not enough.size:
        return None
    kept = int(enough[0]) + 1
    return replace(spectrum, values=spectrum.values[:kept], vectors=spectrum.vectors[:, :kept])


def _dense(operator: Operator, n_pairs: int, options: EigenOptions) -> Spectrum:
    """Return the leading eigenpairs of the whole matrix: by Lanczos steps if they are few, else by LAPACK."""
    K = operator.dense()
    n = len(K)
    kind = 0 if options.positive else 1  # negative eigenvalues delay convergence
    if options.solver == "auto" and n > _LANCZOS_ROWS and n_pairs * _LANCZOS_SHARE[kind] <= n:
        found = _lanczos(K, n_pairs, options)
        if found is not None:
            return found
    with one_blas_thread() if n <= _ONE_THREAD_ROWS else nullcontext():
        return _of_low_rank(K, n_pairs, operator, options) or _lapack(K, n_pairs, options)


def _pays_as_a_whole(operator: Operator, n_pairs: int, options: EigenOptions) -> bool:
    """Tell whether one vector at a time and the whole matrix are faster than blocks of vectors and tiles."""
    small = operator.shape[0] <= _WHOLE_ROWS and n_pairs <= _WHOLE_PAIRS
    return small and options.whole and options.max_iter is None and operator.dtype == np.float64


def _lanczos(K: Array, n_pairs: int, options: EigenOptions) -> Spectrum | None:
    with one_blas_thread():  # several wait for each other at every product with one vector
        start = _rng(options).uniform(-1.0, 1.0, len(K))
        found = leading_pairs_by_lanczos(K, n_pairs, start, lowest=not options.positive)
    if found is None:
        return None
    return Spectrum(found.values, found.vectors, found.lowest, "lanczos", found.n_steps)


def _of_low_rank(K: Array, n_pairs: int, operator: Operator, options: EigenOptions) -> Spectrum | None:
    """Return the pairs of a matrix of low rank without those of eigenvalue zero, where these are not wanted."""
    known = options.positive and not options.zeros and operator.dtype == np.float64
    if not known or len(K) < _LOW_RANK_ROWS or n_pairs < _MANY_PAIRS * len(K):
        return None
    found = pairs_of_low_rank(K, _ENTRY_ERROR * _eps(operator) * operator.largest_entry)
    if found is None:
        return None
    values, vectors = found
    return Spectrum(values[:n_pairs], vectors[:, :n_pairs], 0.0, "dense", 1)


def _lapack(K: Array, n_pairs: int, options: EigenOptions) -> Spectrum:
    return Spectrum(*pairs_and_lowest(K, n_pairs, lowest=not options.positive), "dense", 1)


def _arpack(operator: Operator, n_pairs: int, options: EigenOptions) -> Spectrum | None:
    """Return what ARPACK finds; None where it has missed copies of a multiple eigenvalue, as from one start vector."""
    n = operator.shape[0]
    products = 0
    unit = float(np.ldexp(1.0, np.frexp(operator.largest_entry)[1] - 1))  # ARPACK has limits for tiny eigenvalues

    def product(v: Array) -> Array:
        nonlocal products
        products += 1
        return (operator.matmul(v.reshape(n, -1)) / unit).reshape(v.shape)

    matrix = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    start = _rng(options).uniform(-1.0, 1.0, n)
    values, vectors = eigsh(matrix, n_pairs, which="LA", tol=options.tol, maxiter=options.max_iter, v0=start)
    order = np.argsort(-values, kind="stable")
    values, vectors = unit * values[order], vectors[:, order]
    rest = _rest_of_spectrum(operator, vectors)
    margin = max(_MISSED, options.tol, NEARLY * _eps(operator)) * float(np.abs(values).max())
    if rest.values[0] > values[-1] + margin:
        return None
    return Spectrum(values, vectors, min(rest.lowest, float(values[-1])), "arpack", products)


def _rest_of_spectrum(operator: Operator, known: Array) -> KrylovResult:
    """Return estimates of the largest and the smallest eigenvalue beside those of known vectors, by a short run."""
    n, n_pairs = known.shape

    def beside(V: Array) -> Array:
        return V - known @ (known.T @ V)

    def product(V: Array) -> Array:
        return beside(operator.matmul(beside(V)))

    start = beside(np.random.default_rng(1).standard_normal((n, 1)))  # ARPACK's own start cannot show what it missed
    steps = min(max(_PROBE_STEPS, 2 * n_pairs), n - n_pairs)
    return block_krylov(product, start, 1, tol=0.0, floor=_eps(operator), max_iter=steps)


def _krylov(operator: Operator, n_pairs: int, options: EigenOptions, channel: Channel) -> Spectrum:
    n, limits = operator.shape[0], krylov_limits(operator, options)
    randomized = options.solver == "randomized"
    block = usual_block(n_pairs, options.costly)
    if limits["max_iter"] < KRYLOV_STEPS:  # few steps must find all pairs
        block = max(block, n_pairs + (_OVERSAMPLING if randomized else 0))
    block = min(n, block)
    if randomized:
        start = _rng(options).standard_normal((n, block))
        found = block_krylov(operator.matmul, start, n_pairs, **limits, select="modulus", channel=channel)
        return krylov_spectrum(found, warn=options.power is None)
    if options.rough is None:
        return krylov_spectrum(
            block_krylov(operator.matmul, _start(n, block, options), n_pairs, **limits, channel=channel)
        )
    # the start vectors have no name here, so that their memory is free as soon as they are not needed
    start, before, refined = _roughly(operator, options, _start(n, block, options), n_pairs, channel)
    found = refined or block_krylov(operator.matmul, start, n_pairs, **limits, channel=channel)
    return krylov_spectrum(replace(found, n_iter=found.n_iter + before))


def _start(n: int, block: int, options: EigenOptions) -> Array:
    """Return the first block of vectors, (n, block)."""
    start: Array = _rng(options).standard_normal((n, block))
    return start if options.improve is None else options.improve(start)


def _roughly(
    operator: Operator, options: EigenOptions, start: Array, n_pairs: int, channel: Channel
) -> tuple[Array, int, KrylovResult | None]:
    """Return better start vectors by products of less precision, the number of passes, and the result where it is one.

    The rough operator's eigenvectors V are wrong by its rounding errors. One exact pass gives K V; what is missing lies
    in the Krylov space of the residuals, where products of less precision are enough [Simoncini and Szyld 2003]: their
    errors are multiplied by the part of the result that is outside of V, which is small.
    """
    assert options.rough is not None
    limits, rough = krylov_limits(operator, options), _rough_limits(options)
    found = block_krylov(options.rough.matmul, start, n_pairs, **rough, channel=channel)
    more = max(_BLOCK, start.shape[1] - n_pairs) if options.costly else _near_the_last(found)
    start, passes = _leading_vectors(found, more), found.n_iter
    del found  # vectors of many rows take much memory
    steps = _REFINING_STEPS if options.costly else _CHEAP_REFINING_STEPS
    if limits["max_iter"] < steps:
        return start, passes, None
    product = _first_exactly(operator.matmul, options.rough.matmul)
    found = block_krylov(product, start, n_pairs, **{**limits, "max_iter": steps}, channel=channel)
    basis = np.linalg.qr(start)[0]
    outside = np.linalg.norm(found.vectors - basis @ (basis.T @ found.vectors), axis=0).max(initial=0.0)
    rounding = krylov_limits(options.rough, options)
    scale = max(float(np.abs(found.values).max(initial=0.0)), 1e-300)
    error = outside * (rounding["floor"] + rounding["noise"] / scale)
    passes += found.n_iter
    if found.converged and error <= limits["tol"]:
        return start, passes - found.n_iter, found
    return _leading_vectors(found, start.shape[1] - n_pairs), passes, None


def _first_exactly(exact: Product, rough: Product) -> Product:
    """Return a function that computes its first product exactly, and later ones with less precision."""
    products = chain([exact], repeat(rough))
    return lambda V: next(products)(V)


def _near_the_last(found: KrylovResult) -> int:
    """Return how many of the eigenvalues after the wanted ones are so near that their vectors save products."""
    return int(np.count_nonzero(found.next_values[:_MORE_VECTORS] > _NEAR * found.values[-1]))


def _leading_vectors(found: KrylovResult, more: int) -> Array:
    """Return the vectors that were found, and some more beside the wanted ones."""
    return np.hstack([found.vectors, found.next_vectors[:, :more]])


def krylov_limits(operator: Operator, options: EigenOptions) -> dict[str, Any]:
    """Return the arguments of a Krylov iteration that say when it stops."""
    given = options.solver == "randomized" and options.power is not None
    return {
        "tol": options.tol or _WORKING_RESIDUAL,
        "floor": _eps(operator) * min(np.sqrt(operator.shape[0]), _LONGEST_SUM),
        "noise": _eps(operator) * operator.largest_entry * np.sqrt(operator.shape[0]),
        "max_iter": 2 * (options.power or 0) + 2 if given else options.max_iter or KRYLOV_STEPS,
    }


def _rough_limits(options: EigenOptions) -> dict[str, Any]:
    """Return the arguments of a Krylov iteration with rough products."""
    assert options.rough is not None
    limits = krylov_limits(options.rough, EigenOptions(tol=max(options.tol, _ROUGH_RESIDUAL)))
    cheap = {"tol": max(options.tol, FLOAT32_RESIDUAL), "floor": FLOAT32_RESIDUAL, "max_iter": _CHEAP_STEPS}
    return limits if options.costly else {**limits, **cheap}


def krylov_spectrum(found: KrylovResult, warn: bool = True) -> Spectrum:
    """Return what a Krylov iteration found, in order; warn if it did not converge."""
    if warn and not found.converged:
        _warn_not_converged(found)
    order = np.argsort(-found.values, kind="stable")
    return Spectrum(found.values[order], found.vectors[:, order], found.lowest, "krylov", found.n_iter)


def usual_block(n_pairs: int, costly: bool) -> int:
    """Return the number of vectors per pass: as few as use a pass well, and more where there are many pairs."""
    narrow = _BLOCK * min(-(-n_pairs // _PAIRS_PER_BLOCK), _WIDEST_BLOCK // _BLOCK)
    return max(narrow, _COMPUTED_BLOCK) if costly else narrow


def _eps(operator: Operator) -> float:
    return float(np.finfo(operator.dtype).eps)


def _rng(options: EigenOptions) -> Any:
    return np.random.default_rng(0) if options.rng is None else options.rng


def _warn_of_many(n_pairs: int, n: int) -> None:
    """Warn before so many pairs of a large matrix are computed that it must be held and decomposed as a whole."""
    if n >= _SLOW_ROWS:
        warn_user(
            f"{'All' if n_pairs == n else n_pairs} eigenvectors of the kernel matrix of {n} rows are computed, with "
            f"up to {24 * n * n / 2**30:.1f} GiB of memory; this takes many times as long as a few of them. Pass a "
            f"number of at most {n // _DENSE_SHARE} as n_components, for example 50; the default, None, and shares "
            "near 1 ask for most of them. A wider kernel (a smaller gamma) needs fewer for the same share.",
            SlowFitWarning,
        )


def _warn_not_converged(found: KrylovResult) -> None:
    worst = float(found.residuals.max() / (abs(found.values).max() or 1.0))
    warn_user(
        f"The Krylov solver stopped after {found.n_iter} steps with a relative residual of {worst:.1e}. "
        "Raise max_iter or tol, or use eigen_solver='dense'.",
        ConvergenceWarning,
    )
