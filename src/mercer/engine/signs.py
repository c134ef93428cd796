"""Sign iterations of L1-norm kernel PCA, compiled: absolute sums of columns, changes of signs, buffered deflations.

The residual matrix is K~ = K - sum_p u_p u_p^T. K is stored whole, so that a column is a contiguous row, and up to
`PENDING` terms u_p are buffered beside it. Sums read the upper triangle and write nothing. When the buffer is full, all
its terms are subtracted in the same pass that sums. Serial, without the interpreter lock: threads run over strips.
"""

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.kernels.compiled import compiled, prefer_wide_vectors

PENDING = 4
_BLOCK = 2048  # columns whose sums are in K's precision; long pieces of rows are read faster than short ones
_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}
_EXACT = {"contract", "nnan", "ninf", "nsz"}  # in order: an entry and its mirror image get the same last bit


@compiled(fastmath=_FAST)
def row_means(
    K: Array,  # (n, n)
    start: int,
    stop: int,
    means: Array,  # (n,), float64; entries start to stop are written
) -> None:
    """Average some rows in float64."""
    prefer_wide_vectors()
    for i in range(start, stop):
        row, total = K[i], 0.0
        for j in range(len(row)):
            total += row[j]
        means[i] = total / len(row)


@compiled(fastmath=_EXACT)
def centre_rows(
    K: Array,  # (n, n), rows start to stop are overwritten
    means: Array,  # (n,), float64
    level: float,  # the mean of the means
    start: int,
    stop: int,
) -> None:
    """Centre some rows, computed in float64 in any storage precision; mirrored entries are rounded alike."""
    prefer_wide_vectors()
    for i in range(start, stop):
        row, own = K[i], means[i]
        for j in range(len(row)):
            row[j] = row[j] - ((own + means[j]) - level)


@compiled(inner=True, fastmath=_FAST)
def _four_rows(
    k0: Array, k1: Array, k2: Array, k3: Array, u0: Array, u1: Array, u2: Array, u3: Array, own: Array, down: Array
) -> tuple[float, float, float, float]:
    """Add |K~| of four rows k to the column sums `down`, and return the sums of the rows; `own` is U at these rows."""
    prefer_wide_vectors()
    a0, a1, a2, a3 = own[0, 0], own[0, 1], own[0, 2], own[0, 3]
    b0, b1, b2, b3 = own[1, 0], own[1, 1], own[1, 2], own[1, 3]
    c0, c1, c2, c3 = own[2, 0], own[2, 1], own[2, 2], own[2, 3]
    d0, d1, d2, d3 = own[3, 0], own[3, 1], own[3, 2], own[3, 3]
    s0 = s1 = s2 = s3 = a0 - a0
    for j in range(len(down)):
        p, q, r, s = u0[j], u1[j], u2[j], u3[j]
        x0 = abs(k0[j] - a0 * p - b0 * q - c0 * r - d0 * s)
        x1 = abs(k1[j] - a1 * p - b1 * q - c1 * r - d1 * s)
        x2 = abs(k2[j] - a2 * p - b2 * q - c2 * r - d2 * s)
        x3 = abs(k3[j] - a3 * p - b3 * q - c3 * r - d3 * s)
        s0 += x0
        s1 += x1
        s2 += x2
        s3 += x3
        down[j] += (x0 + x1) + (x2 + x3)
    return s0, s1, s2, s3


@compiled(inner=True, fastmath=_FAST)
def _few_rows(K: Array, U: Array, i: int, stop: int, first: int, sums: Array) -> None:
    """Add |K~| of rows i to stop and the columns from the diagonal to `first`, in plain loops."""
    for a in range(i, stop):
        for b in range(a, first):
            x = abs(K[a, b] - U[0, a] * U[0, b] - U[1, a] * U[1, b] - U[2, a] * U[2, b] - U[3, a] * U[3, b])
            sums[a] += x
            if b > a:
                sums[b] += x


