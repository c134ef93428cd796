"""Inner loops of reduced sets, compiled: which points to drop, and parts of vectors outside the span of points.

Serial, without the interpreter lock.
"""

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array, IntArray
from mercer.kernels.compiled import compiled, prefer_wide_vectors

_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}


@compiled(fastmath=_FAST)
def products(
    rows: Array,  # (N, q)
    x: Array,  # (q,)
    out: Array,  # (N,), written
) -> None:
    """Write the inner products of all rows with x."""
    prefer_wide_vectors()
    for i in range(len(rows)):
        row, total = rows[i], 0.0
        for j in range(len(x)):
            total += row[j] * x[j]
        out[i] = total


@compiled(fastmath=_FAST)
def combination(
    factors: Array,  # (N,)
    rows: Array,  # (N, q)
    out: Array,  # (q,), written
) -> None:
    """Write the sum of all rows, each times its factor."""
    prefer_wide_vectors()
    whole = len(rows) // 4 * 4
    out[:] = 0.0
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        r0, r1, r2, r3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for j in range(len(out)):
            out[j] += (a0 * r0[j] + a1 * r1[j]) + (a2 * r2[j] + a3 * r3[j])
    for i in range(whole, len(rows)):
        a0, r0 = factors[i], rows[i]
        for j in range(len(out)):
            out[j] += a0 * r0[j]


@compiled(fastmath=_FAST)
def dot(a: Array, b: Array) -> float:
    """Return the inner product of two vectors."""
    prefer_wide_vectors()
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


def drop_cheapest(
    inverse: Array,  # (n, n), inverse of the Gram matrix; overwritten
    coef: Array,  # (s, n), weighted coefficients; overwritten
    count: int,
) -> IntArray:
    """Return the points to drop, one after the other, in each turn the one that costs least.

    Without point j the squared distance of the vectors from the span of the rest grows by sum_k coef_kj^2 / inverse_jj.
    """
    dropped = np.empty(count, np.int64)
    _drop(inverse, coef, np.ones(len(inverse), np.bool_), np.empty((4, max(inverse.shape[0], coef.shape[0]))), dropped)
    return dropped


@compiled(fastmath=_FAST)
def _drop(inverse: Array, coef: Array, alive: npt.NDArray[np.bool_], scratch: Array, dropped: IntArray) -> None:
    """Fill `dropped`; the other arrays are made by the caller, because that takes long to compile."""
    prefer_wide_vectors()
    n, s = len(inverse), len(coef)
    costs, left, weights, column = scratch[0], scratch[1], scratch[2], scratch[3]
    for turn in range(len(dropped)):
        for j in range(n):
            costs[j] = 0.0
        for k in range(s):
            row = coef[k]
            for j in range(n):
                costs[j] += row[j] * row[j]
        best, least = -1, np.inf
        for j in range(n):
            if alive[j]:
                cost = costs[j] / inverse[j, j] if inverse[j, j] > 0.0 else 0.0
                if best < 0 or cost < least:
                    best, least = j, cost
        dropped[turn] = best
        alive[best] = False
        if inverse[best, best] > 0.0:
            own = inverse[best, best]
            for j in range(n):
                left[j] = inverse[best, j]
                column[j] = inverse[best, j] / own
            for k in range(s):
                weights[k] = coef[k, best]
            _subtract_outer(inverse, left, column)
            _subtract_outer(coef, weights, column)


@compiled(inner=True, fastmath=_FAST)
def _subtract_outer(matrix: Array, left: Array, right: Array) -> None:
    """Subtract the outer product of two vectors, which may be longer than needed."""
    prefer_wide_vectors()
    for i in range(matrix.shape[0]):
        row, factor = matrix[i], left[i]
        if factor != 0.0:
            for j in range(matrix.shape[1]):
                row[j] -= factor * right[j]


@compiled(inner=True, fastmath=_FAST)
def _column_squares(rows: Array) -> Array:
    """Return the sum of squares of every column."""
    prefer_wide_vectors()
    sums = np.zeros(rows.shape[1])
    for k in range(len(rows)):
        row = rows[k]
        for i in range(len(sums)):
            sums[i] += row[i] * row[i]
    return sums


@compiled(fastmath=_FAST)
def rank_library(
    aim: Array,  # (v, n), <r_k, phi(x_i)> for the vectors that a pre-image is to fit, times w_k
    served: Array,  # (u, n), the same for all vectors that use a point
    own: Array,  # (n,), k(x_i, x_i)
    missing: Array,  # (n,), squared distances of phi(x_i) from the span
    floor: float,
) -> tuple[int, float, int, float]:
    """Return the point with the largest value of (27), that value, the point with the largest gain, and that gain.

    The gain is the decrease of the vectors' squared distances if the point is added to the span. Points of which at
    most the share `floor` is outside the span are not considered; -1 if there is no other.
    """
    heights, gains = _column_squares(aim), _column_squares(served)
    start, height, best, gain = -1, 0.0, -1, 0.0
    for i in range(len(own)):
        if missing[i] > floor * own[i]:
            if heights[i] > height * own[i]:
                start, height = i, heights[i] / own[i]
            if gains[i] > gain * missing[i]:
                best, gain = i, gains[i] / missing[i]
    return start, height, best, gain


@compiled(fastmath=_FAST)
def outside_span(
    inverse: Array,  # (m, m), lower triangular: q = inverse phi(Y) is an orthonormal basis of the span
    values: Array,  # (m,), k(Y, y)
    own: float,  # k(y, y)
    inside: Array,  # (m,), written: <q, phi(y)>
) -> float:
    """Return the squared distance of phi(y) from the span."""
    rest = own
    for i in range(len(values)):
        inside[i] = dot(inverse[i, : i + 1], values[: i + 1])
        rest -= inside[i] * inside[i]
    return rest


@compiled(fastmath=_FAST)
def join_span(
    m: int,  # points so far
    inside: Array,  # (m,), <q, phi(y)>
    rest: float,  # squared distance of phi(y) from the span
    values: Array,  # (n,), k(X, y)
    coef: Array,  # (s, n), the vectors, times w_k
    inverse: Array,  # (size, size), row m is written
    basis: Array,  # (size, n), <q, phi(x_i)>, row m is written
    heights: Array,  # (s, n), changed
    missing: Array,  # (n,), changed
    residual: Array,  # (s, n + size), coefficients of the vectors' residuals on X and Y, changed
) -> None:
    """Add phi(y) to the span: one more orthonormal vector, subtracted from all residuals."""
    prefer_wide_vectors()
    n, root = len(values), np.sqrt(rest)
    combination(inside, basis[:m], basis[m])
    combination(inside, inverse[:m, :m], inverse[m, :m])
    fresh, mixture = basis[m], inverse[m]
    for i in range(n):
        fresh[i] = (values[i] - fresh[i]) / root
        missing[i] -= fresh[i] * fresh[i]
    for j in range(m):
        mixture[j] /= -root
    mixture[m] = 1.0 / root
    for k in range(len(coef)):
        overlap = dot(coef[k], fresh)
        row, rows = heights[k], residual[k, n:]
        for i in range(n):
            row[i] -= overlap * fresh[i]
        for j in range(m + 1):
            rows[j] -= overlap * mixture[j]
