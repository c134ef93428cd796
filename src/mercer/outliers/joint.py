"""Several models on the same points, and several ellipsoids, as arrays: one matrix product serves all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.expansion.model import Expansion
from mercer.kernels.threads import available_threads, row_slices, run_over_rows
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.scores import ScoreModel, beyond_rounding, usual_norm

_ROUNDING = 64.0 * np.finfo(float).eps  # share of k(x, x) below which a squared distance from the mean is rounding
_MOST_DIFFERENT = 1e20  # units of one column; rows are cut at 1e38 of them
_CACHE_BYTES = 2**19  # of rows times all axes of all ellipsoids at once


@dataclass(frozen=True, eq=False)
class JointScores:
    """T2 and SPE by several models that have kernel and points in common; missing components are zero."""

    expansion: Expansion  # any of the models, for kernel and points
    weights: Array  # (k r + k, m), or (k r, m) without means: coefficients of all components, then of the means
    offsets: Array  # (k, r, 1), as are the two below
    means: Array
    inverse_variances: Array
    gram_inverses: Array  # (k, r, r)
    mean_norms: Array  # (k, 1)
    usual: Array  # (k, 1), the mean squared distance of training rows from the mean

    @classmethod
    def of(cls, models: Sequence[ScoreModel]) -> "JointScores":
        """Put models together; all have means or none has."""
        parts = [model.expansion for model in models]
        k, r = len(parts), max(part.n_components for part in parts)
        coef, grams = np.zeros((k, r, parts[0].coef.shape[1])), np.zeros((k, r, r))
        offsets, means, inverse = np.zeros((3, k, r, 1))
        for i, (model, part) in enumerate(zip(models, parts, strict=True)):
            own = slice(part.n_components)
            coef[i, own], grams[i, own, own] = part.coef, part.gram_inverse
            offsets[i, own, 0], means[i, own, 0] = part.offset, model.means
            inverse[i, own, 0] = model.inverse_variances
        centred = [part.nu for part in parts if part.nu is not None]
        weights = np.vstack([coef.reshape(k * r, -1), *centred])
        norms, usual = np.array([(part.mean_norm, usual_norm(part)) for part in parts]).T[:, :, None]
        return cls(parts[0], weights, offsets, means, inverse, grams, norms, usual)

    def __call__(self, X: Array) -> Array:
        """Return T2 and SPE of every row, (2, k, n), from one pass over the kernel; scores take no more than a tile."""
        out = np.empty((2, len(self.offsets), len(X)))
        for rows in row_slices(len(X), self.weights.shape[0] * out.itemsize):
            out[:, :, rows] = self._statistics(X[rows])
        return out

    def _statistics(self, X: Array) -> tuple[Array, Array]:
        k, r, _ = self.offsets.shape
        own = self.expansion.kernel.diagonal(X)
        products = np.ascontiguousarray(self.expansion.combine(self.weights, X).T)  # (k r + k, n)
        scores = products[: k * r].reshape(k, r, -1) - self.offsets
        t2 = ((scores - self.means) ** 2 * self.inverse_variances).sum(axis=1)
        norms = np.broadcast_to(own, t2.shape)
        if len(products) > k * r:
            norms = own - 2.0 * products[k * r :] + self.mean_norms
            norms = np.where(norms > _ROUNDING * own, norms, 0.0)
        explained = (self.gram_inverses @ scores * scores).sum(axis=1)
        return t2, beyond_rounding(norms, explained, self.usual)


@dataclass(frozen=True, eq=False)
class JointEllipsoids:
    """Squared distances from several means, each in units of its own covariance."""

    scaling: Scaling
    axes: Array  # (d, k d), of rows in that scaling
    shifts: Array  # (k d,)

    @classmethod
    def of(cls, ellipsoids: Sequence[Ellipsoid]) -> "JointEllipsoids | None":
        """Put ellipsoids together: (x - m_k) / u_k = (z u + m - m_k) / u_k with z = (x - m) / u.

        Each column has the mean and the unit of the ellipsoid with the smallest unit: those of others may come from
        rows with enormous numbers, beside which ordinary ones have no digits left. None where units differ so much that
        rows which are cut in the smallest one would not be far away in others.
        """
        means, units = (np.stack([getattr(each.scaling, name) for each in ellipsoids]) for name in ("mean", "unit"))
        if (units.min(axis=0) < units.max(axis=0) / _MOST_DIFFERENT).any():
            return None
        smallest = units.argmin(axis=0), np.arange(units.shape[1])
        common = Scaling(means[smallest], units[smallest])
        axes = [each.whitening * (common.unit / each.scaling.unit) for each in ellipsoids]
        shifts = [each.whitening @ ((each.scaling.mean - common.mean) / each.scaling.unit) for each in ellipsoids]
        return cls(common, np.ascontiguousarray(np.vstack(axes).T), np.concatenate(shifts))

    def __call__(self, X: Array) -> Array:
        """Return the squared distance of every row from each mean, (k, n)."""
        d, width = self.axes.shape
        rows, out = self.scaling.bounded(X), np.empty((width // d, len(X)))

        def work(part: slice) -> None:
            spread = rows[part] @ self.axes
            spread -= self.shifts
            spread *= spread
            out[:, part] = spread.reshape(-1, width // d, d).sum(axis=2).T

        run_over_rows(work, row_slices(len(X), 8 * width, _CACHE_BYTES), X.size * width, available_threads())
        return out
