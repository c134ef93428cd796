"""R1-PCA with kernels [Ding, Zhou, He, Zha 2006], with which [kim2019] compares its own algorithm."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array, Points, check_squares, is_sparse
from mercer.engine.spectrum import orientation, rounding_noise, thresholds
from mercer.errors import warn_user
from mercer.events import SILENT, Channel
from mercer.expansion.build import Centred, on_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear
from mercer.kernels.operator import Operator
from mercer.kernels.threads import row_slices
from mercer.kernels.tiles import memory_budget
from mercer.kernels.user_given import Precomputed
from mercer.solvers.exact.eigen import EigenOptions, Spectrum, solve
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.exact.primal import CentredRows, has_few_features, solve_rows

_DEPENDENT = 1e-12
_LAST_PLACES = 8.0  # rounding, in units of the last place
_RISE = 1e-10  # relative rise of the objective that counts as rounding
_FAR_FROM_DONE = 1e-3  # change of the subspace, in radians, above which it is told that rounding ended the steps


@dataclass(frozen=True)
class R1Options:
    """When to stop."""

    max_iter: int = 1000
    tol: float = 1e-6  # largest change of the subspace in a step: the sine of the largest angle


@dataclass(frozen=True)
class R1Fit:
    """What only the solver knows."""

    weights: Array  # (n,)
    cutoff: float
    objective: Array  # (steps + 1,), of the Huber function, never rising by more than rounding
    n_iter: int


@dataclass(frozen=True)
class Basis:
    """An orthonormal basis of a subspace, by the longest direction first, as coefficients on the rows and as scores."""

    A: Array  # (r, n), coefficients
    Y: Array  # (n, r), scores of all rows
    axes: Array | None = None  # (d, r), the vectors themselves, where rows are vectors


class R1Rows(Protocol):
    """Rows in feature space, with the operations that R1 needs."""

    record: Centred

    def start(self, n_components: int) -> Basis:
        """Return the subspace of ordinary kernel PCA."""

    def orthonormal(self, C: Array) -> Basis:
        """Return an orthonormal basis of the span of sum_i C_ik phi_i, for C of shape (n, r)."""

    def distances(self, basis: Basis) -> Array:
        """Return the distance of every row from the subspace."""

    def moved(self, old: Basis, new: Basis) -> float:
        """Return the sine of the largest angle between two subspaces."""

    @property
    def rounding(self) -> float:
        """Return the size of distances that are rounding."""


def fit_r1(
    kernel: Kernel,
    X: Points,
    n_components: int,
    *,
    dtype: Any,
    options: R1Options,
    center: bool = True,
    n_jobs: int | None = None,
    channel: Channel = SILENT,
) -> tuple[Expansion, R1Fit]:
    """R1-PCA [Ding, Zhou, He, Zha 2006] with kernels: the subspace that is nearest to the rows by unsquared distances.

    Minimises sum_i rho(|phi_i - P phi_i|), where rho is Huber's function: distances up to the cutoff count squared,
    larger ones as they are. The paper's steps are U <- orth(C(U) U) with C(U) = sum_i w_i phi_i phi_i^T and
    w_i = min(1, cutoff / distance_i). With U = Phi^T A^T and scores Y = K' A^T this is A <- (w Y)^T, made
    orthonormal: one product with K' per step. Before each step the basis is turned to the principal axes of the
    weighted scores, and each direction is divided by its weighted variation; otherwise the largest directions would
    hide the smallest ones. Components are sorted by the variation of the training rows along them.
    """
    points = np.arange(X.shape[0]) if isinstance(kernel, Precomputed) else X
    if isinstance(kernel, Linear) and not is_sparse(X):
        rows: R1Rows = _VectorRows(X, center)
    else:
        rows = _KernelMatrix(make_operator(kernel, X, dtype, n_jobs, center), kernel.positive)
    basis, found = _iterate(rows, rows.start(n_components), options, channel)
    basis = _sorted(basis)
    variation = np.einsum("ij,ij->j", basis.Y, basis.Y)
    return on_rows(kernel, points, rows.record, basis.A, variation, np.eye(len(basis.A))), found


class _KernelMatrix:
    """Rows that are known by their kernel matrix, which is held if it fits."""

    def __init__(self, operator: Operator, positive: bool) -> None:
        self.record: Centred = operator
        self._operator, self._positive = operator, positive
        n = operator.shape[0]
        self._held = _symmetric(operator.dense()) if 8 * n * n <= memory_budget() else None
        self._diagonal = operator.diagonal() if self._held is None else np.diag(self._held).copy()
        check_squares(self._diagonal)

    @property
    def rounding(self) -> float:
        """Return the size of distances that are rounding: of differences of squared lengths."""
        return float(np.sqrt(_LAST_PLACES * np.finfo(self._operator.dtype).eps * self._operator.largest_entry))

    def start(self, n_components: int) -> Basis:
        """Return the leading eigenvectors of K'."""
        operator = self._operator
        found = solve(operator, n_components, EigenOptions(positive=self._positive))
        noise = rounding_noise(operator.shape[0], operator.largest_entry, operator.dtype)
        return _of_eigenpairs(found, noise, operator.dtype)

    def orthonormal(self, C: Array) -> Basis:
        """Return the basis, by the inverse root of the inner products of the given vectors."""
        scores = self._operator.matmul(C) if self._held is None else self._held @ C
        root = _inverse_root(C.T @ scores)
        return Basis((C @ root).T, scores @ root)

    def distances(self, basis: Basis) -> Array:
        """Return the distances, from squared lengths of rows and of their projections."""
        left = self._diagonal - np.einsum("ij,ij->i", basis.Y, basis.Y)
        return np.asarray(np.sqrt(np.maximum(left, 0.0)))

    def moved(self, old: Basis, new: Basis) -> float:
        """Return the sine of the largest angle.

        Of the two forms of the inner product of a long and a short direction, the one with the coefficients of the
        long one has the smaller rounding error.
        """
        inner = np.triu(old.A @ new.Y) + np.tril(old.Y.T @ new.A.T, -1)
        off = np.eye(len(inner)) - inner @ inner.T
        return float(np.sqrt(np.maximum(np.linalg.eigvalsh(off)[-1], 0.0)))


