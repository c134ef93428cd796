"""Online robust learning on rows: the paper's rule in exact blocks, a scale-free rule, and merged moments.

A step of [huang2011, Algorithm 1] takes d = h - mu, changes mu by a multiple of d, and V = Gamma^T by a small matrix
and multiples of d. So within a block everything is a linear combination of R0 = [V0; H - mu0]:

    V = Z R0,   mu = mu0 + zeta R0,   d_j = delta R0 with delta = e_(r+j) - zeta,   q = Q delta,   Q = R0 R0^T

and b steps need a recursion on Z (r, r + b) between two matrix products. Q zeta is updated too, so a step is
O(r (r + b)). R0 holds rows less mu0, and no row for mu0 itself, so that no digits are lost where the data are far from
the origin.

The block functions return the number of successful steps: fewer than b means that numbers overflowed.
"""

import numpy as np

from mercer.arrays import Array
from mercer.engine.psi import psi_weight
from mercer.kernels.compiled import compiled

_SPREAD = 1e-2  # smallest to largest variance in gains: one bound on the steps is enough for all components
_DEPENDENT = 1e-12  # share of a row's squared length below which it depends on the rows above
_CANCELLED = 1e-3  # share of a squared length below which a difference of such lengths has lost digits
_GONE = 1e-28  # share of a row's squared length below which its rest is rounding
_LARGE = 1e150  # larger numbers have squares that overflow


@compiled()
def literal_block(
    Q: Array,  # (r + b, r + b), R0 R0^T
    missing: Array,  # (b,), squared lengths outside the features
    kind: int,
    beta: float,
    xi: float,
    t: int,  # steps before
    Z: Array,  # (r, r + b), in: [I 0], out: the block's result
    zeta: Array,  # (r + b,), in: zeros, out
    Y: Array,  # (b, r), out
    norms: Array,  # (b,), squared distances from the mean so far, out
    z: Array,  # (b,), out
    w: Array,  # (b,), out
) -> int:
    """Run Algorithm 1 exactly: gain 1/t, z = (|d|^2 - |y|^2) / 2 even where negative, psi'(z) in both updates."""
    r, size = Z.shape
    q, turned, total, gain = np.empty(size), np.zeros(size), np.empty(size), np.empty(r)
    for j in range(len(w)):
        y = Y[j]
        norm = norms[j] = _outputs(j, Q, Z, zeta, turned, q, y)
        z[j] = 0.5 * (norm - np.dot(y, y) + missing[j])
        w[j] = psi_weight(kind, z[j], beta, xi)
        step = w[j] / (t + j + 1.0)
        if not (abs(step) < _LARGE and abs(norm) < _LARGE and np.dot(y, y) < _LARGE):
            return j
        gain[:] = step
        _move(j, gain, step, y, q, Z, zeta, turned, total)
    return len(w)


@compiled()
def guarded_block(
    Q: Array,
    missing: Array,
    kind: int,
    beta: float,
    xi: float,
    t: int,
    rate: float,  # the gain of component i is rate / (weight lambda_i)
    squares: Array,  # (r,), weighted sums of y_i^2 before, changed
    weight: float,  # sum of the weights before
    G: Array,  # (r, r), V V^T before, changed
    Z: Array,
    zeta: Array,
    Y: Array,
    norms: Array,
    z: Array,
    w: Array,
) -> int:
    """Run the same rule so that it cannot diverge, for data of any scale; arguments as in `literal_block`.

    z is the squared distance from the span of V, which is never negative. Gains are relative to the variance along each
    component, and no row can multiply the weights by more than two.
    """
    r, size = Z.shape
    q, turned, total, gain, lower = np.empty(size), np.zeros(size), np.empty(size), np.empty(r), np.empty((r, r))
    for j in range(len(w)):
        y = Y[j]
        norm = norms[j] = _outputs(j, Q, Z, zeta, turned, q, y)
        z[j] = 0.5 * (max(0.0, norm - _explained(G, y, lower)) + missing[j])
        w[j] = psi_weight(kind, z[j], beta, xi)
        weight += w[j]
        squares += w[j] * y * y
        top, yy = squares.max(), np.dot(y, y)
        if not (norm < _LARGE and yy < _LARGE and w[j] <= 1.0):
            return j
        for i in range(r):
            gain[i] = 0.0
            if norm > 0 and top > 0 and w[j] > 0:
                gain[i] = w[j] * min(rate / max(squares[i], _SPREAD * top), 1.0 / (norm + yy))
        _carry_gram(G, gain, y, norm)
        _move(j, gain, w[j] / (t + j + 1.0), y, q, Z, zeta, turned, total)
    return len(w)


