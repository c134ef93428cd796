"""A model of appearance in feature space: residuals and scores of patches, and how they change nearby."""

from typing import Any, NamedTuple

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.images.linear_view import LinearView, Nearby, is_orthonormal, linear_view
from mercer.kernels.user_given import Precomputed


class KernelView(NamedTuple):
    """A model with orthonormal components; a component without variance can be 0."""

    expansion: Expansion
    variances: Array  # (r,)

    def residuals_and_scores(self, patches: Array) -> tuple[Array, Array]:
        """Return squared distances from the subspace, (n,), and scores, (n, r)."""
        scores, norms = self.expansion.project_with_norm(patches)
        return np.maximum(norms - np.einsum("ij,ij->i", scores, scores), 0.0), scores

    def squared_length(self, patch: Array) -> float:
        """Return the squared length of a mapped patch."""
        return float(self.expansion.kernel.diagonal(patch[None])[0])

    def nearby(self, patch: Array, ahead: Array, behind: Array, apart: float) -> Nearby:
        """Return slopes between patches behind and ahead, (4, pixels) each, as `LinearView.nearby` does.

        A slope is the difference of two mapped patches. Its inner products need kernel values of nine patches only.
        """
        rows = np.vstack([patch, ahead, behind]).astype(np.float64)
        n = len(ahead)
        slopes = np.hstack([np.zeros((n, 1)), np.eye(n), -np.eye(n)]) / (2 * apart)  # of the nine mapped patches
        model, gram = self.expansion, self.expansion.kernel(rows)
        weights = model.coef if model.nu is None else np.vstack([model.coef, model.nu])
        products = model.combine(weights, rows)
        scores = products[:, : len(model.coef)] - model.offset
        with_mean = 0.0 if model.nu is None else products[:, -1]
        return Nearby(slopes @ gram @ slopes.T, slopes @ scores, slopes @ (gram[:, 0] - with_mean), scores[0])


def view_of(model: Any) -> LinearView | KernelView | None:
    """Return the view of a fitted model, in pixels where its kernel is linear; None for those without components."""
    linear = linear_view(model)
    if linear is not None:
        return linear
    expansion, variances = getattr(model, "expansion_", None), getattr(model, "explained_variance_", None)
    if expansion is None or variances is None or isinstance(expansion.kernel, Precomputed):
        return None
    return KernelView(expansion, np.asarray(variances)) if is_orthonormal(expansion) else None
