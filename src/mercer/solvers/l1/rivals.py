"""Other algorithms with which [kim2019] compares its own: two for the same L1-norm objective, and R1-PCA.

The first two iterate c <- sgn(K~ c), so both are short here. They differ in the local maximum that they reach.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Array, Points, check_squares, is_sparse
from mercer.engine.spectrum import orient, rounding_noise, thresholds
from mercer.errors import user_level
from mercer.events import SILENT, Channel
from mercer.expansion.build import on_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear
from mercer.kernels.operator import Operator
from mercer.kernels.tiles import memory_budget
from mercer.kernels.user_given import Precomputed
from mercer.solvers.exact.eigen import EigenOptions, solve
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.l1.features import FeatureResidual
from mercer.solvers.l1.fit import SignFit, SignOptions, extract, fit_l1

_DEPENDENT = 1e-12


def fit_projection_trick(
    kernel: Kernel,
    X: Points,
    n_components: int,
    *,
    dtype: Any,
    refine: bool = False,
    center: bool = True,
    n_jobs: int | None = None,
    channel: Channel = SILENT,
) -> tuple[Expansion, SignFit]:
    """KPCA-L1 [Kwak 2013]: PCA-L1 [Kwak 2008] of the features U Lambda^(1/2), from the row of largest norm.

    The eigendecomposition K' = U Lambda U^T is computed once: deflation projects the features and needs no new one. For
    the linear kernel the rows themselves are such features, rotated.
    """
    options = SignOptions("norm", refine)
    if isinstance(kernel, Linear):
        return fit_l1(
            kernel, X, n_components, dtype=dtype, options=options, center=center, n_jobs=n_jobs, channel=channel
        )
    points = np.arange(X.shape[0]) if isinstance(kernel, Precomputed) else X
    operator = make_operator(kernel, X, dtype, n_jobs, center)
    residual = FeatureResidual(_features(operator, dtype))
    found = extract(residual, n_components, options, channel)
    return on_rows(kernel, points, operator, found.coefficients, found.variation, np.eye(len(found.signs))), found


def _features(operator: Operator, dtype: Any) -> Array:
    """Return U Lambda^(1/2) for the eigenvalues of K' that are not zero, (n, rank)."""
    values, vectors = np.linalg.eigh(operator.dense())
    noise = rounding_noise(len(values), operator.largest_entry, dtype)
    kept = values > max(thresholds(dtype).zero * float(values[-1]), noise)
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


def fit_linear_system(
    kernel: Kernel,
    X: Points,
    n_components: int,
    *,
    dtype: Any,
    refine: bool = False,
    center: bool = True,
    n_jobs: int | None = None,
    channel: Channel = SILENT,
) -> tuple[Expansion, SignFit]:
    """L1-KPCA [Xiao, Wang, Xu, Zhou 2013], from the leading eigenvector of each deflated matrix.

    Its step is c = sgn(K~ alpha), K~ eta = K~ c, alpha = eta / sqrt(eta^T K~ eta). The system is singular [kim2019,
    sec. 4], and c itself solves it; all solutions have the same K~ eta, and only that is used. So no system is
    solved here: the steps are those of the paper, and each reads only the columns whose signs changed.
    """
    options = SignOptions("eigen", refine)
    return fit_l1(kernel, X, n_components, dtype=dtype, options=options, center=center, n_jobs=n_jobs, channel=channel)


