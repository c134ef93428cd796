"""Kernel PCA in the span of landmarks, from moments of k_m(x) that are whitened when a model is computed."""

from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array, Points, check_kernel_values, n_rows
from mercer.engine.dense import leading_pairs
from mercer.engine.moments import Moments, fading_weights
from mercer.engine.spectrum import clean_eigenvalues, inverse_roots, orient, orientation, rounding_noise, thresholds
from mercer.expansion.build import of_components, on_rows, unit_gram
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.operator import CentredOperator
from mercer.kernels.tiles import (
    PointBlocks,
    SymmetricTiles,
    available_threads,
    memory_budget,
    one_blas_thread,
    row_slices,
    run_in_threads,
)
from mercer.solvers.exact.eigen import EigenOptions, solve
from mercer.solvers.exact.fit import fit_exact

_BLOCK_BYTES = 5 * 2**19  # a block of kernel values that stays in the second-level cache until its product is computed
_FEWEST, _MOST = 256, 4096  # rows of a block
# Directions of the landmarks' kernel matrix below this share of the largest eigenvalue are left out: a product of two
# kernel values has an error of eps, whitening divides it by the share, and what is left out is as small as the share.
_LEAST_SHARE = 1e-10
# float32 must keep this on a sample of rows: errors of the eigenvalues, relative to the largest of them
_SAMPLE_ROWS = 1024
_KEPT = 5e-7  # of those that the model has
_KEPT_ELSEWHERE = 1e-5  # of all others, which disturb the vectors of the model


# -- the moments of many rows ----------------------------------------------------------------------


def measure(
    blocks: PointBlocks,
    X: Points,
    weights: Array | None,
    reference: Array | None = None,
    n_jobs: int | None = None,
) -> Moments:
    """Return the moments of k_m(x) over the rows of X; peak memory is one small block per thread."""
    if reference is None:
        reference = blocks.against(X[:_FEWEST]).mean(axis=0, dtype=np.float64)
    slices = _block_slices(n_rows(X), blocks, n_jobs)
    threads = min(len(slices), available_threads(n_jobs)) if len(slices) > 1 else 1
    parts = [Moments.empty(reference) for _ in range(threads)]

    def work(worker: int, rows: slice) -> None:
        own = blocks.kernel.diagonal(X[rows])
        parts[worker].add_block(blocks.against(X[rows]), own, None if weights is None else weights[rows])

    run_in_threads(work, slices, threads)
    for part in parts[1:]:
        parts[0].add(part)
    return _finite(parts[0])


