"""Several models on the same points, and several ellipsoids, as arrays: one matrix product serves all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array, Points
from mercer.engine.scaling import Scaling
from mercer.expansion.model import Expansion
from mercer.kernels.tiles import available_threads, row_slices, run_over_rows
from mercer.outliers.ellipsoid import Ellipsoid
from mercer.outliers.scores import ScoreModel, beyond_rounding, usual_norm

_ROUNDING = 64.0 * np.finfo(float).eps  # share of k(x, x) below which a squared distance from the mean is rounding
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

    def __call__(self, X: Points) -> tuple[Array, Array]:
        """Return T2 and SPE of every row, (k, n) each, from one pass over the kernel."""
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

    scaling: Scaling  # of the first one
    axes: Array  # (d, k d), of rows in that scaling
    shifts: Array  # (k d,)

    @classmethod
    def of(cls, ellipsoids: Sequence[Ellipsoid]) -> "JointEllipsoids":
        """Put ellipsoids together: (x - m_k) / u_k = (z u_0 + m_0 - m_k) / u_k with z = (x - m_0) / u_0."""
        first = ellipsoids[0].scaling
        axes = [each.whitening * (first.unit / each.scaling.unit) for each in ellipsoids]
        shifts = [each.whitening @ ((each.scaling.mean - first.mean) / each.scaling.unit) for each in ellipsoids]
        return cls(first, np.ascontiguousarray(np.vstack(axes).T), np.concatenate(shifts))

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