@compiled(inner=True)
def _outputs(j: int, Q: Array, Z: Array, zeta: Array, turned: Array, q: Array, y: Array) -> float:
    """Write q = Q delta and y = V d; return |d|^2."""
    r, size = Z.shape
    own = r + j
    for k in range(size):
        q[k] = Q[own, k] - turned[k]
    for i in range(r):
        y[i] = np.dot(Z[i, :own], q[:own])
    squared: float = max(q[own] - np.dot(zeta[:own], q[:own]), 0.0)
    return squared


@compiled(inner=True)
def _move(
    j: int, gain: Array, step: float, y: Array, q: Array, Z: Array, zeta: Array, turned: Array, total: Array
) -> None:
    """Take V += D (y d^T - lt(y y^T) V) and mu += step d."""
    r, size = Z.shape
    own = r + j
    total[:own] = 0.0
    for i in range(r):
        scaled = gain[i] * y[i]
        for k in range(own):
            total[k] += y[i] * Z[i, k]  # cumsum over the rows, before this one changes
            Z[i, k] -= scaled * (total[k] + zeta[k])
        Z[i, own] = scaled
    for k in range(own):
        zeta[k] *= 1.0 - step
    zeta[own] = step
    for k in range(size):
        turned[k] += step * q[k]


@compiled(inner=True)
def _explained(G: Array, y: Array, lower: Array) -> float:
    """Return y^T G^-1 y by Cholesky; rows that depend on those above are left out."""
    r, total = len(y), 0.0
    solved = np.empty(r)
    for i in range(r):
        for k in range(i):
            rest = G[i, k]
            for l in range(k):
                rest -= lower[i, l] * lower[k, l]
            lower[i, k] = rest / lower[k, k] if lower[k, k] > 0 else 0.0
        pivot, right = G[i, i], y[i]
        for k in range(i):
            pivot -= lower[i, k] * lower[i, k]
            right -= lower[i, k] * solved[k]
        lower[i, i] = np.sqrt(pivot) if pivot > _DEPENDENT * G[i, i] else 0.0
        solved[i] = right / lower[i, i] if lower[i, i] > 0 else 0.0
        total += solved[i] * solved[i]
    return total


@compiled(inner=True)
def _carry_gram(G: Array, gain: Array, y: Array, norm: float) -> None:
    """Update V V^T by one step: M G M^T + (M y) c^T + c (M y)^T + |d|^2 c c^T with M = I - D lt(y y^T), c = D y."""
    r = len(y)
    left, sums, c, moved = np.empty((r, r)), np.zeros(r), gain * y, np.empty(r)
    total = 0.0
    for i in range(r):
        total += y[i] * y[i]
        moved[i] = y[i] - c[i] * total
        for k in range(r):
            sums[k] += y[i] * G[i, k]
            left[k, i] = G[i, k] - c[i] * sums[k]  # (M G)^T
    sums[:] = 0.0
    for i in range(r):
        for k in range(r):
            sums[k] += y[i] * left[i, k]
            G[i, k] = left[i, k] - c[i] * sums[k]
    for i in range(r):
        for k in range(r):
            G[i, k] += moved[i] * c[k] + c[i] * moved[k] + norm * c[i] * c[k]


