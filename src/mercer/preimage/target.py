"""The target of a pre-image: the reconstruction P of given scores, and squared distances from it.

P = mean + sum_k c_k u_k with c = gram^+ y. Only its inner products with mapped rows are needed. These
are computed from the scores and norms of the rows: no array is larger than (rows, components) except one kernel
tile.
"""

import numpy as np

from mercer.arrays import Array, Points
from mercer.expansion.model import Expansion


def components(expansion: Expansion, scores: Array) -> Array:
    """Return c with P = mean + sum_k c_k u_k, (q, r); c = y where the components are orthonormal."""
    return np.asarray(scores @ expansion.gram_inverse, np.float64)


def row_dots(A: Array, B: Array) -> Array:
    """Return the inner products of equally numbered rows."""
    return np.asarray(np.einsum("ij,ij->i", A, B))


def squared_length(expansion: Expansion, c: Array) -> Array:
    """Return |P - mean|^2 = c^T gram c."""
    return row_dots(c @ expansion.gram, c)


def target_norm(expansion: Expansion, c: Array) -> Array:
    """Return |P|^2 = |mean|^2 + 2 c . offset + c^T gram c, for offset_k = <u_k, mean>."""
    return np.asarray(expansion.mean_norm + 2.0 * (c @ expansion.offset) + squared_length(expansion, c))


def scores_and_norms(expansion: Expansion, Z: Points) -> tuple[Array, Array]:
    """Return scores and |phi(z) - mean|^2, not clipped: with an indefinite kernel it can be negative."""
    own = expansion.kernel.diagonal(Z)
    if expansion.nu is None:
        return expansion.combine(expansion.coef, Z) - expansion.offset, own
    both = expansion.combine(np.vstack([expansion.coef, expansion.nu]), Z)
    return both[:, :-1] - expansion.offset, own - 2.0 * both[:, -1] + expansion.mean_norm


def feature_residual(expansion: Expansion, scores: Array, Z: Points) -> Array:
    """Return how far, squared and in feature space, each row of Z is from the reconstruction of its scores.

    |phi(z) - P|^2 = k(z, z) - 2 <phi(z), P> + |P|^2, written relative to the mean, to lose fewer digits:
    |phi(z) - mean|^2 - 2 c . y(z) + c^T gram c.
    """
    c = components(expansion, scores)
    own, norms = scores_and_norms(expansion, Z)
    return np.maximum(norms - 2.0 * row_dots(c, own) + squared_length(expansion, c), 0.0)
