"""Incremental kernel PCA [chin2007, sec. IV]: components, singular values and mean of a stream, by updates of an SVD.

A model holds the covariance of the rows seen as U Sigma^2 U^T. The components U and the mean are combinations of the
mapped points of a library. Besides the coefficients of each vector, its inner products with every point of the library
are kept, so that an update evaluates the kernel only between new rows and library, and between new rows.

Vectors are rows here: the paper's alpha is `coef`^T, its A^T U is `values`^T.
"""

from dataclasses import replace

import numpy as np

from mercer.arrays import Array, Points, check_kernel_values, n_rows, stack_rows
from mercer.engine.moments import fading_weights
from mercer.kernels.base import Kernel
from mercer.kernels.tiles import PointBlocks
from mercer.solvers.incremental.model import Factors, IncrementalModel, StreamOptions
from mercer.solvers.incremental.reduced_set import compress

_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 16.0  # errors of squared lengths, in units of the last place of their terms
_LEAST_SHARE = 1e-12  # share of a vector's squared length; a smaller part outside the components is not a new direction
_LEAST_SINGULAR = 1e-6  # share of the largest singular value; smaller ones count as zero in the whole package
_STRAIGHT = 1e-12  # deviation from orthonormal components that is not corrected
_INDEFINITE = 1e-5
_NEW_ROWS = "these rows"  # in messages
_NOT_DEFINITE = (
    "The kernel is not positive semi-definite on these data: a squared length in feature space is {:.3g}, beside "
    "{:.3g}. Use a positive definite kernel such as 'rbf'."
)


# -- new rows ------------------------------------------------------------------------------------------------------


def factors_of_rows(blocks: PointBlocks, X: Points, forgetting: float, center: bool) -> Factors:
    """Return rows in order of time, centred by their own mean [chin2007, eq. 8, 10]; the last has weight one."""
    i = n_rows(X)
    N = np.empty((i, i))
    blocks.between(slice(None), slice(None), N)
    N = 0.5 * (N + N.T)
    own = np.asarray(blocks.kernel.diagonal(X), np.float64)
    np.fill_diagonal(N, own)
    check_kernel_values(N, _NEW_ROWS)
    fading = fading_weights(i, forgetting)
    w = np.ones(i) if fading is None else fading
    total = float(w.sum())
    omega = w / total if center else np.zeros(i)
    root = np.sqrt(w)
    vectors = np.diag(root) - np.outer(root, omega)
    mean_values = N @ omega
    return Factors(
        points=X.astype(np.float64, copy=False),
        vectors=vectors,
        values=root[:, None] * (N - mean_values),
        nu=omega,
        mean_values=mean_values,
        diagonal=own,
        gram=N,
        weight=total,
        squares=float(w @ w),
        own=float(w @ own),
        seen=i,
    )


def nothing_yet(X: Points) -> IncrementalModel:
    """Return the model of no rows, with the features of X."""
    empty, none = np.zeros((0, 0)), np.zeros(0)
    points = X[:0].astype(np.float64)
    return IncrementalModel(points, empty, empty, none, none, none, empty, 0.0, 0.0, 0.0, 0, singular=none)


def updated(model: IncrementalModel, kernel: Kernel, X: Points, options: StreamOptions) -> IncrementalModel:
    """Return the model that also saw the rows of X; it evaluates the kernel between X and library and within X."""
    with np.errstate(over="ignore", invalid="ignore"):  # reported by an error below
        blocks = PointBlocks(kernel, X, np.float64)
        fresh = factors_of_rows(blocks, X, options.forgetting, options.center)
        cross = blocks.against(model.points) if n_rows(model.points) else np.zeros((0, n_rows(X)))
    fading = options.forgetting ** n_rows(X)
    found = joined(model.faded(fading), fresh, cross, options.rank_after(model.seen + n_rows(X)))
    return within_size(found, kernel, options)


# -- the update ----------------------------------------------------------------------------------------------------


