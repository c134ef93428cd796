"""The appearance of a tracked object: patches with equal contrast, and the model that learns them."""

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.arrays import Array
from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA

_SLIGHTEST = 1e-6  # length of a patch, of that of one with full contrast, below which it shows nothing


def default_model(batch_size: int = 5, kernel: str = "rbf") -> IncrementalKernelPCA:
    """Return the model of appearance of `AppearanceTracker`; kernel="linear" is its twin without a kernel."""
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


def unit_contrast(patches: Array) -> Array:
    """Return patches, (n, pixels), without their means and of unit length; those that show nothing are 0."""
    centred = patches - patches.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    nothing = lengths <= _SLIGHTEST * np.linalg.norm(patches, axis=1, keepdims=True)
    return np.asarray(np.where(nothing, 0.0, centred / np.where(nothing, 1.0, lengths)))
