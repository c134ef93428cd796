"""Rows and columns of a matrix in any order, compiled: numpy takes three times as long."""

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.kernels.compiled import compiled


def copy_submatrix(
    K: Array,  # (n, m)
    rows: IntArray,  # (a,), not negative
    columns: IntArray,  # (b,), not negative
    out: Array,  # (a, b), written
) -> None:
    """Write K[np.ix_(rows, columns)]."""
    _copy(K, rows.astype(np.uintp), columns.astype(np.uintp), out)  # unsigned: no test for places from the end


@compiled()
def _copy(K: Array, rows: IntArray, columns: IntArray, out: Array) -> None:
    """Copy row by row: a row of K stays in the first-level cache meanwhile."""
    for i in range(len(rows)):
        source, target = K[rows[i]], out[i]
        for j in range(len(columns)):
            target[j] = source[columns[j]]
