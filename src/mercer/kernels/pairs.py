"""Products with a symmetric tile that is read once: T v for its rows and T^T v for its columns.

BLAS would pack the tile twice, which for a few vectors takes longer than the arithmetic. Eight rows at a time stay in
the first-level cache while they are multiplied by all vectors. Serial, without the interpreter lock: threads run over
tiles.
"""

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors, prefetch

_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}
_LINE = 64  # bytes of a cache line


@compiled(inner=True, fastmath=_FAST)
def _eight_rows(tile: Array, i: int, for_columns: Array, for_rows: Array, rows: Array, columns: Array) -> None:
    """Add the products of rows i to i + 7 of the tile."""
    prefer_wide_vectors()
    t0, t1, t2, t3 = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
    t4, t5, t6, t7 = tile[i + 4], tile[i + 5], tile[i + 6], tile[i + 7]
    for k in range(for_rows.shape[0]):
        v, column, w = for_rows[k], columns[k], for_columns[k, i : i + 8]
        if k < 8 and i + 8 + k < tile.shape[0]:  # the next eight rows are loaded from memory while these are used
            for j in range(0, tile.shape[1], _LINE // tile.itemsize):
                prefetch(tile, i + 8 + k, j)
        w0, w1, w2, w3, w4, w5, w6, w7 = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = w0 - w0
        for j in range(tile.shape[1]):
            x = v[j]
            s0 += t0[j] * x
            s1 += t1[j] * x
            s2 += t2[j] * x
            s3 += t3[j] * x
            s4 += t4[j] * x
            s5 += t5[j] * x
            s6 += t6[j] * x
            s7 += t7[j] * x
            upper = w0 * t0[j] + w1 * t1[j] + w2 * t2[j] + w3 * t3[j]
            column[j] += upper + w4 * t4[j] + w5 * t5[j] + w6 * t6[j] + w7 * t7[j]
        target = rows[k, i : i + 8]
        target[0] += s0
        target[1] += s1
        target[2] += s2
        target[3] += s3
        target[4] += s4
        target[5] += s5
        target[6] += s6
        target[7] += s7


@compiled(fastmath=_FAST)
def add_both_products(
    tile: Array,  # (p, q)
    for_columns: Array,  # (b, p), multiplies T^T
    for_rows: Array,  # (b, q), multiplies T
    rows: Array,  # (b, p), gets T v added; float64 here costs nothing
    columns: Array,  # (b, q), gets T^T v added
) -> None:
    """Add T @ for_rows.T to `rows` and T.T @ for_columns.T to `columns`, both stored with one vector per row."""
    whole = tile.shape[0] - tile.shape[0] % 8
    for i in range(0, whole, 8):
        _eight_rows(tile, i, for_columns, for_rows, rows, columns)
    for i in range(whole, tile.shape[0]):
        for k in range(for_rows.shape[0]):
            v, column, w = for_rows[k], columns[k], for_columns[k, i]
            s = w - w
            for j in range(tile.shape[1]):
                s += tile[i, j] * v[j]
                column[j] += w * tile[i, j]
            rows[k, i] += s
