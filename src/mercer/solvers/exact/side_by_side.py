"""Eigenpairs of a kernel matrix without each of several parts of the rows, by block Krylov iterations in step.

One visit of the tiles serves the products of all. The vectors have entries for all rows, zero at the part of theirs.

Most products may be cheap ones, with kernel values in float32. After an exact first product, their errors are
multiplied by the part of the result that is outside of the span of the start vectors [Simoncini and Szyld 2003]. That
is small, as the model of all rows starts the others; and where it is not, a second run starts from what the first has
found.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.engine.krylov import KrylovResult
from mercer.engine.krylov_batch import BatchResult, batch_krylov
from mercer.kernels.grouped import GroupedTiles
from mercer.kernels.operator import CentredOperator
from mercer.kernels.parts import PartProducts
from mercer.solvers.exact.eigen import (
    FLOAT32_RESIDUAL,
    KRYLOV_STEPS,
    EigenOptions,
    Spectrum,
    krylov_limits,
    krylov_spectrum,
    usual_block,
)
from mercer.solvers.exact.fit import ExactPlan

_NARROWEST = 4  # vectors in a block: a visit of the tiles costs about the same for one
_LEAST_WIDTHS = 12  # with fewer rows than this many times the block's width, LAPACK is as fast
# Where no tol was given: what the error of the space of a model's vectors may be, and the residual, relative to the
# largest eigenvalue, that is small enough also where the last wanted eigenvalue is hardly larger than the next one.
_ERROR, _RESIDUAL = 5e-7, 1e-11
_SEPARATE = 1e-6  # share of the largest eigenvalue by which others must differ, so that none counts as a copy
_NOISE = 0.01  # size of what is added to start vectors, to find what the model of all rows does not contain


@dataclass(frozen=True)
class SourcePair:
    """The kernel matrix as products for all parts, and another one for products that may be less exact."""

    exact: PartProducts
    cheap: PartProducts  # the same, where there is nothing cheaper

    @property
    def differ(self) -> bool:
        """Whether there is something cheaper."""
        return self.cheap is not self.exact


@dataclass(frozen=True)
class Known:
    """Vectors for the iteration of each part, zero there, and their exact products with the kernel matrix."""

    vectors: Array  # (parts, b, n)
    products: Array  # (parts, b, n), at all rows
    sums: Array  # (parts, n), the products of vectors of ones


def block_width(n_pairs: int, rows: int, solver: str) -> int:
    """Return the number of start vectors per part for so many pairs of so many rows; 0 where other solvers are better.

    Blocks may be narrower.
    """
    width = max(n_pairs, _NARROWEST)
    return width if solver in ("auto", "krylov") and _LEAST_WIDTHS * width <= rows else 0


def may_be_narrow(values: Array, options: EigenOptions) -> bool:
    """Tell whether blocks may have fewer vectors than pairs are wanted, from the eigenvalues of all rows, descending.

    Of an eigenvalue that occurs more often than a block has vectors, some copies would be missed. A given number of
    steps must find all pairs.
    """
    least = _SEPARATE * float(values.max(initial=0.0))
    separate = bool((values > least).all() and (values[:-1] - values[1:] > least).all())
    return options.positive and separate and (options.max_iter or KRYLOV_STEPS) >= KRYLOV_STEPS


def start(sources: SourcePair, vectors: Array, width: int, narrow: bool) -> Known:
    """Return the first block of all parts from the vectors of the model of all rows, (n, r), and its products.

    With products that are less exact, it has all of these vectors, of which exact products may be known. Otherwise, if
    blocks may be narrow, it has fewer mixtures of them: so the iteration needs fewer products in all. Some noise is
    added. It is small, so cheap products of it are exact enough.
    """
    exact, n = sources.exact, sources.exact.source.shape[0]
    recorded = exact.source.last if isinstance(exact.source, GroupedTiles) else None
    known = vectors.T[:width] if recorded is None else recorded.vectors[:width]
    rng = np.random.default_rng(0)
    few = max(usual_block(width, costly=False) // 2, _NARROWEST)  # a visit of the tiles serves several parts
    if narrow and recorded is None and few < len(known):
        known, width = np.linalg.qr(rng.standard_normal((len(known), few)))[0].T @ known, few
    rows = rng.standard_normal((width, n)) * (_NOISE / np.sqrt(n))
    if width and recorded is not None:
        ones = recorded.terms[:, -1:] / recorded.weights[0]  # all weights are equal
        terms = np.concatenate([sources.cheap.by_group(rows), ones], axis=1)
        terms[:, : len(known)] += recorded.terms[:, : len(known)]
        rows[: len(known)] += known
    else:
        rows[: len(known)] += known
        terms = exact.by_group(np.vstack([rows, np.ones(n)]))
    products = exact.without(terms)
    return Known(rows * _kept(exact), products[:, :-1], products[:, -1])


def pairs_without_parts(
    sources: SourcePair, operators: list[CentredOperator], known: Known, n_pairs: int, plan: ExactPlan
) -> tuple[list[Spectrum], Known]:
    """Return the leading pairs of all operators, those of the rows outside of each part, and the last start."""
    goal = {"tol": plan.options.tol} if plan.options.tol else {"tol": _RESIDUAL, "error": _ERROR}
    found, unit = _run(sources, operators, known, n_pairs, plan, **goal)
    if sources.differ and (found.outside * FLOAT32_RESIDUAL > found.goal).any():
        known = replace(known, vectors=found.vectors, products=sources.exact.everywhere(found.vectors))
        found, unit = _run(sources, operators, known, n_pairs, plan, tol=found.goal)  # a few steps show no gaps
    spectra = [
        krylov_spectrum(
            KrylovResult(
                unit * found.values[k], found.vectors[k][:, kept].T, unit * found.residuals[k],
                unit * float(found.lowest[k]), found.n_iter, bool(found.converged[k]),
            )
        )
        for k, kept in enumerate(_kept(sources.exact)[:, 0] > 0)
    ]  # fmt: skip
    return spectra, known


def _run(
    sources: SourcePair, operators: list[CentredOperator], known: Known, n_pairs: int, plan: ExactPlan, **goal: Any
) -> tuple[BatchResult, float]:
    """Return what the iterations find, and the unit of its eigenvalues: squares of numbers in it do not overflow."""
    kept, unit = _kept(sources.exact), max(abs(operator.trace) for operator in operators) or 1.0
    counts = kept.sum(axis=2, keepdims=True)

    def centred(blocks: Array) -> Array:
        return blocks - blocks.sum(axis=2, keepdims=True) / counts * kept if plan.center else blocks

    first = known.products
    if plan.center:
        first = first - known.vectors.sum(axis=2, keepdims=True) / counts * known.sums[:, None]
    limits = krylov_limits(operators[0], plan.options)
    found = batch_krylov(
        lambda blocks: centred(sources.cheap.within(centred(blocks))) / unit,
        known.vectors,
        n_pairs,
        first=centred(first * kept) / unit,
        allowed=kept[:, 0],
        **{**limits, "noise": limits["noise"] / unit, **goal},
        channel=plan.channel,
    )
    return found, unit


def scores_of_parts(sources: SourcePair, known: Known, coefficients: list[Array]) -> list[Array]:
    """Return K[part] coefficients^T for each part, (r, p), of coefficients that are zero there, (r, n).

    What lies in the span of vectors with known products needs no others; the rest is so small that cheap ones will do.
    """
    if not sources.differ:
        return sources.exact.outside(coefficients)
    rests, results = [], []
    bases = np.concatenate([known.vectors, _kept(sources.exact)], axis=1)
    products = np.concatenate([known.products, known.sums[:, None]], axis=1)
    for coef, basis, product, part in zip(coefficients, bases, products, sources.exact.parts, strict=True):
        shares = np.linalg.lstsq(basis @ basis.T, basis @ coef.T, rcond=None)[0].T
        rests.append(coef - shares @ basis)
        results.append(shares @ product[:, part])
    return [result + more for result, more in zip(results, sources.cheap.outside(rests), strict=True)]


def _kept(products: PartProducts) -> Array:
    """Return for each part 0 at its rows and 1 elsewhere, (parts, 1, n)."""
    kept = np.ones((len(products.parts), 1, products.source.shape[0]))
    for row, part in zip(kept, products.parts, strict=True):
        row[:, part] = 0.0
    return kept
