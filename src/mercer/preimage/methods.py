"""Pre-images: rows of data for given scores, by methods that all estimators share.

No method is the best everywhere:

- "exact": the feature map is known and inverted. Linear and wavelet kernels.
- "mika": fixed-point iteration that never gets worse. Gaussian kernel.
- "gradient": minimises the distance in feature space. Gaussian, polynomial, linear, sigmoid and cosine
  kernels.
- "kwok": computed from distances to neighbours. Gaussian, linear and polynomial kernels; good under heavy noise.
- "ridge": regression from scores to rows less their mean (`KernelPCA` has that of scikit-learn, with the mean). Any
  kernel; good under mild noise with a well-chosen `alpha`, poor for narrow kernels. Scores are compared by the model's
  kernel, or by a Gaussian where that takes no negative numbers (chi2).
- "auto": "exact" if it exists; else "mika" for the Gaussian and "gradient"
  for other smooth kernels, because both end at least as near in feature space as the best known row and need
  no parameter; else "ridge" with a Gaussian kernel on the scores, because the model's own kernel need not
  accept scores (chi2 refuses negative numbers, a user's function may expect whole rows).

Rows for a kernel that takes no negative numbers have none: what a method finds below 0 becomes 0.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.user_given import Precomputed
from mercer.preimage.anchors import Anchors
from mercer.preimage.exact import HasFeatures, exact
from mercer.preimage.gradient import gradient
from mercer.preimage.kernel_gradients import is_smooth
from mercer.preimage.kwok import kwok
from mercer.preimage.mika import mika
from mercer.preimage.ridge import RidgeMap, gaussian_of, ridge
from mercer.preimage.target import feature_residual

__all__ = ["METHODS", "Anchors", "RidgeMap", "automatic_method", "feature_residual", "find_preimages", "in_domain"]

_METHODS: dict[str, Callable[..., Array]] = {
    "exact": exact,
    "mika": mika,
    "gradient": gradient,
    "kwok": kwok,
    "ridge": ridge,
}
METHODS = ("auto", *_METHODS)

_AUTO_ALPHA = 1e-2  # for scores with a Gaussian kernel of median width; the errors hardly depend on it


def automatic_method(kernel: Kernel) -> str:
    """Return the method that "auto" means for this model."""
    if isinstance(kernel, HasFeatures):
        return "exact"
    if isinstance(kernel, RBF):
        return "mika"
    return "gradient" if is_smooth(kernel) else "ridge"


def find_preimages(
    method: str,
    expansion: Expansion,
    scores: Array,  # (q, r)
    anchors: Anchors,
    **options: Any,
) -> Array:
    """Return rows of data, (q, d), whose images are as near to the reconstruction from the scores as the method can.

    `options` are the keywords of the method's function.
    """
    if method not in METHODS:
        raise ValueError(f"Unknown pre-image method {method!r}; there are {', '.join(map(repr, METHODS))}.")
    require_points(expansion.kernel)
    if method == "auto":
        method = automatic_method(expansion.kernel)
        if method == "ridge":
            options = {"alpha": _AUTO_ALPHA, "kernel": gaussian_of(anchors.scores), **options}
    dtype = np.result_type(anchors.points.dtype, np.float32)
    if len(scores) == 0:
        return np.empty((0, anchors.points.shape[1]), dtype)
    found = _METHODS[method](expansion, scores, anchors, **options)
    return in_domain(expansion.kernel, found).astype(dtype, copy=False)


def require_points(kernel: Kernel) -> None:
    """Fail for a precomputed kernel, which has no rows that could be found."""
    if isinstance(kernel, Precomputed):
        raise ValueError(
            "With kernel='precomputed' the rows behind the kernel values are not known, so there are no "
            "pre-images. Pass the data and the kernel itself instead of the kernel matrix."
        )


def in_domain(kernel: Kernel, found: Array) -> Array:
    """Return rows as the kernel takes them: negative numbers become 0 where it takes none."""
    return np.maximum(found, 0.0) if kernel.non_negative else found