def joined(model: IncrementalModel, other: Factors, cross: Array, rank: int) -> IncrementalModel:
    """Return the leading components of both together; `cross` is k(points, other points), (m, i).

    Equations 9 to 26 of [chin2007], with any factors instead of the centred new rows: (11) only needs that
    other.vectors^T other.vectors is the others' scaled covariance. One projection on the components is enough, as they
    are made orthonormal to rounding after every update.
    """
    check_kernel_values(cross, _NEW_ROWS)
    s = len(model.singular)
    diagonal = np.concatenate([model.diagonal, other.diagonal])
    U = np.hstack([model.vectors, np.zeros((s, len(other.nu)))])
    U_values = np.hstack([model.values, model.vectors @ cross])
    E, E_values = _stacked(model, other, cross)
    L = E @ U_values.T  # (20), transposed
    H = E - L @ U  # (22)
    H_values = E_values - L @ U_values
    J, J_values, K = _new_directions(H, H_values, diagonal, _lengths(E, diagonal))
    turn, singular = _leading(model.singular, L, K, rank)
    Psi = turn[:, :s] @ U + turn[:, s:] @ J  # (26), transposed
    vectors, values = _straightened(Psi, turn[:, :s] @ U_values + turn[:, s:] @ J_values)
    nu, mean_values = _mean(model, other, cross)
    return IncrementalModel(
        points=stack_rows(model.points, other.points),
        vectors=vectors,
        values=values,
        nu=nu,
        mean_values=mean_values,
        diagonal=diagonal,
        gram=None
        if model.gram is None or other.gram is None
        else np.block([[model.gram, cross], [cross.T, other.gram]]),
        weight=model.weight + other.weight,
        squares=model.squares + other.squares,
        own=model.own + other.own,
        seen=model.seen + other.seen,
        singular=singular,
    )


def merged(
    first: IncrementalModel, second: IncrementalModel, kernel: Kernel, options: StreamOptions
) -> IncrementalModel:
    """Return the model that saw the rows of the first and then those of the second [chin2007, eq. 11].

    The covariance of all rows is that of [U1 S1, U2 S2, sqrt(n1 n2 / (n1 + n2)) (mean1 - mean2)]: (11) with the second
    model's scaled components in the place of new rows. Then the common library is compressed.
    """
    cross = PointBlocks(kernel, second.points, np.float64).against(first.points)
    faded = first.faded(options.forgetting**second.seen)
    found = joined(faded, second.scaled(), cross, options.rank_after(first.seen + second.seen))
    return within_size(found, kernel, options)


def _stacked(model: IncrementalModel, other: Factors, cross: Array) -> tuple[Array, Array]:
    """Return E~ of (11), one vector per row, as coefficients on all points and as inner products with them."""
    m, k = cross.shape[0], len(other.vectors)
    total = model.weight + other.weight
    c = np.sqrt(model.weight * other.weight / total) if total > 0 else 0.0
    E, values = np.zeros((k + 1, m + len(other.nu))), np.empty((k + 1, m + len(other.nu)))
    E[:k, m:] = other.vectors
    E[k, :m], E[k, m:] = c * model.nu, -c * other.nu
    values[:k, :m], values[:k, m:] = other.vectors @ cross.T, other.values
    values[k, :m] = c * (model.mean_values - cross @ other.nu)
    values[k, m:] = c * (model.nu @ cross - other.mean_values)
    return E, values


def _mean(model: IncrementalModel, other: Factors, cross: Array) -> tuple[Array, Array]:
    """Return the mean of both, (9), and its inner products with all points."""
    total = model.weight + other.weight
    a, b = (model.weight / total, other.weight / total) if total > 0 else (0.0, 1.0)
    nu = np.concatenate([a * model.nu, b * other.nu])
    on_old = a * model.mean_values + b * (cross @ other.nu)
    on_new = a * (model.nu @ cross) + b * other.mean_values
    return nu, np.concatenate([on_old, on_new])


def _lengths(vectors: Array, diagonal: Array) -> Array:
    """Return sum_a v_a^2 k(x_a, x_a) of each vector: rounding errors of its squared length are relative to this."""
    return np.asarray((vectors * vectors) @ np.abs(diagonal))


def _new_directions(H: Array, H_values: Array, diagonal: Array, scale: Array) -> tuple[Array, Array, Array]:
    """Return an orthonormal basis J of what H spans, its inner products with the points, and K with J K = H.

    Equations 23 to 25. Eigenvalues that can come from rounding give no direction. Each is compared with the length of
    its own vector, so that a short row is not compared with a long one.
    """
    M = H @ H_values.T  # (23)
    deltas, Q = np.linalg.eigh(0.5 * (M + M.T))
    noise = _ROUNDING * _EPS * float(_lengths(H, diagonal).max(initial=0.0))
    least = max(noise, _LEAST_SHARE * float(scale.max(initial=0.0)))
    if deltas.size and deltas[0] < -max(_INDEFINITE * float(scale.max()), noise):
        raise ValueError(_NOT_DEFINITE.format(deltas[0], deltas[-1]))
    keep = deltas > least
    roots, Q = np.sqrt(deltas[keep]), Q[:, keep]
    back = (Q / roots).T
    return back @ H, back @ H_values, roots[:, None] * Q.T  # (24), (25)


