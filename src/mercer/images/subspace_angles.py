"""Subspaces of sets of images in feature space, the angles between them, and similarities from these."""

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.metrics.subspaces import orthonormal_basis

MEASURES = ("cosines", "angles")


def subspace_of(expansion: Expansion, n_components: int) -> Expansion:
    """Return an orthonormal basis of the span of the first components, at least one."""
    if expansion.empirical:
        raise ValueError("Models of the empirical kernel map cannot be compared; use feature_map='whitened'.")
    basis = orthonormal_basis(expansion.truncated(n_components))
    if basis.n_components == 0:
        raise ValueError(
            "A set spans no subspace: all its images are zero, or equal under a centred model. "
            "Drop such sets, or use an estimator with center=False."
        )
    return basis


def cosines_between(queries: list[Expansion], references: list[Expansion], dimension: int, n_angles: int) -> Array:
    """Return the leading cosines, (queries, references, n_angles), of bases of at most `dimension` vectors.

    They are NaN where a query has fewer dimensions than there are angles.
    """
    points = np.vstack([basis.points for basis in references])  # one kernel block for a set against all of them
    ends = np.cumsum([basis.n_points for basis in references])[:-1]
    found = np.full((len(queries), len(references), n_angles), np.nan)
    for row, query in zip(found, queries, strict=True):
        values = np.split(query.combine(query.coef, points), ends)
        row[:, : query.n_components] = _leading_cosines(references, values, dimension, n_angles)
    return found


def _leading_cosines(references: list[Expansion], values: list[Array], dimension: int, n_angles: int) -> Array:
    """Return singular values of inner products of orthonormal bases [Wolf and Shashua 2003], (references, t)."""
    products = np.zeros((len(references), dimension, values[0].shape[1]))
    for product, basis, value in zip(products, references, values, strict=True):
        product[: basis.n_components] = basis.coef @ value
    t = min(n_angles, *products.shape[1:])
    return np.asarray(np.clip(np.linalg.svd(products, compute_uv=False)[:, :t], 0.0, 1.0))


def similarity_from(cosines: Array, measure: str) -> Array:
    """Return similarities from 0 to 1, by one of `MEASURES`, from cosines along the last axis."""
    if measure == "cosines":
        return np.asarray(np.nanmean(cosines**2, axis=2))
    angles = np.arccos(cosines)
    counted = np.sum(~np.isnan(angles), axis=2)
    return np.asarray(1.0 - np.sqrt(np.nansum(angles**2, axis=2) / counted) / (np.pi / 2))  # [chin2007, eq. 36]
