"""Leading eigenpairs of a matrix in memory, by LAPACK and by Lanczos steps, with the checks that they need."""

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, eigh, qr
from scipy.linalg.blas import dnrm2, dsymm, dsymv
from scipy.linalg.lapack import dpstrf

from mercer.arrays import Array, IntArray
from mercer.engine.lanczos import LanczosPairs, lanczos
from mercer.engine.tridiagonal import Tridiagonal
from mercer.kernels.threads import one_blas_thread

_PROBE_STEPS = 24  # Lanczos steps that find a negative eigenvalue
_SEARCH_STEPS = 12  # and those, at least, that find a large one
_SEARCH_STRIDE = 4  # steps between two looks at whether the search can end
_SETTLED = 1e-3  # residual of a Ritz value, as a share of its distance from a limit, where it stays below it
_MISSED = 1e-10  # relative to the largest eigenvalue: an eigenvalue that exceeds others by more is not rounding
_ALL_SHARE = 4  # if more than a quarter of all pairs is wanted, computing all of them is faster
_SAMPLE, _LOW_RANK = 2, 0.75  # one row in so many is a sample; the share of its rows up to which its rank is low
_TRIDIAGONAL_ROWS = 900  # for more, LAPACK's own driver for some pairs is as fast, and takes less memory


def leading_pairs(K: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues, descending, and their vectors; K is overwritten."""
    values, vectors, _ = pairs_and_lowest(K, n_pairs, lowest=False)
    return values, vectors


def pairs_and_lowest(K: Array, n_pairs: int, *, lowest: bool = True) -> tuple[Array, Array, float]:
    """Return the largest eigenvalues, descending, their vectors, and the smallest eigenvalue; K is overwritten.

    Of large matrices, or if it is not asked for, the smallest eigenvalue is only bounded from above.
    """
    n = len(K)
    if n_pairs * _ALL_SHARE >= n:
        values, vectors = eigh(K.T, driver="evd", overwrite_a=True, check_finite=False)
        least = float(values.min(initial=np.inf))
        return values[::-1][:n_pairs], vectors[:, ::-1][:, :n_pairs], least
    if n <= _TRIDIAGONAL_ROWS:
        form = Tridiagonal.of(K)
        values, vectors = form.leading(n_pairs)
        return values, vectors, form.lowest() if lowest else float(values[-1])
    least = extreme_ritz_values(K)[0] if lowest else np.inf
    values, vectors = _subset(K, n_pairs)
    return values, vectors, min(least, float(values[-1]))


def pairs_of_low_rank(K: Array, rounding: float) -> tuple[Array, Array] | None:
    """Return all eigenpairs of a positive semi-definite matrix whose rank is low, less than half its size, else None.

    Eigenvalues are descending. Those that are zero up to `rounding`, the error of an entry, are left out. K is
    overwritten where there is a result.

    Pivoted Cholesky gives L with K = L L^T, and L = Q R gives a basis Q of the space of the eigenvectors, which are Q
    times those of Q^T K Q. (R R^T is the same but comes from few columns of K, whose rounding errors do not average
    out.) That takes half of LAPACK's time for all pairs, or less. A sample of the rows shows whether the rank is low.
    """
    n = len(K)
    rows = np.sort(np.random.default_rng(0).permutation(n)[: n // _SAMPLE])
    if not 0 < _factor(K[np.ix_(rows, rows)], rounding)[2] <= _LOW_RANK * len(rows):
        return None
    diagonal = K.diagonal().copy()
    factor, order, rank = _factor(K, rounding)
    L = np.empty((n, rank), order="F")
    L[order] = np.tril(factor[:, :rank])
    with one_blas_thread():  # several take up to ten times as long
        Q, _ = qr(L, mode="economic", overwrite_a=True, check_finite=False)
    np.fill_diagonal(K, diagonal)  # the other half of K is as it was
    T = Q.T @ dsymm(1.0, K.T, Q, lower=0)
    values, vectors = eigh(T, driver="evd", overwrite_a=True, check_finite=False)
    return values[::-1], Q @ vectors[:, ::-1]


def _factor(K: Array, rounding: float) -> tuple[Array, IntArray, int]:
    """Return the pivoted Cholesky factor below the diagonal, the order of its rows, and the rank; K is overwritten."""
    factor, order, rank, _ = dpstrf(K.T, tol=rounding, lower=1, overwrite_a=1)
    return factor, order - 1, int(rank)


def _subset(K: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the leading pairs by LAPACK's driver for some pairs, or by the one for all where that fails."""
    n = len(K)
    try:
        values, vectors = eigh(K, subset_by_index=(n - n_pairs, n - 1), check_finite=False)
        if len(values) == n_pairs and np.isfinite(vectors).all():
            return values[::-1], vectors[:, ::-1]
    except LinAlgError:
        pass
    values, vectors = eigh(K.T, driver="evd", overwrite_a=True, check_finite=False)
    return values[::-1][:n_pairs], vectors[:, ::-1][:, :n_pairs]


def extreme_ritz_values(
    K: Array, known: Array | None = None, steps: int = _PROBE_STEPS, below: float = -np.inf
) -> tuple[float, float]:
    """Return bounds of the smallest and the largest eigenvalue from a few Lanczos steps: fast, and tight at the ends.

    With `known`, (n, r), these are the eigenvalues of the rest of K, beside eigenvectors that are known. It ends early
    where the largest one is certain to be less than `below`. Vectors are orthogonalised against the last two only: what
    is lost by that adds copies of converged values, which do no harm.
    """
    n, K = len(K), columnwise(K)
    steps = min(steps, n)
    negligible = 1e-12 * n * float(np.abs(K.diagonal()).max())
    T = np.zeros((steps, steps))
    w, before = _beside(known, _beside(known, np.random.default_rng(0).standard_normal(n))), np.zeros(n)
    norm, size = dnrm2(w), 0
    while size < steps and (not size or norm > negligible):
        q = w / (norm or 1.0)
        if size:
            T[size, size - 1] = norm  # eigvalsh reads the lower triangle
            before *= norm
        w = dsymv(1.0, K, q)
        T[size, size] = q @ w
        w -= before
        w -= T[size, size] * q
        w = _beside(known, w)
        before, norm, size = q, dnrm2(w), size + 1
        look = below > -np.inf and size >= _SEARCH_STEPS and size % _SEARCH_STRIDE == 0
        if look and _is_below(T[:size, :size], norm, below):
            break
    values = np.linalg.eigvalsh(T[:size, :size])
    return float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))


