"""Exact kernel PCA: eigenpairs of the centred kernel matrix, as an expansion on the training points."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.engine.spectrum import clean_eigenvalues, inverse_roots, is_indefinite, orient, rounding_noise, thresholds
from mercer.errors import IndefiniteKernelWarning, warn_user
from mercer.events import Channel
from mercer.expansion.build import on_rows, unit_gram
from mercer.expansion.model import Expansion
from mercer.kernels.around_point import AroundPoint
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.given import GivenOperator
from mercer.kernels.operator import CentredOperator, Operator
from mercer.kernels.threads import available_threads
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.kernels.user_given import Precomputed
from mercer.solvers.exact.eigen import EigenOptions, Spectrum, choose_solver, solve, solve_share
from mercer.solvers.exact.primal import CentredRows, has_few_features, rounding_of_rows, solve_rows
from mercer.solvers.exact.start import sampled_start

_MANY_ROWS, _FEW_FEATURES = 10_000, 256  # from and up to here, tiles in half the memory save up to a third of the time
_EQUAL = 5.0  # the largest eigenvalue divided by the mean one, below which all are nearly equal
_SUMS, _KEPT = 60.0, 1e-6  # errors of equal eigenvalues in units of rounding, as measured; what "mixed" promises
_FAR = 0.9  # share of the mean in the squared lengths of rows above which centring costs their inner products a digit


@dataclass(frozen=True)
class ExactPlan:
    """What is to be computed of some rows, and how."""

    n_components: int | float  # a float is a share of the total variation
    dtype: Any = np.float64  # of the kernel values
    options: EigenOptions = field(default_factory=EigenOptions)
    drop_zeros: bool = False  # leave out components without variation
    center: bool = True
    n_jobs: int | None = None
    channel: Channel = field(default_factory=Channel)  # nobody is told


@dataclass(frozen=True)
class Fit:
    """A fitted model and details of the solution."""

    expansion: Expansion
    eigenvectors: Array  # (n, r), unit length
    trace: float
    solver: str
    n_iter: int
    dtype: np.dtype[Any]  # precision of the kernel values


def make_operator(kernel: Kernel, X: Points, dtype: Any, n_jobs: int | None = None, center: bool = True) -> Operator:
    """Return the centred kernel operator of the rows of X; a precomputed X is centred in place."""
    if isinstance(kernel, Precomputed):
        operator = GivenOperator(X, center)
        if operator.asymmetry > 1e-6:
            warn_user(
                f"The precomputed kernel matrix is not symmetric (relative difference {operator.asymmetry:.1e}); "
                "the average of the matrix and its transpose is used."
            )
        return operator
    tiles = SymmetricTiles(kernel, X, dtype, memory_budget(), available_threads(n_jobs))
    return CentredOperator(tiles, kernel.diagonal(X), center=center)


def fit_exact(
    kernel: Kernel,
    X: Points,
    plan: ExactPlan,
    operator: Operator | None = None,
    by_tiles: Callable[..., Fit] | None = None,
) -> Fit:
    """Solve kernel PCA on the rows of X; the operator is that of these rows, if there is one already.

    `by_tiles` stands for `fit_tiles`, where products with the kernel matrix are done elsewhere.
    """
    by_tiles = by_tiles or partial(fit_tiles, operator=operator)
    points = np.arange(X.shape[0]) if isinstance(kernel, Precomputed) else X
    if operator is None and plan.options.solver == "auto" and has_few_features(kernel, X):
        return fit_rows(kernel, points, kernel.prepare(X, np.float64), plan)
    if operator is None and plan.center and kernel.inner_product and not is_sparse(X):
        around, own = AroundPoint.mean(kernel, X), kernel.diagonal(X)
        if around.point @ around.point > _FAR * own.mean():
            noise = rounding_of_rows(n_rows(X), float(own.max()))
            return _around_mean(by_tiles(around, X, X, plan, noise=noise), kernel, around, X)
    return by_tiles(kernel, X, points, plan)


def _around_mean(fit: Fit, kernel: Kernel, around: AroundPoint, X: Points) -> Fit:
    """Return the model of a fit by inner products of rows less their mean: these keep the digits that others lose."""
    mean, coef = around.point, fit.expansion.coef
    offset = coef @ around.along(mean, X)  # coefficients sum to zero
    return replace(fit, expansion=replace(fit.expansion, kernel=kernel, offset=offset, mean_norm=float(mean @ mean)))


def fit_tiles(
    kernel: Kernel, X: Points, points: Points, plan: ExactPlan, operator: Operator | None = None, noise: float = 0.0
) -> Fit:
    """Solve kernel PCA by products with the kernel matrix; eigenvalues of the size of `noise` are rounding."""
    options = replace(plan.options, whole=operator is None and 8 * n_rows(X) ** 2 <= memory_budget())
    halves = operator is None and float32_pays(kernel, X, plan.n_components, options)
    given, operator = operator, operator or make_operator(kernel, X, plan.dtype, plan.n_jobs, plan.center)
    rough = options.rough or rough_operator(operator, kernel, X, halves, plan.n_jobs)
    zeros = not (plan.drop_zeros or isinstance(plan.n_components, float))
    options = replace(options, positive=kernel.positive, rough=rough, zeros=zeros)
    options = replace(options, costly=not _keeps_tiles(options.rough or operator))
    spectrum = eigenpairs(kernel, X, operator, replace(plan, options=options))
    if given is None and loses_sums(operator, spectrum):
        return fit_tiles(kernel, X, points, replace(plan, dtype=np.float64), noise=noise)
    return finished(kernel, points, operator, spectrum, plan.drop_zeros, noise)


def loses_sums(operator: Operator, spectrum: Spectrum) -> bool:
    """Tell whether sums of float32 kernel values were too inexact for the eigenvalues.

    That is so where all of these are nearly equal and small beside what the kernel values have in common, as for rows
    that are all equally far from each other.
    """
    n, largest = operator.shape[0], float(spectrum.values.max(initial=0.0))
    if operator.dtype != np.float32 or isinstance(operator, GivenOperator) or largest <= 0.0:
        return False
    over_mean = largest * n / operator.trace if operator.trace > 0.0 else np.inf
    error = _SUMS * float(np.finfo(np.float32).eps) * np.sqrt(n) * abs(operator.mean_norm) / over_mean**2
    return bool(over_mean < _EQUAL and error > _KEPT * largest)


def eigenpairs(kernel: Kernel, X: Points, operator: Operator, plan: ExactPlan) -> Spectrum:
    """Return the wanted eigenpairs of the operator of X; where products are costly, some of the rows give the start."""
    options = plan.options
    if options.costly:
        improve = partial(sampled_start, kernel=kernel, X=X, threads=available_threads(plan.n_jobs))
        options = replace(options, improve=improve)
    if isinstance(plan.n_components, float):
        return solve_share(operator, plan.n_components, options, plan.channel)
    return solve(operator, plan.n_components, options, plan.channel)


def fit_rows(kernel: Kernel, points: Points, features: Array, plan: ExactPlan) -> Fit:
    """Solve kernel PCA on points whose kernel values are the inner products of features, (n, d)."""
    rows = CentredRows(features, plan.center)
    most = features.shape[1] if plan.drop_zeros else len(features)  # beyond the number of features eigenvalues are zero
    return finished(kernel, points, rows, solve_rows(rows, min(plan.n_components, most)), plan.drop_zeros)


def finished(
    kernel: Kernel,
    points: Points,
    operator: Operator | CentredRows,
    spectrum: Spectrum,
    drop_zeros: bool,
    noise: float = 0.0,
) -> Fit:
    """Return the model that eigenpairs describe; noise among the eigenvalues is set to zero."""
    values, vectors = _judge(spectrum, operator, drop_zeros, noise)
    coef = np.ascontiguousarray((vectors * inverse_roots(values)).T)  # alpha_k^T alpha_k = 1 / lambda_k [lecture_notes]
    expansion = on_rows(kernel, points, operator, coef, values, unit_gram(values))
    return Fit(expansion, vectors, operator.trace, spectrum.solver, spectrum.n_iter, operator.dtype)


def _keeps_tiles(operator: Operator) -> bool:
    """Tell whether only the first product computes kernel values."""
    source = operator.source if isinstance(operator, CentredOperator) else None
    return not isinstance(source, SymmetricTiles) or source.held


def rough_operator(operator: Operator, kernel: Kernel, X: Points, halves: bool, n_jobs: int | None) -> Operator | None:
    """Return the operator with kernel values in float32 where most products should use it; None elsewhere.

    These are operators whose tiles do not fit in memory, and those of which `halves` says so. Their own tiles are then
    needed once, and are not kept.
    """
    source = operator.source if isinstance(operator, CentredOperator) else None
    if not isinstance(source, SymmetricTiles) or source.dtype != np.float64:
        return None
    if source.held and not halves:
        return None
    rough = make_operator(kernel, X, np.float32, n_jobs, operator.center)
    if rough.dtype != np.float32:
        return None
    if source.held:
        source.unkept = 1
        source.held = 1.5 * source.bytes <= memory_budget()  # beside the tiles in float32
    return rough


def float32_pays(kernel: Kernel, X: Points, n_components: int | float, options: EigenOptions) -> bool:
    """Tell whether a float64 fit is quicker if most passes visit tiles in float32, which are half as large.

    Passes over the tiles must take longer than it takes to compute these once more.
    """
    if not isinstance(kernel, RBF) or X.shape[1] > _FEW_FEATURES or n_rows(X) < _MANY_ROWS:
        return False
    pairs = 1 if isinstance(n_components, float) else n_components
    return options.max_iter is None and choose_solver(options.solver, n_rows(X), pairs) == "krylov"


def _judge(spectrum: Spectrum, operator: Operator | CentredRows, drop_zeros: bool, noise: float) -> tuple[Array, Array]:
    limits = thresholds(operator.dtype)
    if isinstance(operator, CentredRows):
        noise = operator.noise
    else:
        noise = max(noise, rounding_noise(operator.shape[0], operator.largest_entry, operator.dtype))
    values = clean_eigenvalues(spectrum.values, spectrum.lowest, noise, limits)
    if is_indefinite(spectrum.values, spectrum.lowest, noise, limits):
        warn_user(
            f"The kernel is indefinite on these data: it has an eigenvalue near {spectrum.lowest:.3g} beside the "
            f"largest, {values.max(initial=0.0):.3g}. The components kept are valid, but distances and residuals in "
            "feature space are not.",
            IndefiniteKernelWarning,
        )
    kept = np.count_nonzero(values > 0) if drop_zeros else len(values)  # the positive ones come first
    return values[:kept], orient(spectrum.vectors[:, :kept])
