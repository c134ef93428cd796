"""Moments of k_m(x) on landmarks, and the coordinates of their span in which models are computed from them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mercer.arrays import Array, Points, check_kernel_values, check_squares, n_rows
from mercer.engine.dense import leading_pairs
from mercer.engine.moments import Moments, rows_per_sum
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.threads import available_threads, one_blas_thread, row_slices, run_in_threads
from mercer.kernels.tiles import PointBlocks

_BLOCK_BYTES = 5 * 2**19  # a block of kernel values that stays in the second-level cache until its product is computed
_FEWEST, _MOST = 256, 4096  # rows of a block
_CENTRAL_ROWS = 64  # rows whose median is the reference
# Directions of the landmarks' kernel matrix below this share of the largest eigenvalue are left out: a product of two
# kernel values has an error of eps, whitening divides it by the share, and what is left out is as small as the share.
_LEAST_SHARE = 1e-10
_LEAST_MAPPED = 1e-12  # the same share where moments are brought to more landmarks: small directions may become large
_LEAST_MISSING = 1e-9  # of sum k(x, x); what is missing beyond the span, if it is less, is rounding
# float32 must keep this on a sample of rows: errors of the eigenvalues, relative to the largest of them
_SAMPLE_ROWS = 1024
_KEPT = 5e-7
_KEPT_OUTSIDE = 1e-5  # errors by which the vectors of the model turn towards others
# of the variation: a narrower kernel has exponents so large that float32 has fewer digits of them
_LEAST_CAPTURED = 1e-6
_MORE_VECTORS = 8  # than components, so that the others are well separated from the components
_PROBES = 16  # random vectors that measure the norm of all errors


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
        reference = central_values(blocks, X)
    slices = block_slices(n_rows(X), blocks, n_jobs)
    threads = min(len(slices), available_threads(n_jobs)) if len(slices) > 1 else 1
    parts = [Moments.empty(reference) for _ in range(threads)]
    short_sum = rows_per_sum(n_rows(X))

    def work(worker: int, rows: slice) -> None:
        own = blocks.kernel.diagonal(X[rows])
        some = None if weights is None else weights[rows]
        parts[worker].add_block(blocks.against(X[rows]), own, some, short_sum)

    with one_blas_thread():  # the blocks are small, also where all of them are the work of one thread
        run_in_threads(work, slices, threads)
    for part in parts[1:]:
        parts[0].add(part)
    return _finite(parts[0])


def central_values(blocks: PointBlocks, X: Points) -> Array:
    """Return the median of k_m(x) over some rows, (m,).

    Not the mean: of a narrow kernel few values are large, and a mean of some rows that includes one of them is far from
    nearly all values. The products of these would be large, and all have the same rounding error.
    """
    some = X[:: -(-n_rows(X) // _CENTRAL_ROWS)] if n_rows(X) else X
    return np.asarray(np.median(blocks.against(some).astype(np.float64, copy=False), axis=0))


def block_slices(n: int, blocks: PointBlocks, n_jobs: int | None) -> list[slice]:
    """Divide n rows such that a block of their kernel values stays in the cache."""
    rows = min(max(_BLOCK_BYTES // max(1, blocks.size * blocks.dtype.itemsize), _FEWEST), _MOST)
    if n > 2 * _FEWEST:
        rows = min(rows, -(-n // available_threads(n_jobs)))
    return row_slices(n, 1, rows)


def _finite(moments: Moments) -> Moments:
    for sums in (moments.total, np.diag(moments.product)):
        check_kernel_values(sums, "these rows, or their squares,")
    return moments


# -- landmarks -------------------------------------------------------------------------------------


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
        check_squares(kernel.diagonal(points))
        kept = _well_known(kernel, points, _LEAST_SHARE)
        return cls(points, kernel, kept.root, kept.features(points))

    def covariance(self, moments: Moments, center: bool) -> Array:
        """Return the scatter matrix of the moments in these coordinates, (q, q)."""
        C = self.root.T @ moments.scatter(center) @ self.root
        return np.asarray(0.5 * (C + C.T))

    def captured(self, moments: Moments) -> tuple[float, float]:
        """Return the parts of sum w k(x, x) in the span: sum w |phi_hat(x) - mean|^2, and that of the mean."""
        varying = float(np.einsum("ij,ij->", self.root, moments.scatter(True) @ self.root))
        mean = moments.mean @ self.root
        return varying, moments.weight * float(mean @ mean)


def _well_known(kernel: Kernel, points: Points, least_share: float) -> LandmarkMap:
    """Return the map on landmarks, less the directions with a smaller share of the largest eigenvalue of their kernel
    matrix, scaled to k(x, x) = 1.
    """
    space = LandmarkMap.of(kernel, points)
    lengths = np.sqrt(np.maximum(kernel.diagonal(points), 0.0))
    scaled = space.root * lengths[:, None]
    inverse = np.einsum("ij,ij->j", scaled, scaled)  # 1 / eigenvalue
    keep = inverse * least_share <= inverse.min(initial=np.inf)
    return replace(space, root=np.ascontiguousarray(space.root[:, keep]))


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Landmarks, with what is computed once for all rows that are measured on them."""

    kernel: Kernel
    points: Points  # (m, d), float64

    def __getstate__(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "points": self.points}  # the rest is computed again

    @cached_property
    def whitening(self) -> Whitening:
        """The coordinates of the landmarks' span."""
        return Whitening.of(self.kernel, self.points)

    @cached_property
    def _prepared(self) -> dict[str, PointBlocks]:
        return {}

    def blocks(self, dtype: Any) -> PointBlocks:
        """Return the landmarks prepared for kernel values in this precision."""
        name = np.dtype(dtype).name
        if name not in self._prepared:
            self._prepared[name] = PointBlocks(self.kernel, self.points, dtype)
        return self._prepared[name]

    def missing_share(self, moments: Moments) -> float:
        """Return the share of the variation of the rows outside the span of the landmarks."""
        return _missing_share(moments.own, *self.whitening.captured(moments))

    def missing_share_of(self, X: Points) -> float:
        """Return the share of the variation of some rows outside the span of the landmarks."""
        with one_blas_thread():
            inside = self.blocks(np.float64).against(X) @ self.whitening.root
        mean = inside.mean(axis=0)
        varying = float(np.sum((inside - mean) ** 2))
        return _missing_share(float(self.kernel.diagonal(X).sum()), varying, len(inside) * float(mean @ mean))

    def mapped(self, moments: Moments, more: Points) -> Moments:
        """Return the moments on more landmarks, of which the first are these.

        Only the projections of the rows on the span of these are known. The kernel value between such a projection and
        a new landmark is linear in k_m(x).
        """
        m = n_rows(self.points)
        K = PointBlocks(self.kernel, self.points, np.float64).against(more)  # (m', m)
        root = _well_known(self.kernel, self.points, _LEAST_MAPPED).root  # the inverse multiplies rounding errors
        with one_blas_thread():
            T = (K @ root) @ root.T
        T[:m] = np.eye(m)
        return moments.mapped(T)

    def carried(self, moments: Moments, others: Points) -> Moments:
        """Return the moments on other landmarks, of the projections of the rows on the span of these."""
        root = self.whitening.root
        K = PointBlocks(self.kernel, self.points, np.float64).against(others)  # (m', m)
        with one_blas_thread():
            return moments.mapped((K @ root) @ root.T)