def _is_below(T: Array, norm: float, limit: float) -> bool:
    """Tell whether the largest Ritz value has settled below a limit.

    A random vector has a part along every eigenvector, and that along one beyond the limit grows with every step: its
    residual would be of the size of the distance from the limit.
    """
    values, vectors = np.linalg.eigh(T)
    return bool(norm * abs(vectors[-1, -1]) <= _SETTLED * (limit - values[-1]))


def _beside(known: Array | None, w: Array) -> Array:
    """Return w without its components along the known directions."""
    return w if known is None else w - known @ (w @ known)


def columnwise(K: Array) -> Array:
    """Return a symmetric matrix in the order of BLAS, which needs no copy where rows are contiguous."""
    return np.asfortranarray(K.T)


def leading_pairs_by_lanczos(K: Array, n_pairs: int, start: Array, *, lowest: bool = True) -> LanczosPairs | None:
    """Return the leading pairs of a matrix of which few are wanted; None where another method is needed.

    If the smallest eigenvalue is not asked for, its bound is a rough one.

    From one vector one eigenvector of several with the same eigenvalue is found. So the rest of K is searched for
    eigenvalues above those found; a single one has none above it.
    """
    found = lanczos(columnwise(K), n_pairs, start, _PROBE_STEPS if lowest else 0)
    if found is None or n_pairs == 1:
        return found
    steps = max(_SEARCH_STEPS, found.n_steps)  # a copy needs as many as the eigenvalue itself if others are near
    least, missed = extreme_ritz_values(K, found.vectors, steps, float(found.values[-1]))
    if missed > found.values[-1] + _MISSED * np.abs(found.values).max():
        return None
    return replace(found, lowest=min(found.lowest, least))
