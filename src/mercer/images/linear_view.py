"""A linear model of appearance as mean and axes in pixels: residuals are quick, and their slopes are known."""

from typing import Any, NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.kernels.inner_product import Linear

_ORTHONORMAL = 1e-6


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


def linear_view(model: Any) -> LinearView | None:
    """Return the view of a fitted model with the linear kernel; None for all others."""
    expansion = getattr(model, "expansion_", None)
    variances = getattr(model, "explained_variance_", None)
    if expansion is None or variances is None or expansion.empirical or not isinstance(expansion.kernel, Linear):
        return None
    lengths = np.round(np.diag(expansion.gram))  # 0 for a component that has no variance yet
    if lengths.max(initial=0.0) > 1 or not np.allclose(expansion.gram, np.diag(lengths), atol=_ORTHONORMAL):
        return None
    points = np.asarray(expansion.points, np.float64)
    mean = np.zeros(points.shape[1]) if expansion.nu is None else expansion.nu @ points
    return LinearView(mean, expansion.coef @ points, np.asarray(variances))