def _block_slices(n: int, blocks: PointBlocks, n_jobs: int | None) -> list[slice]:
    rows = min(max(_BLOCK_BYTES // max(1, blocks.size * blocks.dtype.itemsize), _FEWEST), _MOST)
    if n > 2 * _FEWEST:
        rows = min(rows, -(-n // available_threads(n_jobs)))
    return row_slices(n, 1, rows)


def _finite(moments: Moments) -> Moments:
    for sums in (moments.total, np.diag(moments.product)):
        check_kernel_values(sums, "these rows, or their squares,")
    return moments


# -- models ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates of the landmarks' span in which products of kernel values are accurate."""

    points: Points
    kernel: Kernel
    root: Array  # (m, q): phi_hat(x) = root^T k_m(x)
    own: Array  # (m, q), phi_hat of the landmarks

    @classmethod
    def of(cls, kernel: Kernel, points: Points) -> "Whitening":
        """Return the coordinates for given landmarks."""
        space = LandmarkMap.of(kernel, points)
        lengths = np.sqrt(np.maximum(kernel.diagonal(points), 0.0))
        scaled = space.root * lengths[:, None]
        inverse = np.einsum("ij,ij->j", scaled, scaled)  # 1 / eigenvalue of the landmarks' scaled kernel matrix
        keep = inverse * _LEAST_SHARE <= inverse.min(initial=np.inf)
        kept = replace(space, root=np.ascontiguousarray(space.root[:, keep]))
        return cls(points, kernel, kept.root, kept.features(points))

    def covariance(self, moments: Moments, center: bool) -> Array:
        """Return the scatter matrix of the moments in these coordinates, (q, q)."""
        C = self.root.T @ moments.scatter(center) @ self.root
        return np.asarray(0.5 * (C + C.T))

    def captured(self, moments: Moments) -> float:
        """Return sum w |phi_hat(x)|^2, the part of sum w k(x, x) that lies in the span."""
        return float(np.einsum("ij,ij->", self.root, moments.scatter(False) @ self.root))


def enough_in_float32(space: Whitening, X: Points, n_components: int) -> bool:
    """Tell whether kernel values in float32 give the model to 1e-6 of its largest eigenvalue.

    Whitening multiplies their rounding errors, by more the nearer landmarks are to each other. So the eigenvalues of
    some rows are computed in both precisions. With more rows the errors average out.
    """
    if n_rows(X) < 2 * _SAMPLE_ROWS:  # too few to save time
        return False
    some = X[:: -(-n_rows(X) // _SAMPLE_ROWS)]
    short, wide = (
        np.linalg.eigvalsh(space.covariance(measure(PointBlocks(space.kernel, space.points, dtype), some, None), True))
        for dtype in (np.float32, np.float64)
    )
    errors = np.abs(short - wide)[::-1]
    largest = wide.max(initial=0.0)
    return bool(
        errors[:n_components].max(initial=0.0) <= _KEPT * largest
        and errors.max(initial=0.0) <= _KEPT_ELSEWHERE * largest
    )


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


def _judged(values: Array, vectors: Array, landmarks: Array, moments: Moments) -> tuple[Array, Array]:
    """Set noise to zero values and components; choose the signs as exact kernel PCA of the landmarks does."""
    weight = max(moments.weight, 1e-300)
    noise = rounding_noise(max(1, round(weight)), abs(moments.own) / weight, np.float64)
    values = clean_eigenvalues(np.maximum(values, 0.0), 0.0, noise, thresholds(np.float64))
    scores = landmarks @ vectors
    signs = orientation(scores)
    return values, np.where(values[:, None] > 0, (vectors * signs).T, 0.0)


def project(model: Expansion, X: Points, n_jobs: int | None = None) -> Array:
    """Return the scores of X, (n, r), by blocks that stay in the cache."""
    blocks = model.kernel_blocks(X)
    weights = np.ascontiguousarray(model.coef.T, blocks.dtype)
    out = np.empty((n_rows(X), model.n_components), X.dtype)

    def work(_: int, rows: slice) -> None:
        out[rows] = blocks.against(X[rows]) @ weights - model.offset

    slices = _block_slices(n_rows(X), blocks, n_jobs)
    run_in_threads(work, slices, min(len(slices), available_threads(n_jobs)) if len(slices) > 1 else 1)
    return out


def check_kernel(kernel: Kernel, rows: Points) -> None:
    """Fail if kernel values of these rows are not finite."""
    PointBlocks(kernel, rows, np.float64)  # fails if distances overflow
    check_kernel_values(kernel.diagonal(rows), "these rows")


def exact_model(kernel: Kernel, X: Points, n_components: int, forgetting: float, center: bool) -> Expansion:
    """Return exact kernel PCA of a few rows in order of time, the last with weight one."""
    weights, r = fading_weights(n_rows(X), forgetting), min(n_components, n_rows(X))
    if weights is None:
        return fit_exact(kernel, X, r, dtype=np.float64, options=EigenOptions(), center=center).expansion
    total, scale = float(weights.sum()), np.sqrt(weights)
    tiles = SymmetricTiles(kernel, X, np.float64, memory_budget(), available_threads())
    operator = CentredOperator(tiles, kernel.diagonal(X), weights=weights / total, scale=scale, center=center)
    spectrum = solve(operator, r, EigenOptions())
    noise = rounding_noise(n_rows(X), operator.largest_entry, np.float64)
    values = clean_eigenvalues(spectrum.values, spectrum.lowest, noise, thresholds(np.float64))
    coef = (orient(spectrum.vectors) * inverse_roots(values)).T * scale
    return on_rows(kernel, X, operator, coef, values, unit_gram(values), max(1, round(total)))
