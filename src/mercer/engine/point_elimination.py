"""Reduced sets of the points themselves: points whose removal changes the vectors least are dropped one by one.

Dropping point j moves the vectors sum_k w_k^2 |u_k - P u_k|^2 = sum_k (w_k alpha_kj)^2 / (M^-1)_jj away from the span
of the other points, where alpha are the coefficients refitted by [chin2007, eq. 29] and M is the Gram matrix. Errors of
successive drops add up (Pythagoras), so dropping the point with the smallest error is greedy in the true error. The
paper mentions such a non-iterative reduced set as future work.
"""

import numpy as np
from scipy.linalg import lapack

from mercer.arrays import Array, IntArray
from mercer.engine.reduced_points import drop_cheapest

DEPENDENT = 1e-10  # share of k(x, x) outside the span of other points below which a point depends on them
_SINGULAR = 1e-13  # share of the largest eigenvalue below which one is rounding


def kept_points(gram: Array, coef: Array, weights: Array, size: int) -> IntArray:
    """Return which points stay, in order: at most `size`, and none that depends on others in feature space."""
    unit, scale = _of_unit_length(gram)
    kept, factor = _independent(unit)
    if len(kept) > size:
        inverse = _inverse(factor)
        refitted = (coef / np.where(scale > 0, scale, 1.0)) @ unit[:, kept] @ inverse  # (29)
        refitted *= np.asarray(weights)[:, None]
        kept = np.delete(kept, drop_cheapest(inverse, np.ascontiguousarray(refitted), len(kept) - size))
    return np.sort(kept) if len(kept) else np.zeros(1, np.intp)  # if no point has a length, any point is as good


def independent_points(gram: Array) -> IntArray:
    """Return points on which, in feature space, all others depend."""
    return np.sort(_independent(_of_unit_length(gram)[0])[0])


def _of_unit_length(gram: Array) -> tuple[Array, Array]:
    """Return the Gram matrix of points scaled to length one, and their factors: zero where there is no length."""
    diagonal = np.diagonal(gram)
    scale = np.divide(1.0, np.sqrt(np.maximum(diagonal, 0.0)), out=np.zeros(len(diagonal)), where=diagonal > 0)
    return gram * scale * scale[:, None], scale


def _independent(unit: Array) -> tuple[IntArray, Array]:
    """Return independent points and the Cholesky factor of their Gram matrix, whose diagonal was one.

    Points that a pivoted factorisation does not use are dependent.
    """
    factor, failed = lapack.dpotrf(unit, lower=1)
    if not failed and np.diagonal(factor).min() ** 2 >= DEPENDENT:
        return np.arange(len(unit)), factor
    factor, pivots, rank, _ = lapack.dpstrf(unit, lower=1, tol=DEPENDENT)
    return pivots[:rank] - 1, np.array(factor[:rank, :rank], order="F")


def _inverse(factor: Array) -> Array:
    inverse = np.tril(lapack.dpotri(factor, lower=1)[0])
    full: Array = inverse + np.tril(inverse, -1).T
    return full


def refit(gram: Array, inner: Array) -> Array:
    """Return the coefficients of the projections on some points' span: (K^y)^+ K^yx alpha [chin2007, eq. 29].

    `gram` is (m, m), `inner` (m, s) the inner products of mapped points and vectors; the result is (s, m).
    """
    if not len(gram):
        return np.zeros((inner.shape[1], 0))
    unit, scale = _of_unit_length(gram)
    inner = inner * scale[:, None]
    factor, failed = lapack.dpotrf(unit, lower=1)
    if not failed and np.diagonal(factor).min() ** 2 > _SINGULAR:
        solution, _ = lapack.dpotrs(factor, inner, lower=1)
    else:
        values, vectors = np.linalg.eigh(unit)
        rank = values > _SINGULAR * values[-1]
        solution = (vectors[:, rank] / values[rank]) @ (vectors[:, rank].T @ inner)
    return np.ascontiguousarray((solution * scale[:, None]).T)
