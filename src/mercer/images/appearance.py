"""The appearance of a tracked object: patches with equal contrast, and the model that learns them."""

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA

_SLIGHTEST = 1e-6  # length of a patch, of that of one with full contrast, below which it shows nothing
_FLOOR = 0.1  # variance of a component, of the usual residual, that is taken for granted


def default_model(batch_size: int = 5, kernel: str = "linear") -> IncrementalKernelPCA:
    """Return the model of appearance of `AppearanceTracker`; kernel="rbf" is its twin with a Gaussian kernel."""
    return IncrementalKernelPCA(16, kernel=kernel, gamma=1.0, batch_size=batch_size, forgetting=0.99)


def own_copy(model: Any) -> Any:
    """Return an unfitted copy of a model, or say what it lacks."""
    for method in ("partial_fit", "reconstruction_error"):
        if not hasattr(model, method):
            raise TypeError(
                f"The model of appearance needs {method}, which {type(model).__name__} has not; "
                "IncrementalKernelPCA and LandmarkKernelPCA have it."
            )
    return clone(model)


@lru_cache(maxsize=16)
def central_weights(shape: tuple[int, int], focus: float | None) -> Array:
    """Return how much each pixel of a patch counts, (pixels,), with the sum 1: a Gaussian around the centre.

    `focus` is its standard deviation, of half the side of a patch; None: all pixels count alike.
    """
    if focus is None:
        return np.full(shape[0] * shape[1], 1.0 / (shape[0] * shape[1]))
    down, across = (np.exp(-0.5 * (((np.arange(side) + 0.5) / side * 2 - 1) / focus) ** 2) for side in shape)
    weights = np.outer(down, across).ravel()
    return np.asarray(weights / weights.sum())


def unit_contrast(patches: Array, weights: Array | None = None) -> Array:
    """Return patches, (n, pixels), without their weighted means, times the roots of the weights, and of unit length.

    Patches that show nothing are 0.
    """
    shares = np.full(patches.shape[1], 1.0 / patches.shape[1]) if weights is None else weights
    shares, patches = shares.astype(patches.dtype), _in_range(patches)
    centred = (patches - (patches @ shares)[:, None]) * np.sqrt(shares)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    nothing = lengths <= _SLIGHTEST * np.sqrt((patches**2) @ shares)[:, None]
    return np.asarray(np.where(nothing, 0.0, centred / np.where(nothing, 1.0, lengths)), patches.dtype)


def _in_range(patches: Array) -> Array:
    """Return patches whose squares neither overflow nor vanish: as they are, or divided by a power of two."""
    largest = max(float(patches.max(initial=0.0)), -float(patches.min(initial=0.0)))
    most = float(np.finfo(patches.dtype).max) ** 0.25
    if largest == 0.0 or 1.0 / most < largest < most:
        return patches
    return np.asarray(np.ldexp(patches, -int(np.frexp(largest)[1])))


def strangeness(model: Any, patches: Array, usual: float) -> Array | float:
    """Return the mean squared score in units of its variance, as large as `usual` residuals where it is one."""
    if usual <= 0 or not hasattr(model, "explained_variance_") or model.expansion_.n_components == 0:
        return 0.0
    return np.asarray(model.transform(patches) ** 2 @ score_shares(model.explained_variance_, usual))


def score_shares(variances: Array, usual: float) -> Array:
    """Return how much the squared score of each component adds to the residual, (r,); 0 if `usual` is not known yet.

    Up to scale this is the exponent of probabilistic PCA [J. Lim et al., Incremental learning for visual tracking,
    NIPS 2004]: scores y with variances lambda inside the subspace, the residual outside it.
    """
    granted = variances + _FLOOR * usual
    known = usual > 0 and len(granted) > 0 and granted.min() > 0
    return np.asarray(usual / (len(granted) * granted) if known else np.zeros(len(granted)))


def likeness(patch: Array, other: Array) -> float:
    """Return the cosine of the angle between two patches; 0 where one of them shows nothing."""
    lengths = float(np.linalg.norm(patch) * np.linalg.norm(other))
    return float(patch @ other) / lengths if lengths > 0 else 0.0
