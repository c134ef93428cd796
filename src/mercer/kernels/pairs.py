"""Products with a symmetric tile that is read once: T v for its rows and T^T v for its columns.

BLAS would pack the tile twice, which for a few vectors takes longer than the arithmetic. Four rows at a time stay in
the first-level cache while they are multiplied by all vectors, two at a time. Serial, without the interpreter lock:
threads run over tiles.
"""

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors
from mercer.kernels.four_rows import ROWS, VECTOR_BYTES, with_one_vector, with_two_vectors

_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}


@compiled(fastmath=_FAST)
def add_both_products(
    tile: Array,  # (p, q)
    for_columns: Array,  # (b, p), multiplies T^T
    for_rows: Array,  # (b, q), multiplies T
    rows: Array,  # (b, p), gets T v added; float64 here costs nothing
    columns: Array,  # (b, q), gets T^T v added
) -> None:
    """Add T @ for_rows.T to `rows` and T.T @ for_columns.T to `columns`, both stored with one vector per row."""
    prefer_wide_vectors()
    (p, q), b = tile.shape, len(for_rows)
    whole, stop = p - p % ROWS, q - q % (VECTOR_BYTES // columns.itemsize)
    for i in range(0, whole, ROWS):
        for k in range(0, b - 1, 2):
            sums = with_two_vectors(tile, for_columns, for_rows, columns, i, k, stop)
            for a in range(ROWS):
                rows[k, i + a] += sums[a]
                rows[k + 1, i + a] += sums[ROWS + a]
        if b % 2:
            last = with_one_vector(tile, for_columns, for_rows, columns, i, b - 1, stop)
            for a in range(ROWS):
                rows[b - 1, i + a] += last[a]
    for i in range(p):
        first = stop if i < whole else 0
        for k in range(b if first < q else 0):
            w = for_columns[k, i]
            s = w - w
            for j in range(first, q):
                s += tile[i, j] * for_rows[k, j]
                columns[k, j] += w * tile[i, j]
            rows[k, i] += s


@compiled(fastmath=_FAST)
def add_both_products_short(
    tile: Array,  # (p, q), float32, as are the vectors
    for_columns: Array,
    for_rows: Array,
    rows: Array,  # (b, p), float64
    columns: Array,  # (b, q), float64
    sums: Array,  # (b, q), float32, for the sums over the rows of the tile
) -> None:
    """Do the same with sums that are float32 within the tile and float64 beyond it."""
    prefer_wide_vectors()
    sums[:, :] = 0.0
    add_both_products(tile, for_columns, for_rows, rows, sums)
    for k in range(len(sums)):
        for j in range(sums.shape[1]):
            columns[k, j] += sums[k, j]
