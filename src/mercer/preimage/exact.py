"""Exact pre-images, for kernels whose feature map is known and can be inverted."""

from typing import Protocol, runtime_checkable

import numpy as np

from mercer.arrays import Array, Points
from mercer.expansion.model import Expansion
from mercer.preimage.anchors import Anchors
from mercer.preimage.target import components


@runtime_checkable
class HasFeatures(Protocol):
    """A kernel that offers its feature map and the inverse."""

    def features(self, X: Points) -> Points:
        """Return the features of rows, (n, f)."""

    def inverse_features(self, F: Array) -> Array:
        """Return the rows with these features."""


def exact(expansion: Expansion, scores: Array, anchors: Anchors) -> Array:
    """Return the rows whose features are P; for the linear kernel this is the reconstruction of PCA.

    The features of the components, (r, f), are computed first and used for all rows, so that no row needs (m,)
    weights of its own.
    """
    kernel = expansion.kernel
    if not isinstance(kernel, HasFeatures):
        raise ValueError(
            f"kernel={kernel.name!r} has no explicit feature map, so there is no exact pre-image. "
            "It exists for 'linear' and 'wavelet'; use preimage='auto' otherwise."
        )
    features = kernel.features(expansion.points)
    mapped = components(expansion, scores) @ np.asarray(expansion.coef @ features)
    if expansion.nu is not None:
        mapped += expansion.nu @ features
    return np.asarray(kernel.inverse_features(mapped))
