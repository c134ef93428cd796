"""The leading eigenpairs of a centred kernel operator, by the solver that suits its size."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array
from mercer.engine.dense import leading_pairs, lowest_ritz_value
from mercer.engine.krylov import KrylovResult, block_krylov
from mercer.events import SILENT, Channel
from mercer.kernels.operator import Operator
from mercer.kernels.tiles import one_blas_thread

_DENSE_ROWS = 300  # with fewer rows LAPACK needs only milliseconds
_DENSE_SHARE = 8  # LAPACK is faster when more than an eighth of all pairs is wanted
_SMALLEST_BLOCK = 8  # a pass over the tiles costs about the same for one vector as for eight
# tol=0: the eigenvalues, whose error is quadratic in this, are then exact to rounding
_WORKING_RESIDUAL = 1e-9
_KRYLOV_STEPS = 200


@dataclass(frozen=True)
class EigenOptions:
    """How to solve: the estimator's parameters of the same names."""

    solver: str = "auto"
    tol: float = 0.0
    max_iter: int | None = None
    power: int | None = None  # steps of the randomized solver; None: until converged
    rng: Any = None  # numpy Generator or RandomState for the start; None: always the same start


@dataclass(frozen=True)
class Spectrum:
    """Eigenpairs as computed; noise is not yet set to zero."""

    values: Array  # (r,), descending
    vectors: Array  # (n, r)
    lowest: float  # the smallest eigenvalue that the solver has seen
    solver: str
    n_iter: int


def choose_solver(solver: str, n: int, n_pairs: int) -> str:
    """Resolve "auto": LAPACK for small problems or many pairs, block Krylov otherwise."""
    small = n <= _DENSE_ROWS or n_pairs * _DENSE_SHARE > n
    if solver == "auto":
        return "dense" if small else "krylov"
    # ARPACK cannot find all pairs; a Krylov basis as wide as the matrix costs as much as the dense method
    return "dense" if n_pairs >= n or (solver == "krylov" and 2 * n_pairs > n) else solver


def solve(operator: Operator, n_pairs: int, options: EigenOptions, channel: Channel = SILENT) -> Spectrum:
    """Return the leading eigenpairs of the operator."""
    solver = choose_solver(options.solver, operator.shape[0], n_pairs)
    if solver == "dense":
        return _dense(operator, n_pairs)
    with one_blas_thread():
        if solver == "arpack":
            try:
                return _arpack(operator, n_pairs, options)
            except ArpackNoConvergence:
                raise
            except ArpackError:  # for example, a zero operator leaves ARPACK without a start vector
                pass
        return _krylov(operator, n_pairs, options, channel)


def solve_share(operator: Operator, share: float, options: EigenOptions, channel: Channel = SILENT) -> Spectrum:
    """Return the smallest number of leading pairs that explain the given share of the trace."""
    n, n_pairs = operator.shape[0], min(operator.shape[0], 16)
    while True:
        spectrum = solve(operator, n_pairs, options, channel)
        explained = np.cumsum(np.maximum(spectrum.values, 0.0))
        # rounding errors of the sum must not decide whether all components are enough
        enough = np.flatnonzero(explained >= share * operator.trace * (1.0 - 1e-10))
        if enough.size or n_pairs == n:
            kept = int(enough[0]) + 1 if enough.size else n_pairs
            return replace(spectrum, values=spectrum.values[:kept], vectors=spectrum.vectors[:, :kept])
        n_pairs = min(n, 2 * n_pairs)


def _dense(operator: Operator, n_pairs: int) -> Spectrum:
    K = operator.dense()
    lowest = lowest_ritz_value(K)
    values, vectors = leading_pairs(K, n_pairs)
    return Spectrum(values, vectors, min(lowest, float(values.min(initial=np.inf))), "dense", 1)


def _arpack(operator: Operator, n_pairs: int, options: EigenOptions) -> Spectrum:
    n = operator.shape[0]
    products = 0

    def product(v: Array) -> Array:
        nonlocal products
        products += 1
        return operator.matmul(v.reshape(n, -1)).reshape(v.shape)

    matrix = LinearOperator((n, n), matvec=product, matmat=product, dtype=np.float64)
    start = _rng(options).uniform(-1.0, 1.0, n)
    values, vectors = eigsh(matrix, n_pairs, which="LA", tol=options.tol, maxiter=options.max_iter, v0=start)
    order = np.argsort(-values, kind="stable")
    # ARPACK finds only the largest eigenvalues; a short block Krylov run estimates the smallest one
    probe = block_krylov(operator.matmul, start[:, None], 1, tol=0.0, floor=_eps(operator), max_iter=min(20, n))
    return Spectrum(values[order], vectors[:, order], probe.lowest, "arpack", products)


def _krylov(operator: Operator, n_pairs: int, options: EigenOptions, channel: Channel) -> Spectrum:
    n = operator.shape[0]
    block = min(n, max(n_pairs, _SMALLEST_BLOCK))
    randomized = options.solver == "randomized"
    limit = options.power + 1 if randomized and options.power is not None else options.max_iter or _KRYLOV_STEPS
    found = block_krylov(
        operator.matmul,
        _rng(options).standard_normal((n, block)),
        n_pairs,
        tol=options.tol or _WORKING_RESIDUAL,
        floor=_eps(operator) * np.sqrt(n),
        noise=_eps(operator) * operator.largest_entry * np.sqrt(n),
        max_iter=limit,
        select="modulus" if randomized else "largest",
        channel=channel,
    )
    if not found.converged and not randomized:
        _warn_not_converged(found, limit)
    order = np.argsort(-found.values, kind="stable")
    return Spectrum(found.values[order], found.vectors[:, order], found.lowest, "krylov", found.n_iter)


def _eps(operator: Operator) -> float:
    return float(np.finfo(operator.dtype).eps)


def _rng(options: EigenOptions) -> Any:
    return np.random.default_rng(0) if options.rng is None else options.rng


def _warn_not_converged(found: KrylovResult, limit: int) -> None:
    worst = float(found.residuals.max() / (abs(found.values).max() or 1.0))
    warnings.warn(
        f"The Krylov solver stopped after {limit} steps with a relative residual of {worst:.1e}. "
        "Raise max_iter or tol, or use eigen_solver='dense'.",
        ConvergenceWarning,
        stacklevel=2,
    )
