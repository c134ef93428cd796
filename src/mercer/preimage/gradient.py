"""Pre-images by minimising the distance in feature space, for every kernel with derivatives."""

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from mercer.arrays import Array, Points
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear
from mercer.kernels.threads import TILE_BYTES, available_threads, one_blas_thread, row_slices, run_in_threads
from mercer.preimage.anchors import Anchors, best_start
from mercer.preimage.kernel_gradients import self_value, weighted_sum
from mercer.preimage.target import components, target_norm

_ROWS = 32  # rows minimised together: enough for efficient products, and few rows wait for a slow one
_FAR = 1e100  # replaces a value that overflowed: the line search goes back from there


@dataclass(frozen=True)
class _Distances:
    """The distances to minimise, one per row, scaled so that they are about one."""

    kernel: Kernel
    points: Points  # (m, d)
    weights: Array  # (q, m), coefficients of P on the points
    targets: Array  # (q,), |P|^2
    scale: Array  # (q,)

    def __call__(self, Z: Array) -> tuple[Array, Array]:
        """Return |phi(z) - P|^2 / scale and its gradient.

        An indefinite kernel can give negative squared distances. They count as zero; otherwise the minimisation would
        not end.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            own, own_slope = self_value(self.kernel, Z)
            inner, slope = weighted_sum(self.kernel, Z, self.points, self.weights)
            values = np.maximum(own - 2.0 * inner + self.targets, 0.0) / self.scale
            slopes = (own_slope - 2.0 * slope) / self.scale[:, None]
        finite = np.isfinite(values) & np.isfinite(slopes).all(axis=1)
        moving = finite & (values > 0)
        return np.where(finite, values, _FAR), np.where(moving[:, None], slopes, 0.0)


def gradient(
    expansion: Expansion,
    scores: Array,
    anchors: Anchors,
    *,
    n_neighbors: int = 10,
    max_iter: int = 200,
    tol: float = 1e-8,
) -> Array:
    """Return minimisers of |phi(z) - P|^2 by L-BFGS; never worse than the anchor they start from.

    `tol` bounds the relative gradient at the end. The cosine kernel does not depend on lengths: a row keeps about
    the length of the anchor it started from.
    """
    points = expansion.points.astype(np.float64, copy=False)
    Z = best_start(expansion, scores, anchors, n_neighbors).astype(np.float64)
    unit = _spread(points)
    targets = target_norm(expansion, components(expansion, scores))

    def work(_: int, rows: slice) -> None:
        own, _slope = self_value(expansion.kernel, Z[rows])
        scale = np.abs(targets[rows]) + np.abs(own)
        scale[scale == 0] = 1.0
        weights = expansion.reconstruct(scores[rows])
        distances = _Distances(expansion.kernel, points, weights, targets[rows], scale)
        Z[rows] = _descend(distances, Z[rows], unit, max_iter, tol)

    threads = available_threads()
    per_row = max(4 * expansion.n_points * Z.itemsize, TILE_BYTES // (threads * _ROWS))
    with one_blas_thread():  # also for a single slice: its products are small
        run_in_threads(work, row_slices(len(Z), per_row, TILE_BYTES // threads), threads)
    return Z


def _descend(distances: _Distances, start: Array, unit: float, max_iter: int, tol: float) -> Array:
    """Minimise the sum over rows, then keep the start of every row that did not improve."""

    def objective(flat: Array) -> tuple[float, Array]:
        values, slopes = distances(start + unit * flat.reshape(start.shape))
        return float(values.sum()), unit * slopes.ravel()

    options = {"maxiter": max_iter, "maxfun": 4 * max_iter, "gtol": tol, "ftol": 1e-15}
    origin = np.zeros(start.size)
    result = scipy.optimize.minimize(objective, origin, jac=True, method="L-BFGS-B", options=options)
    end = start + unit * result.x.reshape(start.shape)
    better = distances(end)[0] < distances(start)[0]
    return np.where(better[:, None], end, start)


def _spread(points: Points) -> float:
    """Return the typical deviation of a feature, the unit in which steps are measured."""
    mean = np.asarray(points.mean(axis=0)).ravel()
    variance = float(Linear().diagonal(points).mean() - mean @ mean) / len(mean)
    return float(np.sqrt(variance)) if variance > 0 else 1.0