@compiled(fastmath=_FAST)
def add_upper_sums(
    K: Array,  # (n, n), symmetric
    U: Array,  # (PENDING, n)
    start: int,
    stop: int,
    sums: Array,  # (n,)
) -> None:
    """Add the part of K~'s absolute column sums from rows start to stop of the upper triangle, in K's precision."""
    n, whole = len(K), start + (stop - start) // 4 * 4
    for i in range(start, whole, 4):
        _few_rows(K, U, i, i + 4, i + 4, sums)
    for j in range(start, n, _BLOCK):
        last = min(j + _BLOCK, n)
        for i in range(start, whole, 4):
            if i + 4 < last:
                J = slice(max(j, i + 4), last)
                k0, k1, k2, k3 = K[i, J], K[i + 1, J], K[i + 2, J], K[i + 3, J]
                u0, u1, u2, u3 = U[0, J], U[1, J], U[2, J], U[3, J]
                s0, s1, s2, s3 = _four_rows(k0, k1, k2, k3, u0, u1, u2, u3, U[:, i : i + 4], sums[J])
                sums[i] += s0
                sums[i + 1] += s1
                sums[i + 2] += s2
                sums[i + 3] += s3
    _few_rows(K, U, whole, stop, n, sums)


@compiled()
def add_strip_sums(
    K: Array,  # (n, n), symmetric
    U: Array,  # (PENDING, n)
    starts: IntArray,  # (s,), first rows of some strips
    height: int,
    short: Array,  # (n,), scratch in K's precision
    sums: Array,  # (n,), float64
) -> None:
    """Add the part of the sums from some strips of the upper triangle; the sums of one strip are in K's precision."""
    for start in starts:
        short[:] = 0
        add_upper_sums(K, U, start, min(start + height, len(K)), short)
        for j in range(start, len(K)):
            sums[j] += short[j]


@compiled(fastmath=_EXACT)
def subtract_and_sum(
    K: Array,  # (n, n), rows start to stop are overwritten
    U: Array,  # (PENDING, n)
    start: int,
    stop: int,
    sums: Array,  # (n,), rows start to stop are written
) -> None:
    """Subtract the buffered terms from some rows, and sum the absolute values of these rows."""
    prefer_wide_vectors()
    whole = start + (stop - start) // 2 * 2
    for i in range(start, whole, 2):
        _subtract_from_two(K[i], K[i + 1], U[0], U[1], U[2], U[3], U[:, i], U[:, i + 1])
        sums[i], sums[i + 1] = _sum_in_blocks(K[i]), _sum_in_blocks(K[i + 1])
    for i in range(whole, stop):
        row, u0, u1, u2, u3, own = K[i], U[0], U[1], U[2], U[3], U[:, i]
        for j in range(len(row)):
            row[j] = row[j] - own[0] * u0[j] - own[1] * u1[j] - own[2] * u2[j] - own[3] * u3[j]
        sums[i] = _sum_in_blocks(row)


@compiled(inner=True, fastmath=_EXACT)
def _subtract_from_two(
    x: Array, y: Array, u0: Array, u1: Array, u2: Array, u3: Array, own_x: Array, own_y: Array
) -> None:
    """Subtract the buffered terms from two rows, which are read faster together than one after the other."""
    prefer_wide_vectors()
    a, b, c, d = own_x[0], own_x[1], own_x[2], own_x[3]
    e, f, g, h = own_y[0], own_y[1], own_y[2], own_y[3]
    for j in range(len(x)):
        p, q, r, s = u0[j], u1[j], u2[j], u3[j]
        x[j] = x[j] - a * p - b * q - c * r - d * s
        y[j] = y[j] - e * p - f * q - g * r - h * s


@compiled(inner=True)
def _sum_in_blocks(row: Array) -> float:
    """Return the sum of absolute values; blocks are summed in the row's precision, and their sums in float64."""
    total = 0.0
    for first in range(0, len(row), _BLOCK):
        total += _abs_sum(row[first : min(first + _BLOCK, len(row))])
    return total


@compiled(inner=True, fastmath=_FAST)
def _abs_sum(row: Array) -> float:
    """Return the sum of absolute values."""
    prefer_wide_vectors()
    total: float = row[0] - row[0]
    for j in range(len(row)):
        total += abs(row[j])
    return total


