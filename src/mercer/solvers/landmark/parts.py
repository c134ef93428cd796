"""Models on landmarks of all rows but each of several parts: moments are summed per part, and added up without one."""

from collections.abc import Sequence

import numpy as np

from mercer.arrays import Array, IntArray, Points
from mercer.engine.moments import Moments, total
from mercer.expansion.model import Expansion
from mercer.expansion.part_model import PartModel
from mercer.solvers.landmark.moments import Whitening, solve_moments


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