@compiled()
def ccipca_rows(
    X: Array,  # (b, q)
    missing: Array,  # (b,)
    kind: int,
    beta: float,
    xi: float,
    mean: Array,  # (q,), changed
    V: Array,  # (r, q), components as long as the variances along them, changed
    weight: float,  # sum of the weights before
    z: Array,  # (b,), out
    w: Array,  # (b,), out
) -> float:
    """Run candid covariance-free PCA with weights: v <- (W_old / W) v + (w / W) d (d^T v / |v|), d deflated in turn.

    It needs no gain, and the result scales with the data. About the running weighted mean a row adds w W_old / W d
    d^T to the scatter. Return the sum of the weights after the rows.
    """
    r, q = V.shape
    d, rest, squares = np.empty(q), np.empty(q), np.empty(r)
    for i in range(r):
        squares[i] = np.dot(V[i], V[i])
    for j in range(len(w)):
        for k in range(q):
            d[k] = X[j, k] - mean[k]
            rest[k] = d[k]
        for i in range(r):
            if squares[i] > 0:
                along = np.dot(rest, V[i]) / squares[i]
                for k in range(q):
                    rest[k] -= along * V[i, k]
        z[j] = 0.5 * (np.dot(rest, rest) + missing[j])
        w[j] = psi_weight(kind, z[j], beta, xi)
        if not w[j] > 0:
            continue
        old, weight = weight, weight + w[j]
        for k in range(q):
            mean[k] += (w[j] / weight) * d[k]
        if old > 0:
            _follow(V, squares, d, old / weight, w[j] / weight)
    return weight


@compiled(inner=True)
def _follow(V: Array, squares: Array, d: Array, keep: float, share: float) -> None:
    """Move the components towards d, which is deflated in each; `squares` are their squared lengths, updated too.

    What is left of |d|^2 is computed again where the difference has lost digits. A rest that is only rounding has no
    direction, and is set to zero.
    """
    whole = norm = np.dot(d, d)
    for i in range(len(V)):
        dot = np.dot(d, V[i])
        # the first row sets the direction
        step = share * (dot / np.sqrt(squares[i]) if squares[i] > 0 else np.sqrt(norm))
        squares[i] = keep * keep * (squares[i] + 2.0 * step * dot + step * step * norm)
        dot = keep * (dot + step * norm)  # of d with the changed component
        along = dot / squares[i] if squares[i] > 0 else 0.0
        for k in range(len(d)):
            V[i, k] = keep * (V[i, k] + step * d[k])
            d[k] -= along * V[i, k]
        norm -= along * dot
        if norm < _CANCELLED * whole:
            norm = np.dot(d, d)
        if norm <= _GONE * whole:
            norm = 0.0
            d[:] = 0.0


def merged_root(
    B: Array,  # (p, q), B^T B the scatter so far
    mean: Array,  # (q,)
    weight: float,
    X: Array,  # (b, q)
    w: Array,  # (b,)
    rank: int,
) -> tuple[Array, Array, float, float]:
    """Return root, mean and weight after further weighted rows, and the increase of the trace of the scatter.

    The scatter about the common mean is the sum of both scatters and of W W' / (W + W') times the square of the
    difference of the means. One eigendecomposition of order p + b + 1 reduces the root to its `rank` largest
    directions; the lengths of its rows are descending.
    """
    added = float(w.sum())
    if not added > 0:
        return B, mean, weight, 0.0
    D = X - mean
    shift = w @ D / added
    share = added / (weight + added)
    rows = np.vstack([B, np.sqrt(w)[:, None] * (D - shift), np.sqrt(weight * share) * shift])
    values, vectors = np.linalg.eigh(rows @ rows.T)
    keep = vectors[:, ::-1][:, : min(rank, int((values > _DEPENDENT * values[-1]).sum()))]
    raised = float(np.einsum("ij,ij->", rows[len(B) :], rows[len(B) :]))
    return keep.T @ rows, mean + share * shift, weight + added, raised
