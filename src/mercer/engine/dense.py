"""Leading eigenpairs of a matrix in memory, by LAPACK and ARPACK, with the checks that they need."""

import numpy as np
from scipy.linalg import LinAlgError, eigh
from scipy.linalg.blas import dnrm2, dsymv
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from mercer.arrays import Array
from mercer.engine.tridiagonal import Tridiagonal

_PROBE_STEPS = 24  # Lanczos steps that find a negative eigenvalue
_SEARCH_STEPS = 12  # and those that find a large one
_ARPACK_BASIS = 24  # vectors, at least: enough to show a negative eigenvalue
_UNIT = 1e-10  # by how much inner products of orthonormal vectors may be wrong
_TINY = 1e-6  # ARPACK stops too early where eigenvalues are far below 1
_MISSED = 1e-10  # relative to the largest eigenvalue: an eigenvalue that exceeds others by more is not rounding
_ALL_SHARE = 4  # if more than a quarter of all pairs is wanted, computing all of them is faster
_TRIDIAGONAL_ROWS = 500  # for more, LAPACK's own driver for some pairs is as fast, and takes less memory


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
        values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
        least = float(values.min(initial=np.inf))
        return values[::-1][:n_pairs], vectors[:, ::-1][:, :n_pairs], least
    if n <= _TRIDIAGONAL_ROWS:
        form = Tridiagonal.of(K)
        values, vectors = form.leading(n_pairs)
        return values, vectors, form.lowest() if lowest else float(values[-1])
    least = extreme_ritz_values(K)[0] if lowest else np.inf
    values, vectors = _subset(K, n_pairs)
    return values, vectors, min(least, float(values[-1]))


def _subset(K: Array, n_pairs: int) -> tuple[Array, Array]:
    """Return the leading pairs by LAPACK's driver for some pairs, or by the one for all where that fails."""
    n = len(K)
    try:
        values, vectors = eigh(K, subset_by_index=(n - n_pairs, n - 1), check_finite=False)
        if len(values) == n_pairs and np.isfinite(vectors).all():
            return values[::-1], vectors[:, ::-1]
    except LinAlgError:
        pass
    values, vectors = eigh(K, driver="evd", overwrite_a=True, check_finite=False)
    return values[::-1][:n_pairs], vectors[:, ::-1][:, :n_pairs]


def extreme_ritz_values(K: Array, known: Array | None = None, steps: int = _PROBE_STEPS) -> tuple[float, float]:
    """Return bounds of the smallest and the largest eigenvalue from a few Lanczos steps: fast, and tight at the ends.

    With `known`, (n, r), these are the eigenvalues of the rest of K, beside eigenvectors that are known. Vectors are
    orthogonalised against the last two only: what is lost by that adds copies of converged values, which do no harm.
    """
    n, K = len(K), columnwise(K)
    steps = min(steps, n)
    negligible = 1e-12 * n * float(np.abs(K[0]).max() or 1.0)
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
    values = np.linalg.eigvalsh(T[:size, :size])
    return float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))


def _beside(known: Array | None, w: Array) -> Array:
    """Return w without its components along the known directions."""
    return w if known is None else w - known @ (w @ known)


def columnwise(K: Array) -> Array:
    """Return a symmetric matrix in the order of BLAS, which needs no copy where rows are contiguous."""
    return np.asfortranarray(K.T)


class _Matrix(LinearOperator):  # type: ignore[misc]
    """A symmetric matrix whose products reach ARPACK directly: the checks in between take as long as small products.

    Products read half of the matrix. The first vectors and products are kept: they tell both ends of the spectrum.
    """

    def __init__(self, K: Array, kept: int) -> None:
        super().__init__(K.dtype, K.shape)
        self._K = columnwise(K)
        self._vectors, self._products = np.empty((2, kept, len(K)))
        self._count = 0

    def matvec(self, x: Array) -> Array:
        """Return K x."""
        product = np.asarray(dsymv(1.0, self._K, x))
        # ARPACK may begin with a vector that is not normalised yet
        if self._count < len(self._vectors) and abs(x @ x - 1.0) < _UNIT:
            self._vectors[self._count], self._products[self._count] = x, product
            self._count += 1
        return product

    _matvec = matvec

    def lowest(self) -> float:
        """Return the smallest Ritz value of the first vectors, as far as they are orthonormal."""
        vectors = self._vectors[: self._count]
        wrong = np.abs(np.tril(vectors @ vectors.T - np.eye(self._count))).max(axis=1, initial=0.0) > _UNIT
        count = int(wrong.argmax()) if wrong.any() else self._count
        T = vectors[:count] @ self._products[:count].T
        return float(np.linalg.eigvalsh(T).min(initial=np.inf))


def leading_pairs_by_arpack(
    K: Array, n_pairs: int, start: Array, *, lowest: bool = True
) -> tuple[Array, Array, float] | None:
    """Return the largest eigenvalues, descending, their vectors, and a bound of the smallest; None where ARPACK fails.

    If it is not asked for, the bound is a rough one.

    ARPACK starts from one vector, from which it may find one eigenvector of several with the same eigenvalue. So the
    rest of K is searched for eigenvalues above those found.
    """
    scale = float(np.abs(np.diag(K)).max(initial=0.0))
    if scale < _TINY:
        return None
    basis = min(len(K), max(2 * n_pairs + 1, _ARPACK_BASIS))
    matrix = _Matrix(K, basis if lowest else 0)
    try:
        values, vectors = eigsh(matrix, n_pairs, which="LA", v0=start, ncv=basis)
    except ArpackError:  # for example, a zero matrix leaves ARPACK without a start vector
        return None
    least, missed = extreme_ritz_values(K, vectors, _SEARCH_STEPS)
    if missed > values.min() + _MISSED * np.abs(values).max():
        return None
    order = np.argsort(-values, kind="stable")
    least = min(least, float(values.min()), matrix.lowest() if lowest else np.inf)
    return values[order], vectors[:, order], least
