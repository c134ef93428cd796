"""Principal angles between the subspaces of two models, as exact as kernel values allow."""

from dataclasses import replace

import numpy as np

from mercer.arrays import Array, same_rows
from mercer.expansion.model import Expansion

_RANK = 1e-12  # relative size below which a direction counts as absent


def in_float64(expansion: Expansion) -> Expansion:
    """Return the model with points in float64, and with its gram matrix computed again from them."""
    return replace(expansion, points=expansion.points.astype(np.float64, copy=False)).with_gram()


def orthonormal_basis(expansion: Expansion) -> Expansion:
    """Return orthonormal components with the same span; they are fewer where the given ones are linearly dependent."""
    fresh = in_float64(expansion)
    values, vectors = np.linalg.eigh(fresh.gram)
    keep = values > _RANK * values.max(initial=0.0)
    return fresh.transformed((vectors[:, keep] / np.sqrt(values[keep])).T)


def principal_angles(a: Expansion, b: Expansion) -> Array:
    """Return the angles between two orthonormal bases, ascending; a has at least as many components as b.

    A cosine determines angles above about 1e-7. Where both models hold the same points, the part of b outside the
    span of a is also known by its coefficients, which keep all digits where they are small. The length of that part
    is the sine.
    """
    if b.n_components == 0:
        return np.zeros(0)
    products = a.inner(b)
    cosines = np.clip(np.linalg.svd(products, compute_uv=False), 0.0, 1.0)
    angles: Array = np.arccos(cosines)
    if same_rows(a.points, b.points):
        outside = replace(b, coef=b.coef - products.T @ a.coef).with_gram()
        sines = np.sqrt(np.clip(np.linalg.eigvalsh(outside.gram), 0.0, 1.0))
        angles = np.where(cosines**2 > 0.5, np.arcsin(sines), angles)
    return angles
