"""Exact kernel PCA of all rows, and of all rows but each of several parts, from one kernel matrix.

Models of rows whose kernel values are their inner products are fitted one by one. All others need the kernel matrix:
the tiles are made once. The model of all rows starts the others: their block Krylov iterations run side by side, so
that one visit of the tiles serves the products of all. Vectors of a model have entries for all rows, zero at its part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from mercer.arrays import Array, IntArray, Points, check_kernel_values
from mercer.engine.krylov import KrylovResult
from mercer.engine.krylov_batch import batch_krylov
from mercer.expansion.model import Expansion
from mercer.expansion.part_model import PartModel
from mercer.kernels.base import Kernel
from mercer.kernels.given import GivenKernel
from mercer.kernels.operator import CentredOperator, KernelSource
from mercer.kernels.parts import PartProducts, WithoutPart
from mercer.kernels.threads import available_threads, one_blas_thread
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.solvers.exact.eigen import (
    Spectrum,
    krylov_limits,
    krylov_spectrum,
    shortened,
    solve,
    solve_share,
)
from mercer.solvers.exact.fit import ExactPlan, Fit, finished, fit_exact, fit_rows
from mercer.solvers.exact.primal import has_few_features

_NARROWEST = 4  # vectors in a block: a visit of the tiles costs about the same for one
_NOISE = 0.01  # size of what is added to start vectors, to find what the model of all rows does not contain
_WHOLE_ROWS = 1024  # up to here one matrix product is faster than a visit of tiles in threads
_LEAST_WIDTHS = 12  # with fewer rows than this many times the start's width, LAPACK is as fast


@dataclass(frozen=True)
class _Problem:
    """Rows in the order of their parts, and what to compute."""

    kernel: Kernel
    rows: Points  # (n, d)
    parts: list[slice]
    plan: ExactPlan


def fit_with_parts(
    kernel: Kernel, X: Points, parts: Sequence[IntArray], plan: ExactPlan
) -> tuple[Fit, list[PartModel]]:
    """Return kernel PCA of the rows of X, and for each part that of all other rows; parts have no row in common."""
    order = np.concatenate([np.setdiff1d(np.arange(X.shape[0]), np.concatenate(parts)), *parts])
    ends = X.shape[0] - np.cumsum([0, *(len(part) for part in reversed(parts))])[::-1]
    slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    plan = replace(plan, options=replace(plan.options, positive=kernel.positive))
    given = _Problem(kernel, X[order], slices, plan)
    by_rows = plan.options.solver == "auto" and has_few_features(kernel, X)
    operator = None if by_rows else _full_operator(given)
    full = fit_exact(kernel, given.rows, plan, operator)
    models = _by_rows(given) if operator is None else _without_parts(given, operator.source, full)
    back = np.argsort(order)
    return _reordered(full, X, back), [replace(m, expansion=_on(m.expansion, X, back)) for m in models]


def _full_operator(given: _Problem) -> CentredOperator:
    """Return the centred kernel matrix of all rows: of few rows the whole matrix, which needs no threads."""
    n, plan = given.rows.shape[0], given.plan
    threads = 1 if n <= _WHOLE_ROWS else available_threads(plan.n_jobs)
    tiles = SymmetricTiles(given.kernel, given.rows, plan.dtype, memory_budget(), threads)
    source = _whole(tiles) if n <= _WHOLE_ROWS else tiles
    return CentredOperator(source, given.kernel.diagonal(given.rows), center=plan.center)


def _whole(source: KernelSource) -> GivenKernel:
    """Return the matrix in memory, in float64 whatever the precision of its values."""
    return GivenKernel(source.dense().astype(np.float64, copy=False), source.dtype)


def _on(expansion: Expansion, X: Points, back: IntArray) -> Expansion:
    """Return the model with its points in the order of X."""
    nu = None if expansion.nu is None else expansion.nu[back]
    return replace(expansion, points=X, coef=np.ascontiguousarray(expansion.coef[:, back]), nu=nu)


def _reordered(full: Fit, X: Points, back: IntArray) -> Fit:
    return replace(full, expansion=_on(full.expansion, X, back), eigenvectors=full.eigenvectors[back])


def _without_parts(given: _Problem, source: KernelSource, full: Fit) -> list[PartModel]:
    if full.solver == "dense" and isinstance(source, SymmetricTiles) and 8 * source.shape[0] ** 2 <= memory_budget():
        source = _whole(source)  # that was needed anyway, and parts of it are needed now
    own = np.asarray(given.kernel.diagonal(given.rows), np.float64)
    products = PartProducts(source, given.parts)
    with one_blas_thread():
        sums = products.sums()
        operators = [_operator(given, source, part, own, s) for part, s in zip(given.parts, sums, strict=True)]
        spectra = _spectra(given, products, operators, full)
        fits = [
            finished(given.kernel, given.rows, operator, spectrum, given.plan.drop_zeros)
            for operator, spectrum in zip(operators, spectra, strict=True)
        ]
        models = [_wide(fit.expansion, part) for fit, part in zip(fits, given.parts, strict=True)]
        scores = products.outside([model.coef for model in models])
    return [
        _part_model(model, fit, y.T - model.offset, own[part], s[part])
        for model, fit, y, part, s in zip(models, fits, scores, given.parts, sums, strict=True)
    ]


def _by_rows(given: _Problem) -> list[PartModel]:
    """Return the models of kernel values that are inner products of rows with few features: one by one is quicker."""
    features = given.kernel.prepare(given.rows, np.float64)
    own, models = np.asarray(given.kernel.diagonal(given.rows), np.float64), []
    for part in given.parts:
        others = np.delete(features, part, axis=0)
        fit = fit_rows(given.kernel, np.delete(given.rows, part, axis=0), others, given.plan)
        scores = features[part] @ (others.T @ fit.expansion.coef.T) - fit.expansion.offset
        sums = features[part] @ others.sum(axis=0)
        models.append(_part_model(_wide(fit.expansion, part), fit, scores, own[part], sums))
    return models


def _operator(given: _Problem, source: KernelSource, part: slice, own: Array, sums: Array) -> CentredOperator:
    """Return the centred kernel matrix of all rows but a part."""
    without = WithoutPart(source, part)
    means = check_kernel_values(sums[without.kept] / len(without.kept))
    return CentredOperator(without, own[without.kept], center=given.plan.center, row_means=means)


def _wide(expansion: Expansion, part: slice) -> Expansion:
    """Return the model on the points of all rows, with zero coefficients at the part."""
    gap = np.zeros((len(expansion.coef) + 1, part.stop - part.start))
    nu = expansion.nu
    if nu is not None:
        nu = np.concatenate([nu[: part.start], gap[-1], nu[part.start :]])
    coef = np.concatenate([expansion.coef[:, : part.start], gap[:-1], expansion.coef[:, part.start :]], axis=1)
    return replace(expansion, coef=coef, nu=nu)


def _part_model(model: Expansion, fit: Fit, scores: Array, own: Array, sums: Array) -> PartModel:
    """Put together a model and what it tells about its part; `sums` are those of kernel values with its own rows."""
    norms = own
    if model.nu is not None:
        norms = np.maximum(own - 2.0 * sums / model.n_seen + model.mean_norm, 0.0)
    trained = fit.eigenvectors * np.sqrt(model.eigenvalues)
    freedom = max(model.n_seen - 1, 1)
    if model.nu is not None or model.n_seen < 2:
        return PartModel(model, scores, norms, np.zeros(model.n_components), model.eigenvalues / freedom)
    return PartModel(model, scores, norms, trained.mean(axis=0), trained.var(axis=0, ddof=1))


# -- eigenpairs ----------------------------------------------------------------------------------------------------


def _spectra(given: _Problem, products: PartProducts, operators: list[CentredOperator], full: Fit) -> list[Spectrum]:
    wanted, options = given.plan.n_components, given.plan.options
    share = wanted if isinstance(wanted, float) else None
    r = _likely_count(full.expansion.n_components) if share is not None else int(wanted)
    least = min(operator.shape[0] for operator in operators)
    if options.solver in ("auto", "krylov") and _LEAST_WIDTHS * max(r, _NARROWEST) <= least:
        found = _side_by_side(given, products, operators, full, r)
    else:
        found = [solve(operator, min(r, operator.shape[0]), options) for operator in operators]
    if share is None:
        return found
    held = [shortened(spectrum, share, operator.trace) for operator, spectrum in zip(operators, found, strict=True)]
    return [
        solve_share(operator, share, options) if one is None else one
        for operator, one in zip(operators, held, strict=True)
    ]


def _likely_count(r: int) -> int:
    """Return how many components are nearly always enough for a share of the variation, where all rows need r."""
    return r + max(2, r // 8)


def _side_by_side(
    given: _Problem, products: PartProducts, operators: list[CentredOperator], full: Fit, r: int
) -> list[Spectrum]:
    """Run one block Krylov iteration per part, all in step."""
    allowed = np.ones((len(given.parts), len(full.eigenvectors)))
    for row, part in zip(allowed, given.parts, strict=True):
        row[part] = 0.0
    counts = allowed.sum(axis=1)[:, None, None]
    start = np.random.default_rng(0).standard_normal((max(r, _NARROWEST), allowed.shape[1]))
    start *= _NOISE / np.sqrt(allowed.shape[1])
    start[: full.eigenvectors.shape[1]] += full.eigenvectors.T[: len(start)]

    def centred(blocks: Array) -> Array:
        return blocks - blocks.sum(axis=2, keepdims=True) / counts * allowed[:, None] if given.plan.center else blocks

    unit = max(abs(operator.trace) for operator in operators) or 1.0  # so that squares do not overflow
    limits = krylov_limits(operators[0], given.plan.options)
    found = batch_krylov(
        lambda blocks: centred(products.within(centred(blocks))) / unit,
        start * allowed[:, None],
        r,
        allowed=allowed,
        **{**limits, "noise": limits["noise"] / unit},
        channel=given.plan.channel,
    )
    return [
        krylov_spectrum(
            KrylovResult(
                unit * found.values[k], np.delete(found.vectors[k], part, axis=1).T, unit * found.residuals[k],
                unit * float(found.lowest[k]), found.n_iter, bool(found.converged[k]),
            )
        )
        for k, part in enumerate(given.parts)
    ]  # fmt: skip