def _leading(before: Array, L: Array, K: Array, rank: int) -> tuple[Array, Array]:
    """Return the leading left singular vectors of F, one per row, and singular values [chin2007, eq. 12, 16 to 18]."""
    s, h, k = len(before), len(K), len(L)
    F = np.zeros((s + h, s + k))
    F[:s, :s] = np.diag(before)
    F[:s, s:], F[s:, s:] = L.T, K
    left, singular, _ = np.linalg.svd(F, full_matrices=False)
    kept = min(rank, int(np.sum(singular > _LEAST_SINGULAR * singular.max(initial=0.0))))
    return left[:, :kept].T, singular[:kept]


def _straightened(vectors: Array, values: Array) -> tuple[Array, Array]:
    """Return the nearest orthonormal vectors, to correct rounding errors, by Newton steps for the polar factor."""
    for _ in range(3):
        P = vectors @ values.T
        error = 0.5 * (P + P.T) - np.eye(len(P))
        if np.abs(error).max(initial=0.0) <= _STRAIGHT:
            break
        vectors, values = vectors - 0.5 * error @ vectors, values - 0.5 * error @ values
    return vectors, values


# -- compression ---------------------------------------------------------------------------------------------------


def within_size(model: IncrementalModel, kernel: Kernel, options: StreamOptions) -> IncrementalModel:
    """Return the model on no more points than allowed [chin2007, Table I, steps 8 to 12]."""
    if options.compression is None:
        return model if model.gram is None else replace(model, gram=None)  # for many rows it would be large
    if n_rows(model.points) <= options.size:
        return model
    if model.gram is None:
        model = replace(model, gram=PointBlocks(kernel, model.points, np.float64).against(model.points))
    return compressed(model, kernel, options)


def compressed(model: IncrementalModel, kernel: Kernel, options: StreamOptions) -> IncrementalModel:
    """Return the model on (r + 1) p points [chin2007, sec. IV-B, IV-C].

    The paper re-orthogonalises by (32)-(35). Its (34) returns the basis that it started from, as P of (33) is
    D^(1/2) Q^T and so pi = sigma Q D^(-1/2) P = sigma. And diag(S) of (35) ignores that the new scores are
    correlated: S S^T - diag(S)^2 of the covariance is lost. Here the components are multiplied by their singular values
    first; the eigenvectors and square roots of eigenvalues of their Gram matrix are components and singular values of
    the complete compressed covariance, in the right order.
    """
    assert model.gram is not None
    assert options.compression is not None
    s, center = len(model.singular), options.center
    coef = np.vstack([model.vectors, model.nu]) if center else model.vectors
    weights = np.append(model.singular, np.sqrt(model.weight)) if center else model.singular
    if not model.diagonal.any():  # rows without length: nothing to choose by
        return _on_first_points(model, options.size)
    found = compress(model.points, model.gram, coef, weights, kernel, options.size, options.compression)
    B = model.singular[:, None] * found.coef[:s]
    B_values = B @ found.gram
    M = B @ B_values.T  # (32), of the scaled basis
    D, Q = np.linalg.eigh(0.5 * (M + M.T))
    D, Q = D[::-1], Q[:, ::-1]
    keep = np.sqrt(np.maximum(D, 0.0)) > _LEAST_SINGULAR * np.sqrt(D.max(initial=0.0))
    singular = np.sqrt(D[keep])
    back = (Q[:, keep] / singular).T
    vectors, values = _straightened(back @ B, back @ B_values)
    nu = found.coef[s] if center else np.zeros(len(found.gram))
    return replace(
        model,
        points=found.points,
        vectors=vectors,
        values=values,
        nu=nu,
        mean_values=found.gram @ nu,
        diagonal=np.diag(found.gram).copy(),
        gram=found.gram,
        singular=singular,
    )


def _on_first_points(model: IncrementalModel, size: int) -> IncrementalModel:
    assert model.gram is not None
    return replace(
        model,
        points=model.points[:size],
        vectors=model.vectors[:, :size],
        values=model.values[:, :size],
        nu=model.nu[:size],
        mean_values=model.mean_values[:size],
        diagonal=model.diagonal[:size],
        gram=model.gram[:size, :size],
    )
