"""Exact pre-images, for kernels whose feature map is known and can be inverted."""

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.preimage.anchors import Anchors
from mercer.preimage.target import components


def has_features(kernel: Kernel) -> bool:
    """Tell whether the kernel offers its feature map and the inverse."""
    return hasattr(kernel, "features") and hasattr(kernel, "inverse_features")


def exact(expansion: Expansion, scores: Array, anchors: Anchors) -> Array:
    """Return the rows whose features are P; for the linear kernel this is the reconstruction of PCA.

    The features of the components, (r, f), are computed first and used for all rows, so that no row needs (m,)
    weights of its own.
    """
    kernel = expansion.kernel
    if not has_features(kernel):
        raise ValueError(
            f"kernel={kernel.name!r} has no explicit feature map, so there is no exact pre-image. "
            "It exists for 'linear' and 'wavelet'; use preimage='auto' otherwise."
        )
    features = kernel.features(expansion.points)  # type: ignore[attr-defined]
    mapped = components(expansion, scores) @ np.asarray(expansion.coef @ features)
    if expansion.nu is not None:
        mapped += expansion.nu @ features
    return np.asarray(kernel.inverse_features(mapped))  # type: ignore[attr-defined]