@compiled(fastmath=_FAST)
def add_rows(
    K: Array,  # (n, n)
    rows: IntArray,  # (f,)
    factors: Array,  # (f,), in K's precision: small whole numbers, so nothing is lost
    first: int,
    last: int,
    v: Array,  # (n,), float64; entries first to last change
) -> None:
    """Add factors @ K[rows] to v: the change of K c by changed signs; eight rows are summed in K's precision."""
    prefer_wide_vectors()
    whole, out = len(rows) // 8 * 8, v[first:last]
    for f in range(0, whole, 8):  # eight rows at a time: v is read and written once for all of them
        k0, k1 = K[rows[f], first:last], K[rows[f + 1], first:last]
        k2, k3 = K[rows[f + 2], first:last], K[rows[f + 3], first:last]
        k4, k5 = K[rows[f + 4], first:last], K[rows[f + 5], first:last]
        k6, k7 = K[rows[f + 6], first:last], K[rows[f + 7], first:last]
        a0, a1, a2, a3 = factors[f], factors[f + 1], factors[f + 2], factors[f + 3]
        a4, a5, a6, a7 = factors[f + 4], factors[f + 5], factors[f + 6], factors[f + 7]
        for j in range(last - first):
            above = (a0 * k0[j] + a1 * k1[j]) + (a2 * k2[j] + a3 * k3[j])
            below = (a4 * k4[j] + a5 * k5[j]) + (a6 * k6[j] + a7 * k7[j])
            out[j] += above + below
    for f in range(whole, len(rows)):
        k0, a0 = K[rows[f], first:last], factors[f]
        for j in range(last - first):
            out[j] += a0 * k0[j]


@compiled(fastmath=_FAST)
def subtract_waiting(
    U: Array,  # (PENDING, n)
    rows: IntArray,  # (f,)
    factors: Array,  # (f,), float64
    v: Array,  # (n,), float64
) -> None:
    """Subtract from v the part of the buffered terms in the same rows: U^T (U[:, rows] factors)."""
    prefer_wide_vectors()
    u0, u1, u2, u3 = U[0], U[1], U[2], U[3]
    a0 = a1 = a2 = a3 = 0.0
    for f in range(len(rows)):
        i, factor = rows[f], factors[f]
        a0 += factor * u0[i]
        a1 += factor * u1[i]
        a2 += factor * u2[i]
        a3 += factor * u3[i]
    for j in range(len(v)):
        v[j] -= (a0 * u0[j] + a1 * u1[j]) + (a2 * u2[j] + a3 * u3[j])


@compiled(fastmath=_FAST)
def measure_step(
    v: Array,  # (n,), K~ c after the step
    c: Array,  # (n,)
    negligible: Array,  # (n,)
    rows: IntArray,  # (f,), the signs that changed
    factors: Array,  # (f,), by how much: dc
    before: Array,  # (n,), v at these rows before the step in the first f entries
) -> tuple[float, float, float]:
    """Return c^T K~ c, the squared K~-seminorm of the step, dc^T K~ dc, and the size at which that is rounding."""
    prefer_wide_vectors()
    square = length = rounding = 0.0
    for j in range(len(v)):
        square += c[j] * v[j]
    for f in range(len(rows)):
        length += factors[f] * (v[rows[f]] - before[f])
        rounding += abs(factors[f]) * negligible[rows[f]]
    return square, length, rounding


@compiled()
def new_signs(
    v: Array,  # (n,)
    negligible: Array,  # (n,), sizes below which v is zero
    c: Array,  # (n,), signs, overwritten with sgn(v), where sgn(0) = +1
    rows: IntArray,  # (n,), filled with the rows that flip
    factors: Array,  # (n,), filled with the change of their signs
    before: Array,  # (n,), filled with v at these rows
) -> int:
    """Take the signs of v, and return how many are new."""
    count = 0
    for i in range(len(v)):
        sign = -1.0 if v[i] < -negligible[i] else 1.0
        if sign != c[i]:
            rows[count] = i
            factors[count] = sign - c[i]
            before[count] = v[i]
            c[i] = sign
            count += 1
    return count


@compiled()
def best_flip(
    diagonal: Array,  # (n,), K~_ii
    c: Array,  # (n,)
    v: Array,  # (n,), K~ c
) -> tuple[int, float]:
    """Return the sign whose flip raises c^T K~ c most, and a quarter of the gain, K~_ii - c_i v_i."""
    best, gain = 0, diagonal[0] - c[0] * v[0]
    for i in range(1, len(c)):
        own = diagonal[i] - c[i] * v[i]
        if own > gain:
            best, gain = i, own
    return best, gain


def no_terms(n: int, dtype: type) -> Array:
    """Return an empty buffer of terms: zeros."""
    return np.zeros((PENDING, n), dtype)
