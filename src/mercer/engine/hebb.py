"""Hebbian learning, b samples at a time, exactly.

A Hebbian step left-multiplies the weights by a small matrix and injects one vector. So after any number of steps the
weights are a small matrix Z times the weights at the start of the block and the samples of the block:

    W = Z [W0; x_1; ...; x_b],     y_j = Z [W0; X] x_j = Z h_j,     h_j = [W0; X] x_j,  (r + b,)

and b steps cost one recursion on Z (r, r + b) between two matrix products. The same holds in feature space, where W0 is
A Phi' and X X^T the kernel block K'_SS. lt() keeps the lower triangle; lt(y y^T) Z = y * cumsum(y * Z), row by row,
so a step is O(r (r + b)).

All functions return the number of steps that went well: fewer than b means that step diverged (see `_BLOWN`), and
that the caller must not use the result.
"""

import numpy as np
from numba import njit

from mercer.arrays import Array

# A row's own weights are multiplied by 1 - gain y^2: beyond 2 they grow with alternating signs. Transients go
# a little further; at 4 a run does not come back.
_BLOWN = 4.0
# |w_i|^2 tends to 1; a row that grows far beyond lets meta-descent shrink its gain to nothing, and stays.
_LARGE = 6.0
_LOG2 = 0.6931471805599453


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def gha_block(
    H: Array,  # (b, r + b), row j: inner products of sample j with [W0; X]
    base: Array,  # (r,), gain of each component
    factor: Array,  # (b,), schedule times sample weight
    Z: Array,  # (r, r + b), in: [I 0], out: the block's result
    Y: Array,  # (b, r), out: y of each step
) -> int:
    """Run the generalised Hebbian algorithm [guenter2006, eqs. 2, 8]: W += D (y x^T - lt(y y^T) W)."""
    r, size = Z.shape
    total = np.empty(size)
    for j in range(H.shape[0]):
        y, used = Y[j], r + j
        for i in range(r):
            y[i] = np.dot(Z[i, :used], H[j, :used])
        total[:used] = 0.0
        for i in range(r):
            gain = base[i] * factor[j]
            if not abs(gain * y[i] * y[i]) < _BLOWN:
                return j
            for k in range(used):
                total[k] += y[i] * Z[i, k]  # cumsum over the rows, before this one changes
                Z[i, k] -= gain * y[i] * total[k]
            Z[i, used] = gain * y[i]
    return H.shape[0]  # type: ignore[no-any-return]


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def oja_block(H: Array, base: Array, factor: Array, Z: Array, Y: Array) -> int:
    """Run Oja's rule [lecture_notes], for several components his subspace rule: W += D (y x^T - y y^T W)."""
    r, size = Z.shape
    total = np.empty(size)
    for j in range(H.shape[0]):
        y, used = Y[j], r + j
        total[:used] = 0.0
        for i in range(r):
            y[i] = np.dot(Z[i, :used], H[j, :used])
        for i in range(r):
            for k in range(used):
                total[k] += y[i] * Z[i, k]
        norm = np.dot(y, y)
        for i in range(r):
            gain = base[i] * factor[j]
            if not abs(gain * norm) < _BLOWN:
                return j
            for k in range(used):
                Z[i, k] -= gain * y[i] * total[k]
            Z[i, used] = gain * y[i]
    return H.shape[0]  # type: ignore[no-any-return]


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _lower_products(y: Array, X: Array, out: Array) -> None:
    """Write the cumulative sums over rows of y * X: lt(v y^T) X is v times this, row by row."""
    out[0] = y[0] * X[0]
    for i in range(1, len(y)):
        for k in range(X.shape[1]):
            out[i, k] = out[i - 1, k] + y[i] * X[i, k]


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def smd_block(
    H: Array,  # (b, 2 r + b), row j: inner products of sample j with [A0; B0; e_S]
    own: Array,  # (b,), k'(x, x) of the samples
    base: Array,  # (r,), eta0 |lambda| / lambda_i [eq. 12]
    factor: Array,  # (b,), l / (t + l) times sample weight
    rate: float,  # mu
    decay: float,  # xi
    rho: Array,  # (r,), log-gains, changed
    gram_aa: Array,  # (r, r), A K' A^T, changed
    gram_ab: Array,  # (r, r), A K' B^T, changed
    Z: Array,  # (2 r, 2 r + b), in: [I 0], out: the block's result; rows of A above those of B
    Y: Array,  # (b, r), out
) -> int:
    """Run stochastic meta-descent on the gains [guenter2006, eqs. 15-21, Algorithm 1].

    The inner product in eq. 16 needs only A K' A^T and A K' B^T, which are carried along, so no step touches a vector
    of length l. One step changes a log-gain by at most log 2.
    """
    r, size = len(base), Z.shape[1]
    ya, yb, ua = np.empty((r, size)), np.empty((r, size)), np.empty((r, size))
    y, u, gain, c, e = np.empty(r), np.empty(r), np.empty(r), np.empty(r), np.empty(r)
    limit = np.maximum(np.diag(gram_aa), 1.0) * _LARGE
    for j in range(H.shape[0]):
        used = 2 * r + j
        for i in range(r):
            y[i] = np.dot(Z[i, :used], H[j, :used])
            u[i] = np.dot(Z[r + i, :used], H[j, :used])
        for i in range(r):
            drive = u[i]  # [eq. 16]: diag(Gamma K' B^T) = y_i (u_i - sum_{k <= i} y_k (A K' B^T)_ki)
            for k in range(i + 1):
                drive -= y[k] * gram_ab[k, i]
            change = rate * y[i] * drive
            if not abs(change) < np.inf:
                return j
            rho[i] += min(max(change, -_LOG2), _LOG2)
            gain[i] = np.exp(rho[i]) * base[i] * factor[j]
            if not abs(gain[i] * y[i] * y[i]) < _BLOWN:
                return j
            c[i] = gain[i] * y[i]
            e[i] = gain[i] * (y[i] + decay * u[i])
        _smd_grams(y, u, gain, c, e, decay, own[j], gram_aa, gram_ab)
        for i in range(r):
            if not gram_aa[i, i] < limit[i]:
                return j
        A, B = Z[:r, :used], Z[r:, :used]
        _lower_products(y, A, ya[:, :used])
        _lower_products(u, A, ua[:, :used])
        _lower_products(y, B, yb[:, :used])
        for i in range(r):
            for k in range(used):
                # [eq. 21]: lt(y u^T + u y^T) A = y * cumsum(u * A) + u * cumsum(y * A)
                second = y[i] * ua[i, k] + u[i] * ya[i, k]
                B[i, k] = decay * B[i, k] - gain[i] * (y[i] * (ya[i, k] + decay * yb[i, k]) + decay * second)
                A[i, k] -= gain[i] * y[i] * ya[i, k]
            Z[i, used] = c[i]
            Z[r + i, used] = e[i]
        Y[j] = y
    return H.shape[0]  # type: ignore[no-any-return]


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _smd_grams(
    y: Array, u: Array, gain: Array, c: Array, e: Array, decay: float, own: float, gram_aa: Array, gram_ab: Array
) -> None:
    """Carry A K' A^T and A K' B^T through one step: G <- N G N^T + (N s) c^T + c (N s)^T + k'(x, x) c c^T."""
    r = len(y)
    sums_a, sums_b, sums_u = np.empty((r, r)), np.empty((r, r)), np.empty((r, r))
    left_a, left_b = np.empty((r, r)), np.empty((r, r))  # (M G_AA)^T and (M G_AB)^T
    next_a, next_b = np.empty(r), np.empty(r)  # N s
    _lower_products(y, gram_aa, sums_a)
    _lower_products(y, gram_ab, sums_b)
    for i in range(r):
        for k in range(r):
            left_a[k, i] = gram_aa[i, k] - gain[i] * y[i] * sums_a[i, k]
            left_b[k, i] = gram_ab[i, k] - gain[i] * y[i] * sums_b[i, k]
    _lower_products(y, left_a, sums_a)
    _lower_products(u, left_a, sums_u)
    _lower_products(y, left_b, sums_b)
    yy = yu = 0.0
    for i in range(r):
        yy += y[i] * y[i]
        yu += y[i] * u[i]
        next_a[i] = y[i] - gain[i] * y[i] * yy
        second = y[i] * yu + u[i] * yy
        next_b[i] = decay * u[i] - gain[i] * (y[i] * (yy + decay * yu) + decay * second)
        for k in range(r):
            second = y[i] * sums_u[i, k] + u[i] * sums_a[i, k]
            gram_aa[k, i] = left_a[i, k] - gain[i] * y[i] * sums_a[i, k]
            gram_ab[k, i] = decay * left_b[i, k] - gain[i] * (
                y[i] * (sums_a[i, k] + decay * sums_b[i, k]) + decay * second
            )
    for i in range(r):
        for k in range(r):
            gram_aa[i, k] += next_a[i] * c[k] + c[i] * next_a[k] + own * c[i] * c[k]
            gram_ab[i, k] += next_a[i] * e[k] + c[i] * next_b[k] + own * c[i] * e[k]