def _missing_share(own: float, varying: float, constant: float) -> float:
    """Return the share of the variation that is missing, where `own` is sum k(x, x), and the others are parts of it.

    The mean of the rows does not count: of a wide kernel it is nearly all of k(x, x), and what the landmarks miss would
    seem to be nothing.
    """
    missing = own - varying - constant
    return missing / (missing + varying) if missing > _LEAST_MISSING * own else 0.0


def enough_in_float32(landmarks: Landmarks, X: Points, n_components: int) -> bool:
    """Tell whether kernel values in float32 give the model to 1e-6 of its largest eigenvalue.

    Whitening multiplies their rounding errors, by more the nearer landmarks are to each other. So the covariance of
    some rows is computed in both precisions. With more rows the errors average out.
    """
    if n_rows(X) < 2 * _SAMPLE_ROWS:  # too few to save time
        return False
    some = X[:: -(-n_rows(X) // _SAMPLE_ROWS)]
    space, blocks = landmarks.whitening, landmarks.blocks(np.float64)
    reference = central_values(blocks, some)
    wide = measure(blocks, some, None, reference)
    short = measure(landmarks.blocks(np.float32), some, None, reference)
    C, difference = space.covariance(wide, True), short.scatter(True) - wide.scatter(True)
    if np.trace(C) < _LEAST_CAPTURED * wide.own:
        return False
    with one_blas_thread():
        return _is_kept(C, space.root, difference, n_components)


def _is_kept(C: Array, root: Array, difference: Array, n_components: int) -> bool:
    """Tell whether the leading eigenvalues of C, (q, q), change little if E = root^T difference root is added to it.

    With V the leading vectors of C, some more than there are components, an eigenvalue changes by at most |V^T E V| +
    |E V|^2 / separation, where the separation is between the components and all vectors outside of V.
    """
    q = len(C)
    n_vectors = min(n_components + _MORE_VECTORS, q)
    values, V = leading_pairs(C, n_vectors)
    probes = np.random.default_rng(0).standard_normal((q, _PROBES))
    changed = root.T @ (difference @ (root @ np.hstack([V, probes])))  # E V, and E times the probes
    inside, outside = np.linalg.norm(V.T @ changed[:, :n_vectors], 2), np.linalg.norm(changed[:, :n_vectors], 2)
    change = inside
    if n_vectors < q:
        norm = np.linalg.norm(changed[:, n_vectors:]) / np.sqrt(_PROBES)  # an estimate of |E|, not below it on average
        separation = values[n_components - 1] - values[-1] - norm
        if separation <= 0.0 or outside > _KEPT_OUTSIDE * values[0]:
            return False
        change += outside**2 / separation
    return bool(change <= _KEPT * values.max(initial=0.0))
