"""Hebbian learning with blocks of b samples; the result is exactly that of single steps.

A Hebbian step multiplies the weights by a small matrix from the left and adds one vector. So after any number of steps
the weights are a small matrix Z times the weights at the start of the block and the samples of the block:

    W = Z [W0; x_1; ...; x_b],     y_j = Z [W0; X] x_j = Z h_j,     h_j = [W0; X] x_j,  (r + b,)

and b steps need one recursion on Z (r, r + b) between two matrix products. The same holds in feature space, where W0 is
A Phi' and X X^T the kernel block K'_SS. lt() keeps the lower triangle; lt(y y^T) Z = y * cumsum(y * Z), row by row,
so a step is O(r (r + b)).

All functions return the number of successful steps. Fewer than b means that the next step diverged (see `_BLOWN`), and
that the caller must not use the result.
"""

import numpy as np

from mercer.arrays import Array
from mercer.kernels.compiled import compiled

# A row's own weights are multiplied by 1 - gain y^2: beyond 2 they grow with alternating signs. For a short time this
# can be exceeded a little; a run that reaches 4 does not recover.
_BLOWN = 4.0
# |w_i|^2 tends to 1; for a row that grows far beyond, meta-descent lowers its gain to nearly 0, and the row stays long.
_LARGE = 6.0
_LOG2 = 0.6931471805599453
_LANES = 16  # numbers that one turn of a vectorised loop takes


@compiled()
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
    return len(H)


@compiled()
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
    return len(H)


@compiled(inner=True, fastmath={"reassoc", "contract", "nsz"})
def _products(rows: Array, x: Array, used: int, out: Array) -> None:
    """Write rows[:, :used] @ x[:used]."""
    for i in range(len(rows)):
        row, total = rows[i], 0.0
        for k in range(used):
            total += row[k] * x[k]
        out[i] = total


@compiled(inner=True, fastmath={"contract", "nsz"})
def _step_row(
    a: Array, b: Array, ya: Array, mixed: Array, y: float, u: float, gain: float, decay: float, used: int
) -> None:
    """Replace row i of A and B by those of N [A; B], up to column `used`.

    ya and mixed hold the sums of y A and of u A + y B over the rows before.
    lt(v y^T) X is v times the running sum of y * X; in eq. 21 lt(y u^T + u y^T) A = y * sums(u A) + u * sums(y A), so
    sums(u A) and sums(y B) have the same factors. More arrays than four would keep the loop from being vectorised.
    """
    of_a, of_b, of_mixed = gain * y, gain * (y + decay * u), gain * y * decay
    for k in range(used):
        ya[k] += y * a[k]
        mixed[k] += u * a[k] + y * b[k]
        b[k] = decay * b[k] - of_b * ya[k] - of_mixed * mixed[k]
        a[k] -= of_a * ya[k]


def smd_block(
    H: Array,  # (b, 2 r + b), row j: inner products of sample j with [A0; B0; e_S]
    own: Array,  # (b,), k'(x, x) of the samples
    base: Array,  # (r,), eta0 |lambda| / lambda_i [eq. 12]
    factor: Array,  # (b,), l / (t + l) times sample weight
    rate: float,  # mu
    decay: float,  # xi
    lowest: float,  # log-gain at which meta-descent of a row starts again
    rho: Array,  # (r,), log-gains, changed
    gram_aa: Array,  # (r, r), A K' A^T, changed
    gram_ab: Array,  # (r, r), A K' B^T, changed
    Z: Array,  # (2 r, 2 r + b), in: [I 0], out: the block's result; rows of A above those of B
    Y: Array,  # (b, r), out
) -> int:
    """Run stochastic meta-descent on the gains [guenter2006, eqs. 15-21, Algorithm 1].

    The inner product in eq. 16 needs only A K' A^T and A K' B^T, which are updated in each step, so that no step uses
    a vector of length l. One step changes a log-gain by at most log 2. Where a log-gain falls below `lowest` (minus
    infinity for the paper's algorithm), the row continues with the gain of KHA/et and B = 0.
    """
    r, size = len(base), Z.shape[1]
    limit = np.maximum(np.diag(gram_aa), 1.0) * _LARGE
    G = np.zeros((2 * r, _whole(r + 1)))
    G[:r, :r], G[r:, :r] = gram_aa, gram_ab.T
    scratch = np.empty((6, max(size, _whole(2 * r))))
    steps = int(_smd_steps(H, own, base, factor, rate, decay, lowest, rho, limit, G, scratch, Z, Y))
    if steps == len(H):
        gram_aa[:], gram_ab[:] = G[:r, :r], G[r:, :r].T
    return steps


