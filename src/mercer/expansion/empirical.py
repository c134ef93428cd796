"""Models in the empirical kernel map, expressed in feature space."""

from dataclasses import replace

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.kernels.landmark_map import LandmarkMap


def in_feature_space(model: Expansion, scores: Array) -> tuple[Expansion, Array]:
    """Return model and scores in the metric of feature space, where pre-images are looked for.

    Scores of an empirical model stand for g = mu + Gamma (Gamma^T Gamma)^+ y, a vector like h. The shortest element
    of feature space with these inner products with the landmarks has the coefficients K_mm^+ g.
    """
    if not model.empirical:
        return model, scores
    root = LandmarkMap.of(model.kernel, model.points).root
    W, mean = model.coef @ root, np.zeros(root.shape[1]) if model.nu is None else model.nu @ root
    mapped = replace(
        model,
        coef=W @ root.T,
        offset=W @ mean,
        gram=W @ W.T,
        nu=root @ mean,
        mean_norm=float(mean @ mean),
        empirical=False,
    )
    return mapped, np.asarray(scores @ model.gram_inverse @ mapped.gram)