class _VectorRows:
    """Dense rows of the linear kernel, less their mean: far from the origin kernel values lose the digits."""

    def __init__(self, X: Array, center: bool) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # the checks tell it in words
            centred = CentredRows(np.asarray(X, np.float64), center)
        self.record: Centred = centred
        self._centred, self._rows = centred, centred.rows
        self._squares = np.einsum("ij,ij->i", centred.rows, centred.rows)
        check_squares(self._squares)

    @property
    def rounding(self) -> float:
        """Return the size of distances that are rounding: of the rows as they were given."""
        return float(_LAST_PLACES * np.finfo(np.float64).eps * np.sqrt(self._centred.largest_entry))

    def start(self, n_components: int) -> Basis:
        """Return the leading singular vectors of the rows."""
        noise = self._centred.noise
        if has_few_features(Linear(), self._rows):
            found = solve_rows(self._centred, n_components)
        else:
            operator = make_operator(Linear(), self._rows, np.float64, center=False)
            found = solve(operator, n_components, EigenOptions(positive=True))
            noise = max(noise, rounding_noise(len(self._rows), float(self._squares.max(initial=0.0)), np.float64))
        return self.orthonormal(_of_eigenpairs(found, noise, np.dtype(np.float64)).A.T)

    def orthonormal(self, C: Array) -> Basis:
        """Return the basis, by a QR decomposition of the vectors."""
        axes, R = np.linalg.qr(self._rows.T @ C)
        return Basis(np.linalg.solve(R.T, C.T), self._rows @ axes, axes)

    def distances(self, basis: Basis) -> Array:
        """Return the lengths of what the subspace leaves of the rows."""
        assert basis.axes is not None
        return np.asarray(np.linalg.norm(self._rows - basis.Y @ basis.axes.T, axis=1))

    def moved(self, old: Basis, new: Basis) -> float:
        """Return the sine of the largest angle."""
        assert old.axes is not None
        assert new.axes is not None
        return float(np.linalg.norm(new.axes - old.axes @ (old.axes.T @ new.axes), 2))


