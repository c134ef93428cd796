"""A linear model of appearance as mean and axes in pixels: residuals are quick, and their slopes are known."""

from typing import Any, NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.kernels.inner_product import Linear

_ORTHONORMAL = 1e-6


class Nearby(NamedTuple):
    """How a mapped patch changes with the state: slopes in four directions, and their inner products."""

    products: Array  # (4, 4), of slopes with each other
    inside: Array  # (4, r), of slopes with components
    along: Array  # (4,), of slopes with the patch without the mean
    scores: Array  # (r,), of the patch


class LinearView(NamedTuple):
    """Mean, orthonormal axes, and the variances along them; an axis without variance can be 0."""

    mean: Array  # (pixels,)
    axes: Array  # (r, pixels)
    variances: Array  # (r,)

    def residuals_and_scores(self, patches: Array) -> tuple[Array, Array]:
        """Return squared distances from the subspace, (n,), and scores, (n, r)."""
        away = patches - self.mean
        scores = away @ self.axes.T
        residuals = np.einsum("ij,ij->i", away, away) - np.einsum("ij,ij->i", scores, scores)
        return np.maximum(residuals, 0.0), scores

    def squared_length(self, patch: Array) -> float:
        """Return the squared length of a patch."""
        return float(patch @ patch)

    def nearby(self, patch: Array, ahead: Array, behind: Array, apart: float) -> Nearby:
        """Return slopes between patches behind and ahead, (4, pixels) each, `apart` to both sides of a patch."""
        away, slopes = patch - self.mean, (ahead.astype(np.float64) - behind) / (2 * apart)
        return Nearby(slopes @ slopes.T, slopes @ self.axes.T, slopes @ away, self.axes @ away)


def linear_view(model: Any) -> LinearView | None:
    """Return the view of a fitted model with the linear kernel; None for all others."""
    expansion, variances = getattr(model, "expansion_", None), getattr(model, "explained_variance_", None)
    if expansion is None or variances is None or not isinstance(expansion.kernel, Linear):
        return None
    if not is_orthonormal(expansion):
        return None
    points = np.asarray(expansion.points, np.float64)
    mean = np.zeros(points.shape[1]) if expansion.nu is None else expansion.nu @ points
    return LinearView(mean, expansion.coef @ points, np.asarray(variances))


def is_orthonormal(model: Expansion) -> bool:
    """Whether components are orthonormal in feature space, or 0 where they have no variance yet."""
    lengths = np.round(np.diag(model.gram))
    orthonormal = lengths.max(initial=0.0) <= 1 and np.allclose(model.gram, np.diag(lengths), atol=_ORTHONORMAL)
    return bool(orthonormal and not model.empirical)
