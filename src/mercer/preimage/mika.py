"""Pre-images by the fixed point of [Mika et al. 1999], with a line search.

For the Gaussian kernel the pre-image maximises f(z) = <phi(z), P> = sum_i g_i k(z, x_i), and a stationary
point is a fixed point of z <- sum_i g_i k(z, x_i) x_i / f(z) [Mika et al. 1999]. The signs of g differ, so
the plain iteration may divide by almost zero, or decrease f. Here a step is taken only if f rises, and is
halved otherwise.
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array, Points, is_sparse
from mercer.expansion.model import Expansion
from mercer.kernels.distance import RBF
from mercer.kernels.threads import TILE_BYTES, available_threads, one_blas_thread, row_slices, run_in_threads
from mercer.kernels.tiles import PointBlocks
from mercer.preimage.anchors import Anchors, best_start

# If f is below this share of sum |g_i k_i|, a step is divided by that sum instead: f still rises, and the step is at
# most as long as the width of the data.
LEAST = 1e-3


@dataclass(frozen=True)
class Hill:
    """The function to maximise, for rows and points both less the points' mean, to lose fewer digits."""

    points: Points  # (m, d)
    blocks: PointBlocks

    def look(self, Z: Array, weights: Array) -> tuple[Array, Array]:
        """Return f at every row, and the step of the fixed-point iteration."""
        pull = self.blocks.against(Z)
        pull *= weights
        height = pull.sum(axis=1)
        reach = np.abs(pull).sum(axis=1)
        divisor = np.where(height > LEAST * reach, height, reach)
        uphill = pull @ self.points - height[:, None] * Z  # the gradient of f without the factor 2 gamma
        step = np.divide(uphill, divisor[:, None], out=np.zeros_like(Z), where=divisor[:, None] > 0)
        return height, step


def mika(
    expansion: Expansion,
    scores: Array,
    anchors: Anchors,
    *,
    n_neighbors: int = 10,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> Array:
    """Return pre-images for the Gaussian kernel, never farther from P than the anchor they start from.

    Each row starts at the best of its `n_neighbors` nearest anchors, and stops when a step is shorter than
    `tol` kernel widths, or makes no progress, or after `max_iter` evaluations of the function.
    """
    kernel = expansion.kernel
    if not isinstance(kernel, RBF):
        raise ValueError(
            f"preimage='mika' needs kernel='rbf'; this model has kernel={kernel.name!r}. "
            "Use 'auto', 'gradient' (smooth kernels) or 'ridge' (any)."
        )
    origin = kernel.origin(expansion.points)
    hill = hill_of(expansion, origin)
    shift = 0.0 if origin is None else origin
    Z = (best_start(expansion, scores, anchors, n_neighbors) - shift).astype(hill.blocks.dtype)
    length = tol / np.sqrt(2.0 * kernel.gamma) if kernel.gamma > 0 else np.inf

    def work(_: int, rows: slice) -> None:
        weights = expansion.reconstruct(scores[rows]).astype(hill.blocks.dtype, copy=False)
        _climb(hill, weights, Z[rows], max_iter, float(length))

    threads = available_threads()
    per_row = (3 * hill.blocks.size + 6 * Z.shape[1]) * Z.itemsize  # weights, kernel values and their absolute values
    with one_blas_thread():  # also for a single slice: its products are small, and threads of BLAS wait for each other
        run_in_threads(work, row_slices(len(Z), per_row, TILE_BYTES // threads), threads)
    return np.asarray(Z + shift)


def hill_of(expansion: Expansion, origin: Array | None) -> Hill:
    """Return the function for the points of a model less `origin`, in the precision of the points."""
    points = expansion.points
    dtype = points.dtype if np.issubdtype(points.dtype, np.floating) else np.float64
    points = points.astype(dtype) if is_sparse(points) else (points - origin).astype(dtype)
    return Hill(points, PointBlocks(expansion.kernel, points, dtype))


def _climb(hill: Hill, weights: Array, Z: Array, max_iter: int, length: float) -> None:
    """Move the rows of Z in place so that f rises, until every step is shorter than `length` or does not raise f."""
    height, step = hill.look(Z, weights)
    share = np.ones(len(Z), Z.dtype)  # share of the full step
    for _ in range(max_iter):
        active = np.flatnonzero(share * np.linalg.norm(step, axis=1) > length)
        if not active.size:
            return
        trial = Z[active] + share[active, None] * step[active]
        new_height, new_step = hill.look(trial, weights[active])
        better = new_height > height[active]
        share[active[~better]] *= 0.5
        moved = active[better]
        Z[moved], height[moved], step[moved] = trial[better], new_height[better], new_step[better]
        share[moved] = 1.0
