"""L1-norm kernel PCA on explicit features, compiled: absolute sums of a tile of Z Z^T, and removal of one dimension."""

from mercer.arrays import Array
from mercer.kernels.compiled import compiled, prefer_wide_vectors

_FAST = {"contract", "reassoc", "nnan", "ninf", "nsz"}


@compiled(inner=True, fastmath=_FAST)
def _four_rows(t0: Array, t1: Array, t2: Array, t3: Array, down: Array) -> tuple[float, float, float, float]:
    """Add the absolute values of four rows to the column sums `down`, and return the sums of the rows."""
    prefer_wide_vectors()
    s0 = s1 = s2 = s3 = t0[0] - t0[0]
    for j in range(len(down)):
        x0, x1, x2, x3 = abs(t0[j]), abs(t1[j]), abs(t2[j]), abs(t3[j])
        s0 += x0
        s1 += x1
        s2 += x2
        s3 += x3
        down[j] += (x0 + x1) + (x2 + x3)
    return s0, s1, s2, s3


@compiled()
def add_abs_sums(
    tile: Array,  # (p, q), neither is 0
    short: Array,  # (q,), scratch in the tile's precision
    at_rows: Array,  # (p,), float64
    at_columns: Array,  # (q,), float64
) -> None:
    """Add sums of the tile's absolute values along rows and along columns, each computed in the tile's precision."""
    whole = len(tile) // 4 * 4
    short[:] = 0
    for i in range(0, whole, 4):
        s0, s1, s2, s3 = _four_rows(tile[i], tile[i + 1], tile[i + 2], tile[i + 3], short)
        at_rows[i] += s0
        at_rows[i + 1] += s1
        at_rows[i + 2] += s2
        at_rows[i + 3] += s3
    for i in range(whole, len(tile)):
        for j in range(len(short)):
            x = abs(tile[i, j])
            at_rows[i] += x
            short[j] += x
    for j in range(len(short)):
        at_columns[j] += short[j]


@compiled(fastmath=_FAST)
def drop_dimension(
    Z: Array,  # (n, d), overwritten
    u: Array,  # (n,), Z w
    w: Array,  # (d,), a unit vector
    out: Array,  # (n, d - 1), may begin where Z begins
    squares: Array,  # (n,), filled with the squared lengths of the new rows
) -> None:
    """Rotate the rows so that w becomes the last axis, up to its sign, and leave that axis out."""
    # Householder: H = I - 2 h h^T / |h|^2 with h = w - s e_last, s = -sgn(w_last), so that |h|^2 = 2 (1 + |w_last|)
    prefer_wide_vectors()
    last = len(w) - 1
    sign = -1.0 if w[last] >= 0.0 else 1.0
    scale = 1.0 / (1.0 + abs(w[last]))
    for i in range(len(Z)):
        z, factor, square = Z[i], scale * (u[i] - sign * Z[i, last]), 0.0
        for j in range(last):
            x = z[j] - factor * w[j]
            z[j] = x
            square += x * x
        squares[i] = square
        moved = out[i]
        for j in range(last):
            moved[j] = z[j]
