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
from mercer.expansion.model import Expansion
from mercer.expansion.part_model import PartModel
from mercer.kernels.base import Kernel
from mercer.kernels.given import GivenKernel
from mercer.kernels.grouped import GroupedTiles, Source
from mercer.kernels.operator import CentredOperator, KernelSource, Operator
from mercer.kernels.parts import PartProducts, WithoutPart, groups_of
from mercer.kernels.threads import available_threads, one_blas_thread
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.solvers.exact.eigen import Spectrum, shortened, solve, solve_share
from mercer.solvers.exact.fit import ExactPlan, Fit, finished, fit_exact, fit_rows, float32_pays, rough_operator
from mercer.solvers.exact.primal import has_few_features
from mercer.solvers.exact.side_by_side import (
    Known,
    SourcePair,
    block_width,
    may_be_narrow,
    pairs_without_parts,
    scores_of_parts,
    start,
)

_WHOLE_ROWS = 1024  # up to here one matrix product is faster than a visit of tiles in threads


@dataclass(frozen=True)
class _Problem:
    """Rows in the order of their parts, and what to compute."""

    kernel: Kernel
    rows: Points  # (n, d)
    parts: list[slice]
    plan: ExactPlan

    def width(self, n_pairs: int) -> int:
        """Return the number of vectors per part in iterations for so many pairs; 0 where other solvers are better."""
        least = self.rows.shape[0] - max(part.stop - part.start for part in self.parts)
        return block_width(n_pairs, least, self.plan.options.solver)


def fit_with_parts(
    kernel: Kernel, X: Points, parts: Sequence[IntArray], plan: ExactPlan
) -> tuple[Fit, list[PartModel]]:
    """Return kernel PCA of the rows of X, and for each part that of all other rows; parts have no row in common."""
    order = np.concatenate([np.setdiff1d(np.arange(X.shape[0]), np.concatenate(parts)), *parts])
    ends = X.shape[0] - np.cumsum([0, *(len(part) for part in reversed(parts))])[::-1]
    slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    plan = replace(plan, options=replace(plan.options, positive=kernel.positive))
    given = _Problem(kernel, X[order], slices, plan)
    if plan.options.solver == "auto" and has_few_features(kernel, X):
        full, models = fit_exact(kernel, given.rows, plan), _by_rows(given)
    else:
        full, models = _by_tiles(given)
    back = np.argsort(order)
    return _reordered(full, X, back), [replace(m, expansion=_on(m.expansion, X, back)) for m in models]


def _by_tiles(given: _Problem) -> tuple[Fit, list[PartModel]]:
    source, plan = _source(given), given.plan
    operator = CentredOperator(source, given.kernel.diagonal(given.rows), center=plan.center)
    rough = _rough_operator(given, operator)
    full = fit_exact(given.kernel, given.rows, replace(plan, options=replace(plan.options, rough=rough)), operator)
    return full, _without_parts(given, source, rough, full)


def _source(given: _Problem) -> Source:
    """Return the kernel matrix of all rows: of few rows as a whole, which needs no threads."""
    n, plan = given.rows.shape[0], given.plan
    threads = 1 if n <= _WHOLE_ROWS else available_threads(plan.n_jobs)
    tiles = GroupedTiles(given.kernel, given.rows, plan.dtype, memory_budget(), threads)
    return _whole(tiles) if n <= _WHOLE_ROWS else tiles


def _rough_operator(given: _Problem, operator: CentredOperator) -> Operator | None:
    """Return the operator in float32 where most products should use it; the exact one then keeps sums over parts."""
    n, wanted, source = given.rows.shape[0], given.plan.n_components, operator.source
    if not isinstance(source, GroupedTiles) or isinstance(wanted, float) or not given.width(wanted):
        return None
    halves = float32_pays(given.kernel, given.rows, wanted, given.plan.options)
    rough = rough_operator(operator, given.kernel, given.rows, halves, given.plan.n_jobs)
    source.groups = () if rough is None else groups_of(n, given.parts)
    return rough


def _whole(source: KernelSource) -> GivenKernel:
    """Return the matrix in memory, in float64 whatever the precision of its values."""
    return GivenKernel(source.dense().astype(np.float64, copy=False), source.dtype)


def _on(expansion: Expansion, X: Points, back: IntArray) -> Expansion:
    """Return the model with its points in the order of X."""
    nu = None if expansion.nu is None else expansion.nu[back]
    return replace(expansion, points=X, coef=np.ascontiguousarray(expansion.coef[:, back]), nu=nu)


def _reordered(full: Fit, X: Points, back: IntArray) -> Fit:
    return replace(full, expansion=_on(full.expansion, X, back), eigenvectors=full.eigenvectors[back])


def _without_parts(given: _Problem, source: Source, rough: Operator | None, full: Fit) -> list[PartModel]:
    """Return the models without each part; most products use the kernel values of `rough`, if there are any."""
    if full.solver == "dense" and isinstance(source, SymmetricTiles) and 8 * source.shape[0] ** 2 <= memory_budget():
        source = _whole(source)  # that was needed anyway, and parts of it are needed now
    own = np.asarray(given.kernel.diagonal(given.rows), np.float64)
    exact = cheap = PartProducts(source, given.parts)
    if isinstance(rough, CentredOperator) and isinstance(rough.source, SymmetricTiles):
        cheap = PartProducts(rough.source, given.parts)
    sources = SourcePair(exact, cheap)
    wanted = given.plan.n_components
    r = _likely_count(full.expansion.n_components) if isinstance(wanted, float) else int(wanted)
    with one_blas_thread():
        narrow = may_be_narrow(full.expansion.eigenvalues, given.plan.options)
        known = start(sources, full.eigenvectors, given.width(r), narrow)
        operators = [_operator(given, source, part, own, s) for part, s in zip(given.parts, known.sums, strict=True)]
        spectra, known = _spectra(given, sources, operators, known, r)
        fits = [
            finished(given.kernel, given.rows, operator, spectrum, given.plan.drop_zeros)
            for operator, spectrum in zip(operators, spectra, strict=True)
        ]
        models = [_wide(fit.expansion, part) for fit, part in zip(fits, given.parts, strict=True)]
        scores = scores_of_parts(sources, known, [model.coef for model in models])
    return [
        _part_model(model, fit, y.T - model.offset, own[part], s[part])
        for model, fit, y, part, s in zip(models, fits, scores, given.parts, known.sums, strict=True)
    ]


def _spectra(
    given: _Problem, sources: SourcePair, operators: list[CentredOperator], known: Known, r: int
) -> tuple[list[Spectrum], Known]:
    """Return the pairs of all models, r of each or as many as explain the wanted share, and the last start of them."""
    options, share = given.plan.options, given.plan.n_components
    if given.width(r):
        found, known = pairs_without_parts(sources, operators, known, r, given.plan)
    else:
        found = [solve(operator, min(r, operator.shape[0]), options) for operator in operators]
    if isinstance(share, float):
        held = [shortened(spectrum, share, operator.trace) for operator, spectrum in zip(operators, found, strict=True)]
        found = [
            solve_share(operator, share, options) if one is None else one
            for operator, one in zip(operators, held, strict=True)
        ]
    return found, known


def _likely_count(r: int) -> int:
    """Return how many components are nearly always enough for a share of the variation, where all rows need r."""
    return r + max(2, r // 8)


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