def _whole(length: int) -> int:
    """Return the next length that needs no rest after the vectorised part of a loop."""
    return -(-length // _LANES) * _LANES


@compiled()
def _smd_steps(
    H: Array,
    own: Array,
    base: Array,
    factor: Array,
    rate: float,
    decay: float,
    lowest: float,
    rho: Array,
    limit: Array,  # (r,), squared lengths at which rows are too long
    G: Array,  # (2 r, more than r), Sigma K' A^T, Sigma = [A; B], changed; then zeros
    scratch: Array,  # (6, at least 2 r + b and G's width)
    Z: Array,
    Y: Array,
) -> int:
    """Run the steps of `smd_block`; scratch arrays are made by the caller, because that takes long to compile."""
    r = len(base)
    ya, mixed, s, gain, c, moved = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    for j in range(H.shape[0]):
        used = 2 * r + j
        reach = min((used + _LANES - 1) // _LANES * _LANES, Z.shape[1])  # Z is zero from `used` on
        _products(Z, H[j], reach, s)
        for i in range(r):
            drive = s[r + i]  # [eq. 16]: diag(Gamma K' B^T) = y_i (u_i - sum_{k <= i} y_k (A K' B^T)_ki)
            for k in range(i + 1):
                drive -= s[k] * G[r + i, k]
            change = rate * s[i] * drive
            if not abs(change) < np.inf:
                return j
            rho[i] += min(max(change, -_LOG2), _LOG2)
            if rho[i] < lowest:  # a row that hardly changes gives no information about its gain
                rho[i], s[r + i] = 0.0, 0.0
                for k in range(used):
                    Z[r + i, k] = 0.0
                for k in range(r):
                    G[r + i, k] = 0.0
            gain[i] = np.exp(rho[i]) * base[i] * factor[j]
            if not abs(gain[i] * s[i] * s[i]) < _BLOWN:
                return j
            c[i] = gain[i] * s[i]
            c[r + i] = gain[i] * (s[i] + decay * s[r + i])
        _smd_gram(G, s, gain, c, decay, own[j], ya, mixed, moved)
        for i in range(r):
            if not G[i, i] < limit[i]:
                return j
        _clear(ya, mixed, reach)
        for i in range(r):
            _step_row(Z[i], Z[r + i], ya, mixed, s[i], s[r + i], gain[i], decay, reach)
            Z[i, used], Z[r + i, used] = c[i], c[r + i]
            Y[j, i] = s[i]
    return len(H)


@compiled(inner=True)
def _clear(a: Array, b: Array, used: int) -> None:
    """Write zeros at the start of two vectors."""
    for k in range(used):
        a[k] = b[k] = 0.0


@compiled(inner=True, fastmath={"contract", "nsz"})
def _smd_gram(
    G: Array,  # (2 r, more than r), Sigma K' A^T, changed; then zeros
    s: Array,  # (2 r,), [y; u] = Sigma k'
    gain: Array,  # (r,)
    c: Array,  # (2 r,)
    decay: float,
    own: float,
    ya: Array,  # scratch, at least as long as rows of G, as the two after it
    mixed: Array,
    moved: Array,
) -> None:
    """Update Sigma K' A^T by one step: G <- N G M^T + (N s) c_A^T + c (M y)^T + k'(x, x) c c_A^T.

    N multiplies [G s] row by row; M^T multiplies a row from the right by G_i - c_i sum_{k <= i} y_k G_k.
    """
    r, width = len(G) // 2, G.shape[1]
    for k in range(2 * r):
        G[k, r] = s[k]
    _clear(ya, mixed, width)
    for i in range(r):
        _step_row(G[i], G[r + i], ya, mixed, s[i], s[r + i], gain[i], decay, width)
    for i in range(r):
        moved[i] = G[i, r]
    for k in range(r):
        a, b, sum_a, sum_b = G[k], G[r + k], 0.0, 0.0
        image_a, image_b = a[r] + own * c[k], b[r] + own * c[r + k]
        for i in range(r):
            sum_a += s[i] * a[i]
            sum_b += s[i] * b[i]
            a[i] += c[i] * (image_a - sum_a) + c[k] * moved[i]
            b[i] += c[i] * (image_b - sum_b) + c[r + k] * moved[i]
