"""Reduced sets: vectors in feature space expressed by fewer points than before [chin2007, IV-B].

The vectors are sum_i coef_ki phi(x_i) over a library of points. Both methods end with the coefficients (29) of the
vectors' projections on the span of all points kept, which is the second pass (31).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mercer.arrays import Array, IntArray, Points
from mercer.engine.point_elimination import independent_points, kept_points, refit
from mercer.kernels.base import Kernel
from mercer.solvers.incremental.reduced_preimages import Frame, Slope, Variant, preimages, search_space

Method = Literal["preimage", "subset"]

_USUAL = Variant()


@dataclass(frozen=True)
class ReducedSet:
    """Fewer points, and the vectors' projections on the span of their images."""

    points: Points  # (m, d), m <= size, m <= n
    coef: Array  # (s, m), float64
    gram: Array  # (m, m), kernel values between the new points
    cross: Array  # (m, n), kernel values between new and old points


def compress(
    points: Points,  # (n, d), the library; column numbers with a precomputed kernel
    gram: Array,  # (n, n), its kernel matrix
    coef: Array,  # (s, n), the vectors to keep
    weights: Array,  # (s,), how much each counts
    kernel: Kernel,
    size: int,
    method: Method = "preimage",
    variant: Variant = _USUAL,
) -> ReducedSet:
    """Return at most `size` points that replace the library, and the vectors expressed by these.

    "subset" drops points one by one, always the one whose loss changes the vectors least; any kernel. "preimage" makes
    size // s new points for each vector, or takes points of the library where these are better. That needs dense rows
    and a Gaussian, polynomial (with gamma, coef0 >= 0 and degree >= 1), linear or cosine kernel; in all
    other cases "preimage" is "subset". It also is if at most `size` points of the library are independent in feature
    space: these are exact. Points that depend on others in feature space are not kept, so the result may have fewer
    than `size` points. Nothing is random.
    """
    gram = np.asarray(gram, np.float64)
    coef = np.asarray(coef, np.float64)
    if len(gram) <= size:
        return ReducedSet(points, coef, gram, gram)
    space = search_space(kernel, points) if method == "preimage" else None
    usual = variant.library and variant.passes == "second"
    if space is None or (usual and len(independent_points(gram)) <= size):
        return _part_of_library(points, gram, coef, kept_points(gram, coef, weights, size))
    quotas = np.full(len(coef), size // len(coef))
    quotas[np.argsort(-np.asarray(weights), kind="stable")[: size % len(coef)]] += 1
    if variant.passes == "own":
        return _separately(points, gram, coef, kernel, space, quotas, variant)
    slope, frame = space
    made, places, counts = preimages(gram, coef, weights, slope, frame, quotas, variant)
    if not len(places):  # the vectors have no length
        return _part_of_library(points, gram, coef, np.zeros(1, np.intp))
    new, small, cross = _kernel_values(points, gram, kernel, frame.origin, made, places)
    inner = cross @ coef.T
    if variant.passes == "sequential":
        return ReducedSet(new, _refit_first(small, inner, counts), small, cross)
    return ReducedSet(new, refit(small, inner), small, cross)


def _part_of_library(points: Points, gram: Array, coef: Array, kept: IntArray) -> ReducedSet:
    cross = gram[kept]
    small = np.ascontiguousarray(cross[:, kept])
    return ReducedSet(points[kept], refit(small, cross @ coef.T), small, cross)


def _refit_first(gram: Array, inner: Array, counts: IntArray) -> Array:
    """Return coefficients of which vector k has some on the first counts[k] points only: (30), Fig. 1 (b)."""
    rows = np.zeros((len(counts), len(gram)))
    for k, count in enumerate(counts):
        rows[k, :count] = refit(gram[:count, :count], inner[:count, k : k + 1])[0]
    return rows


def _separately(
    points: Points,
    gram: Array,
    coef: Array,
    kernel: Kernel,
    space: tuple[Slope, Frame],
    quotas: IntArray,
    variant: Variant,
) -> ReducedSet:
    """Give each vector points of its own, which no other uses: Fig. 1 (a)."""
    found = [preimages(gram, coef[k : k + 1], np.ones(1), *space, quotas[k : k + 1], variant) for k in range(len(coef))]
    made, places = np.vstack([each[0] for each in found]), np.concatenate([each[1] for each in found])
    new, small, cross = _kernel_values(points, gram, kernel, space[1].origin, made, places)
    rows, first = np.zeros((len(coef), len(places))), 0
    for k, each in enumerate(found):
        own = slice(first, first + len(each[1]))
        rows[k, own] = refit(small[own, own], cross[own] @ coef[k : k + 1].T)[0]
        first = own.stop
    return ReducedSet(new, rows, small, cross)


def _kernel_values(
    points: Array, gram: Array, kernel: Kernel, origin: Array | None, made: Array, places: IntArray
) -> tuple[Array, Array, Array]:
    """Return the new points, their kernel matrix and that with the library, copying the values that are known."""
    fresh = places < 0
    made = made.astype(points.dtype if points.dtype == np.float32 else np.float64, copy=False)
    new = points[places].astype(made.dtype, copy=False)
    new[fresh] = made
    cross = gram[places]
    small = cross[:, places]
    if fresh.any():
        cross[fresh], small[np.ix_(fresh, fresh)] = _blocks(kernel, made, points, origin)
        small[np.ix_(fresh, ~fresh)] = cross[np.ix_(fresh, places[~fresh])]
        small[np.ix_(~fresh, fresh)] = small[np.ix_(fresh, ~fresh)].T
    return new, small, cross


def _blocks(kernel: Kernel, made: Array, points: Array, origin: Array | None) -> tuple[Array, Array]:
    A, B = kernel.prepare(made, np.float64, origin), kernel.prepare(points, np.float64, origin)
    outer, inner = np.empty((len(made), len(points))), np.empty((len(made), len(made)))
    kernel.block(A, B, outer)
    kernel.block(A, A, inner)
    return outer, inner
