"""Hebbian learning one sample at a time, on the weights themselves, for rules that `hebb` cannot run in blocks.

Explicit normalisation and hard limits are not linear in the weights, so their steps cannot be collected in a small
matrix. The weights are changed in place. All functions return the number of successful steps. Fewer than b means that
the next step diverged, as in `hebb`, and that the caller must not use the result.
"""

import numpy as np

from mercer.arrays import Array
from mercer.kernels.compiled import compiled

_BLOWN = 4.0  # see `hebb`
_GONE = 1e-12  # share of its length that a row must keep in Gram-Schmidt: below, its direction is rounding


@compiled()
def gha_rows(
    X: Array,  # (b, p), one sample per row
    base: Array,  # (r,), gain of each component
    factor: Array,  # (b,), schedule times sample weight
    bound: float,  # a: no weight is larger than this after a step
    W: Array,  # (r, p), changed
    Y: Array,  # (b, r), out: y of each step
) -> int:
    """Run the generalised Hebbian algorithm with limited weights [lecture_notes, condition 2]."""
    r, p = W.shape
    total = np.empty(p)
    for j in range(X.shape[0]):
        x, y = X[j], Y[j]
        for i in range(r):
            y[i] = np.dot(W[i], x)
        total[:] = 0.0
        for i in range(r):
            gain = base[i] * factor[j]
            if not abs(gain * y[i] * y[i]) < _BLOWN:
                return j
            for k in range(p):
                total[k] += y[i] * W[i, k]  # cumsum over the rows, before this one changes
                W[i, k] = min(max(W[i, k] + gain * y[i] * (x[k] - total[k]), -bound), bound)
    return len(X)


@compiled()
def oja_rows(X: Array, base: Array, factor: Array, bound: float, W: Array, Y: Array) -> int:
    """Run Oja's rule, for several components his subspace rule, with limited weights [lecture_notes, condition 2]."""
    r, p = W.shape
    total = np.empty(p)
    for j in range(X.shape[0]):
        x, y = X[j], Y[j]
        total[:] = 0.0
        for i in range(r):
            y[i] = np.dot(W[i], x)
            for k in range(p):
                total[k] += y[i] * W[i, k]
        norm = np.dot(y, y)
        for i in range(r):
            gain = base[i] * factor[j]
            if not abs(gain * norm) < _BLOWN:
                return j
            for k in range(p):
                W[i, k] = min(max(W[i, k] + gain * y[i] * (x[k] - total[k]), -bound), bound)
    return len(X)


@compiled()
def normalised_rows(X: Array, base: Array, factor: Array, bound: float, W: Array, Y: Array) -> int:
    """Run Hebb's rule with explicit normalisation: w <- (w + gain y x) / |w + gain y x| [lecture_notes, Oja 1982].

    With several components the rows of W + D y x^T are orthogonalised by Gram-Schmidt, so that each stays orthogonal to
    those above it. A limit below one makes the rows shorter than one again.
    """
    r, p = W.shape
    for j in range(X.shape[0]):
        x, y = X[j], Y[j]
        for i in range(r):
            y[i] = np.dot(W[i], x)
        for i in range(r):
            step = base[i] * factor[j] * y[i]
            for k in range(p):
                W[i, k] += step * x[k]
        for i in range(r):
            before = np.sqrt(np.dot(W[i], W[i]))
            _remove_rows_above(W, i)
            norm = np.sqrt(np.dot(W[i], W[i]))
            if norm < 0.5 * before:  # rounding left parts of them, which are no longer small beside the row
                _remove_rows_above(W, i)
                norm = np.sqrt(np.dot(W[i], W[i]))
            if not (_GONE * before < norm < np.inf):
                return j
            for k in range(p):
                W[i, k] /= norm
        for i in range(r):
            for k in range(p):
                W[i, k] = min(max(W[i, k], -bound), bound)
    return len(X)


@compiled(inner=True)
def _remove_rows_above(W: Array, i: int) -> None:
    """Make row i orthogonal to the unit rows above it."""
    for h in range(i):
        share = np.dot(W[i], W[h])
        for k in range(W.shape[1]):
            W[i, k] -= share * W[h, k]
