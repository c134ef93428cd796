"""Greedy kernel PCA: rows are chosen one after the other, each so that the least of all rows stays unexplained.

[Franc and Hlavac 2003] choose a subset of the training rows on whose span, in feature space, the mean squared
reconstruction error of all rows is small. They take the row that is explained worst so far, which is a bound of the
best choice (pivoted Cholesky). Here the best choice itself is taken. With S the part of K that the chosen rows leave,
row i lowers the error trace(S) by sum_j S_ij^2 / S_ii.
"""

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.kernels.base import Kernel
from mercer.kernels.threads import one_blas_thread
from mercer.kernels.tiles import PointBlocks

_EXHAUSTED = 1e-12  # share of the first error below which the chosen rows explain all others
_DEPENDENT = 1e-10  # share of k(x, x) outside the span below which rounding errors would choose the row


def greedy_rows(kernel: Kernel, X: Points, count: int) -> list[int]:
    """Return at most `count` rows, in the order of choice; fewer where these explain all others.

    K is kept in memory. S = K - Q Q^T is not: a choice needs one product with K, and the sums of squares follow from
    it. For an indefinite kernel, rows with a negative residual are not chosen.
    """
    with one_blas_thread():
        K = PointBlocks(kernel, X, np.float64).against(X)
        squares = np.einsum("ij,ij->i", K, K)  # (n,), of the rows of S
        residual = K.diagonal().copy()  # (n,), of S
        floor, enough = _DEPENDENT * np.maximum(residual, 0.0), _EXHAUSTED * np.maximum(residual, 0.0).sum()
        Q = np.empty((count, n_rows(X)))
        chosen: list[int] = []
        while len(chosen) < count:
            usable = residual > floor
            if not usable.any() or residual[usable].sum() <= enough:
                break
            gains = np.divide(squares, residual, out=np.full(len(K), -1.0), where=usable)
            chosen.append(int(np.argmax(gains)))
            _take_out(K, Q, len(chosen) - 1, chosen[-1], squares, residual)
    return chosen


def _take_out(K: Array, Q: Array, done: int, row: int, squares: Array, residual: Array) -> None:
    """Remove one row from S: S - q q^T with q = S_row / sqrt(S_row,row)."""
    q = (K[row] - Q[:done, row] @ Q[:done]) / np.sqrt(residual[row])
    product = K @ q - (Q[:done] @ q) @ Q[:done]  # S q
    squares += q * (q * float(q @ q) - 2.0 * product)
    np.maximum(squares, 0.0, out=squares)
    residual -= q * q
    residual[row] = 0.0
    Q[done] = q
