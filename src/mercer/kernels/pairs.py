"""A symmetric tile used twice in one reading: T v for its rows and T^T v for its columns.

BLAS would pack the tile twice, which for a few vectors costs more than the arithmetic. Four rows at a time stay in the
first-level cache while all vectors pass by. Serial, without the interpreter lock: threads run over tiles.
"""

from numba import njit

from mercer.arrays import Array
from mercer.kernels.compiled import prefer_wide_vectors


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nnan", "ninf", "nsz"})  # type: ignore[untyped-decorator]
def add_both_products(
    tile: Array,  # (p, q)
    for_columns: Array,  # (b, p), multiplies T^T
    for_rows: Array,  # (b, q), multiplies T
    rows: Array,  # (b, p), gets T v added
    columns: Array,  # (b, q), gets T^T v added
) -> None:
    """Add T @ for_rows.T to `rows` and T.T @ for_columns.T to `columns`, both stored one vector a row."""
    prefer_wide_vectors()
    p, q = tile.shape
    zero = tile[0, 0] - tile[0, 0]
    whole = p - p % 4
    for i in range(0, whole, 4):
        t0, t1, t2, t3 = tile[i], tile[i + 1], tile[i + 2], tile[i + 3]
        for k in range(for_rows.shape[0]):
            v, column = for_rows[k], columns[k]
            w0, w1, w2, w3 = (
                for_columns[k, i],
                for_columns[k, i + 1],
                for_columns[k, i + 2],
                for_columns[k, i + 3],
            )
            s0 = s1 = s2 = s3 = zero
            for j in range(q):
                s0 += t0[j] * v[j]
                s1 += t1[j] * v[j]
                s2 += t2[j] * v[j]
                s3 += t3[j] * v[j]
                column[j] += w0 * t0[j] + w1 * t1[j] + w2 * t2[j] + w3 * t3[j]
            rows[k, i] += s0
            rows[k, i + 1] += s1
            rows[k, i + 2] += s2
            rows[k, i + 3] += s3
    for i in range(whole, p):
        for k in range(for_rows.shape[0]):
            v, column, w0, s0 = for_rows[k], columns[k], for_columns[k, i], zero
            for j in range(q):
                s0 += tile[i, j] * v[j]
                column[j] += w0 * tile[i, j]
            rows[k, i] += s0
