"""Products with a symmetric tile that is read once: T v for its rows and T^T v for its columns.

BLAS would pack the tile twice, which for a few vectors takes longer than the arithmetic. Eight rows at a time stay in
the first-level cache while they are multiplied by all vectors. Serial, without the interpreter lock: threads run over
tiles.
"""

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors, prefetch

_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}


@compiled(fastmath=_FAST)
def add_both_products(
    tile: Array,  # (p, q)
    for_columns: Array,  # (b, p), multiplies T^T
    for_rows: Array,  # (b, q), multiplies T
    rows: Array,  # (b, p), gets T v added
    columns: Array,  # (b, q), gets T^T v added
) -> None:
    """Add T @ for_rows.T to `rows` and T.T @ for_columns.T to `columns`, both stored with one vector per row."""
    prefer_wide_vectors()
    whole = tile.shape[0] - tile.shape[0] % 8
    for i in range(0, whole, 8):
        t0, t1, t2, t3 = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
        t4, t5, t6, t7 = tile[i + 4], tile[i + 5], tile[i + 6], tile[i + 7]
        for k in range(for_rows.shape[0]):
            v, column, w, target = for_rows[k], columns[k], for_columns[k], rows[k]
            if k < 8 and i + 8 + k < tile.shape[0]:  # the next eight rows are loaded from memory while these are used
                for j in range(0, tile.shape[1], 8):
                    prefetch(tile, i + 8 + k, j)
            w0, w1, w2, w3 = w[i], w[i + 1], w[i + 2], w[i + 3]
            w4, w5, w6, w7 = w[i + 4], w[i + 5], w[i + 6], w[i + 7]
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = w0 - w0
            for j in range(tile.shape[1]):
                x, a0, a1, a2, a3, a4, a5, a6, a7 = v[j], t0[j], t1[j], t2[j], t3[j], t4[j], t5[j], t6[j], t7[j]
                s0 += a0 * x
                s1 += a1 * x
                s2 += a2 * x
                s3 += a3 * x
                s4 += a4 * x
                s5 += a5 * x
                s6 += a6 * x
                s7 += a7 * x
                column[j] += w0 * a0 + w1 * a1 + w2 * a2 + w3 * a3 + w4 * a4 + w5 * a5 + w6 * a6 + w7 * a7
            target[i] += s0
            target[i + 1] += s1
            target[i + 2] += s2
            target[i + 3] += s3
            target[i + 4] += s4
            target[i + 5] += s5
            target[i + 6] += s6
            target[i + 7] += s7
    for i in range(whole, tile.shape[0]):
        t0 = tile[i]
        for k in range(for_rows.shape[0]):
            v, column, w0 = for_rows[k], columns[k], for_columns[k, i]
            s0 = w0 - w0
            for j in range(tile.shape[1]):
                s0 += t0[j] * v[j]
                column[j] += w0 * t0[j]
            rows[k, i] += s0