def _symmetric(K: Array) -> Array:
    """Return the mean of a matrix and its transpose, computed in place: in float32 they differ by rounding."""
    for rows in row_slices(len(K), 8 * max(len(K), 1)):
        block = 0.5 * (K[rows, rows.start :] + K[rows.start :, rows].T)
        K[rows, rows.start :] = block
        K[rows.start :, rows] = block.T
    return K


def _of_eigenpairs(found: Spectrum, noise: float, dtype: Any) -> Basis:
    """Return the basis of the eigenvectors whose eigenvalues are not zero."""
    kept = found.values > max(thresholds(dtype).zero * float(found.values.max(initial=0.0)), noise)
    vectors, roots = found.vectors[:, kept], np.sqrt(found.values[kept])
    return Basis((vectors / roots).T, vectors * roots)


def _iterate(rows: R1Rows, basis: Basis, options: R1Options, channel: Channel) -> tuple[Basis, R1Fit]:
    """Take steps until the subspace no longer moves; a step that raises the objective is not taken, and is the last."""
    distances = rows.distances(basis)
    cutoff = float(np.median(distances))  # of the distances from the ordinary subspace, as in the paper
    objective, weights = [_huber(distances, cutoff)], _weights(distances, cutoff)
    change, step = np.inf, 0
    for step in range(1, options.max_iter + 1):
        if basis.A.size == 0 or cutoff <= rows.rounding:
            change = 0.0  # the ordinary subspace already holds half of the rows exactly
            break
        new = rows.orthonormal(_power_step(basis.Y, weights))
        distances, change = rows.distances(new), rows.moved(basis, new)
        value = _huber(distances, cutoff)
        channel.emit("R1 steps", step, options.max_iter, change)
        if not value <= min(objective) * (1.0 + _RISE):
            change = _at_rounding(step, change)
            break
        basis, weights = new, _weights(distances, cutoff)
        objective.append(value)
        if change <= options.tol:
            break
    if change > options.tol:
        _warn_not_converged(options, change)
    return basis, R1Fit(weights, cutoff, np.array(objective), step)


def _power_step(Y: Array, weights: Array) -> Array:
    """Return the coefficients, (n, r), of C(U) U: turned to the axes of the weighted scores, each at unit length.

    The turned directions are uncorrelated under the weights. So each image is its own direction, of length 1, and a
    part outside of the subspace: the images are never nearly dependent, however different the variations are.
    """
    _, lengths, turn = np.linalg.svd(np.sqrt(weights)[:, None] * Y, full_matrices=False)
    lengths = np.maximum(lengths, np.finfo(float).eps * lengths[0])
    return np.asarray(weights[:, None] * ((Y @ turn.T) / lengths) / lengths)


def _huber(distances: Array, cutoff: float) -> float:
    inside = np.minimum(distances, cutoff)
    return float(np.sum(inside * (distances - 0.5 * inside)))


def _weights(distances: Array, cutoff: float) -> Array:
    """Return min(1, cutoff / distance)."""
    return np.divide(cutoff, distances, out=np.ones(len(distances)), where=distances > cutoff)


def _inverse_root(gram: Array) -> Array:
    """Return G^(-1/2), the orthonormal basis nearest to the old one."""
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    values = np.maximum(values, _DEPENDENT * max(float(values[-1]), np.finfo(float).tiny))
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def _sorted(basis: Basis) -> Basis:
    """Turn the basis to the principal axes of the training scores, with the signs that `KernelPCA` would choose."""
    _, _, turn = np.linalg.svd(basis.Y, full_matrices=False)
    turned = basis.Y @ turn.T
    signs = orientation(turned)
    return Basis((turn.T * signs).T @ basis.A, turned * signs)


def _at_rounding(step: int, change: float) -> float:
    """Return 0, since no further step is better; say so where the subspace was still moving."""
    if change > _FAR_FROM_DONE:
        warn_user(
            f"R1 stopped before step {step}, which would have raised the objective: rounding errors are larger than "
            f"what steps gain. The subspace was still moving by {change:.1e} radians. Scale the features, or ask for "
            "fewer components.",
            ConvergenceWarning,
        )
    return 0.0


def _warn_not_converged(options: R1Options, change: float) -> None:
    warn_user(
        f"R1 stopped after {options.max_iter} steps, the last of which still moved the subspace by {change:.1e} "
        "radians. Raise max_iter or tol.",
        ConvergenceWarning,
    )