# -- R1-PCA ----------------------------------------------------------------------------------------------------------


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
    objective: Array  # (steps,), of the Huber function, never rising
    n_iter: int


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
    orthonormal by (A K' A^T)^(-1/2): one product with K' per step. Components are sorted by the variation of the
    training rows along them.
    """
    points = np.arange(X.shape[0]) if isinstance(kernel, Precomputed) else X
    operator = make_operator(kernel, X, dtype, n_jobs, center)
    product, diagonal = _product_of(kernel, X, operator, center)
    check_squares(diagonal)
    start = solve(operator, n_components, EigenOptions(positive=kernel.positive))
    noise = rounding_noise(X.shape[0], operator.largest_entry, operator.dtype)
    kept = start.values > max(thresholds(operator.dtype).zero * float(start.values.max(initial=0.0)), noise)
    A: Array = (start.vectors[:, kept] / np.sqrt(start.values[kept])).T
    Y: Array = start.vectors[:, kept] * np.sqrt(start.values[kept])
    A, Y, found = _iterate(product, diagonal, A, Y, options, channel)
    A, Y = _sorted(A, Y)
    scores = np.ascontiguousarray(Y.T)
    variation = np.einsum("ij,ij->i", scores, scores)
    return on_rows(kernel, points, operator, A, variation, np.eye(len(A))), found


def _product_of(kernel: Kernel, X: Points, operator: Operator, center: bool) -> tuple[Any, Array]:
    """Return V -> K' V and the diagonal of K': by the rows themselves for the linear kernel, else held if it fits."""
    n = operator.shape[0]
    if isinstance(kernel, Linear) and not is_sparse(X):
        Z = X - X.mean(axis=0, dtype=np.float64) if center else np.asarray(X, np.float64)
        return (lambda V: Z @ (Z.T @ V)), np.asarray(np.einsum("ij,ij->i", Z, Z))
    if 8 * n * n <= memory_budget():
        K = operator.dense()
        return (lambda V: K @ V), np.diag(K).copy()
    return operator.matmul, operator.diagonal()


def _iterate(
    product: Any,
    diagonal: Array,  # (n,)
    A: Array,  # (r, n), coefficients of an orthonormal basis
    Y: Array,  # (n, r), its scores
    options: R1Options,
    channel: Channel,
) -> tuple[Array, Array, R1Fit]:
    distances = _distances(diagonal, Y)
    cutoff = float(np.median(distances))  # of the distances from the ordinary subspace, as in the paper
    objective, change, step = [_huber(distances, cutoff)], np.inf, 0
    weights = _weights(distances, cutoff)
    for step in range(1, options.max_iter + 1):
        if A.size == 0 or cutoff <= _DEPENDENT * np.sqrt(diagonal.max(initial=0.0)):
            change = 0.0  # the ordinary subspace already holds half of the rows exactly
            break
        coefficients = weights[:, None] * Y  # (n, r)
        scores = product(coefficients)
        root = _inverse_root(coefficients.T @ scores)
        new = scores @ root
        change = _moved(A @ new)
        A, Y = (coefficients @ root).T, new
        distances = _distances(diagonal, Y)
        weights = _weights(distances, cutoff)
        objective.append(_huber(distances, cutoff))
        channel.emit("R1 steps", step, options.max_iter, change)
        if change <= options.tol:
            break
    if change > options.tol:
        _warn_not_converged(options, change)
    return A, Y, R1Fit(weights, cutoff, np.array(objective), step)


def _distances(diagonal: Array, Y: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(diagonal - np.einsum("ij,ij->i", Y, Y), 0.0)))


def _huber(distances: Array, cutoff: float) -> float:
    inside = np.minimum(distances, cutoff)
    return float(np.sum(inside * (distances - 0.5 * inside)))


def _weights(distances: Array, cutoff: float) -> Array:
    return np.asarray(np.minimum(1.0, cutoff / np.maximum(distances, np.finfo(float).tiny)))


def _inverse_root(gram: Array) -> Array:
    """Return G^(-1/2), the orthonormal basis nearest to the old one."""
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    values = np.maximum(values, _DEPENDENT * max(float(values[-1]), np.finfo(float).tiny))
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def _moved(inner: Array) -> float:
    """Return the sine of the largest angle between two subspaces, from their bases' inner products, (r, r)."""
    off = np.eye(len(inner)) - inner @ inner.T
    return float(np.sqrt(np.maximum(np.linalg.eigvalsh(off)[-1], 0.0)))


def _sorted(A: Array, Y: Array) -> tuple[Array, Array]:
    """Turn the basis to the principal axes of the training scores, with the signs that `KernelPCA` would choose."""
    values, turn = np.linalg.eigh(Y.T @ Y)
    turn = turn[:, np.argsort(-values, kind="stable")]
    turned = Y @ turn
    signs = np.where(np.einsum("ij,ij->j", orient(turned), turned) < 0, -1.0, 1.0)
    return (turn * signs).T @ A, turned * signs


def _warn_not_converged(options: R1Options, change: float) -> None:
    warnings.warn(
        f"R1 stopped after {options.max_iter} steps, the last of which still moved the subspace by {change:.1e} "
        "radians. Raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=user_level(),
    )
