"""Models from moments on landmarks, of all rows or of all but some, and exact ones while rows are few."""

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array, IntArray, Points, n_rows
from mercer.engine.dense import leading_pairs
from mercer.engine.moments import Moments, fading_weights, total
from mercer.engine.spectrum import clean_eigenvalues, orientation, rounding_noise, thresholds
from mercer.expansion.build import of_components
from mercer.expansion.model import Expansion
from mercer.expansion.part_model import PartModel
from mercer.kernels.base import Kernel
from mercer.kernels.threads import available_threads, one_blas_thread, run_over_rows
from mercer.solvers.exact.weighted import fit_weighted
from mercer.solvers.landmark.moments import Landmarks, Whitening, block_slices

_EXTRA_DIRECTIONS = 8  # beside as many as there are components: the bound becomes better by them
_INDEPENDENT = 1e-8  # least squared length of such a direction, relative to the longest
_CERTAIN = 1e-5  # an eigenvalue above this share of the largest one is no rounding error
_TIMES_NOISE = 1e3  # and if it is so many times larger than the errors of kernel values


def solve_moments(space: Whitening, moments: Moments, n_components: int, center: bool) -> Expansion:
    """Return the leading components of the moments' covariance, as an expansion on the landmarks.

    The trace includes the part that the landmarks miss: it is sum w k(x, x) - W |mean|^2 with the mean in the span, so
    that trace minus eigenvalues is the sum of the rows' reconstruction errors.
    """
    m, q = space.root.shape
    r = min(n_components, m)
    with one_blas_thread():
        C = space.covariance(moments, center)
        values, vectors = leading_pairs(C, min(r, q)) if q else (np.zeros(0), np.zeros((0, 0)))
    mean = space.root.T @ moments.mean if center else np.zeros(q)
    values, W = _judged(values, vectors, space.own - mean, moments)
    coef, offset, values = np.zeros((r, m)), np.zeros(r), np.pad(values, (0, r - len(values)))
    coef[: len(W)], offset[: len(W)] = W @ space.root.T, W @ mean
    mean_norm = float(mean @ mean)
    return of_components(
        space.kernel,
        space.points,
        coef,
        offset,
        values,
        n_seen=max(1, round(moments.weight)),
        nu=space.root @ mean if center else None,
        mean_norm=mean_norm,
        trace=max(moments.own - moments.weight * mean_norm, float(values.sum())),
    )


def surely_has(landmarks: Landmarks, moments: Moments, n_components: int, center: bool) -> bool:
    """Tell without solving whether there certainly are so many components; False means that only a solution can tell.

    The r-th eigenvalue is not below the r-th one on any subspace of feature space (Cauchy's interlacing theorem). Here
    the subspace is spanned by some combinations B of the landmarks, B^T K B = I: with the scatter S of k_m(x), its
    eigenvalues are those of B^T S B.
    """
    m = n_rows(landmarks.points)
    if not landmarks.kernel.positive or n_components + _EXTRA_DIRECTIONS > m:
        return False
    scatter = moments.scatter(center)
    directions = np.random.default_rng(0).standard_normal((m, n_components + _EXTRA_DIRECTIONS))
    with one_blas_thread():
        B, _ = np.linalg.qr(scatter @ directions)
        lengths, turned = np.linalg.eigh(B.T @ landmarks.blocks(np.float64).against(landmarks.points) @ B)
        independent = lengths > _INDEPENDENT * lengths[-1]
        B = B @ (turned[:, independent] / np.sqrt(lengths[independent]))  # orthonormal in feature space
        values = np.linalg.eigvalsh(B.T @ (scatter @ B))[::-1]
    if len(values) < n_components:
        return False
    noise = rounding_noise(max(1, round(moments.weight)), abs(moments.own) / moments.weight, np.float64)
    return bool(values[n_components - 1] > max(_CERTAIN * values[0], _TIMES_NOISE * noise))


def _judged(values: Array, vectors: Array, landmarks: Array, moments: Moments) -> tuple[Array, Array]:
    """Set noise to zero values and components; choose the signs as exact kernel PCA of the landmarks does."""
    weight = max(moments.weight, 1e-300)
    noise = rounding_noise(max(1, round(weight)), abs(moments.own) / weight, np.float64)
    values = clean_eigenvalues(np.maximum(values, 0.0), 0.0, noise, thresholds(np.float64))
    scores = landmarks @ vectors
    signs = orientation(scores)
    return values, np.where(values[:, None] > 0, (vectors * signs).T, 0.0)


def models_without_parts(
    space: Whitening,
    moments: list[Moments],  # of each part, and then of the rows that are in no part, if there are any
    X: Points,
    parts: Sequence[IntArray],
    n_components: int,
    center: bool,
) -> list[PartModel]:
    """Return for each part the model of all other rows; sums of these are added up, as differences lose digits."""
    models = [
        solve_moments(space, total(moments[:k] + moments[k + 1 :]), n_components, center) for k in range(len(parts))
    ]
    means = [] if not center else [model.nu for model in models if model.nu is not None]
    products = models[0].combine(np.vstack([*(model.coef for model in models), *means]), X)
    own = np.asarray(models[0].kernel.diagonal(X), np.float64)
    r = models[0].n_components
    found = []
    for k, (model, part) in enumerate(zip(models, parts, strict=True)):
        scores = products[:, k * r : (k + 1) * r] - model.offset
        norms = own[part]
        if means:
            norms = np.maximum(norms - 2.0 * products[part, len(models) * r + k] + model.mean_norm, 0.0)
        found.append(PartModel(model, scores[part], norms, *_spread(model, np.delete(scores, part, axis=0))))
    return found


def _spread(model: Expansion, scores: Array) -> tuple[Array, Array]:
    """Return means and variances of the scores of the rows that a model was fitted to, (r,) each."""
    if model.nu is None and len(scores) > 1:
        return scores.mean(axis=0), scores.var(axis=0, ddof=1)
    return np.zeros(model.n_components), model.eigenvalues / max(model.n_seen - 1, 1)


def exact_model(kernel: Kernel, X: Points, n_components: int, forgetting: float, center: bool) -> Expansion:
    """Return exact kernel PCA of a few rows in order of time, the last with weight one."""
    weights = fading_weights(n_rows(X), forgetting)
    return fit_weighted(kernel, X, weights, min(n_components, n_rows(X)), center)


def project(model: Expansion, X: Points, n_jobs: int | None = None) -> Array:
    """Return the scores of X, (n, r), by blocks that stay in the cache."""
    blocks = model.kernel_blocks(X)
    weights = np.ascontiguousarray(model.coef.T, blocks.dtype)
    out = np.empty((n_rows(X), model.n_components), X.dtype)

    def work(rows: slice) -> None:
        out[rows] = blocks.against(X[rows]) @ weights - model.offset

    products = n_rows(X) * model.n_points * X.shape[1]
    run_over_rows(work, block_slices(n_rows(X), blocks, n_jobs), products, available_threads(n_jobs))
    return out
