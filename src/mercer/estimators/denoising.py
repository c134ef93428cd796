"""Denoising rows: fit a model, project on it, and come back to input space."""

from typing import Any

from sklearn.base import clone

from mercer.arrays import Array
from mercer.estimators.kernel_pca import KernelPCA

_COMPONENTS = 25  # of motions in [guenter2006, sec. 5.4]; far fewer than the rows that they are learned from


def denoise(X: Any, estimator: Any = None, *, preimage: str | None = None) -> Array:
    """Return the rows of X as a model of all of them can express them: fit, project, pre-image.

    Works on any rows: images, curves, frames of a motion [guenter2006, sec. 5.4]. Noise that is spread over all
    directions stays outside the components; what the rows have in common is kept.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Noisy rows. To clean rows that a model has not seen, fit it yourself and use its `inverse_transform(transform)`.
    estimator : estimator or None
        Anything with fit, transform and inverse_transform, from Mercer or scikit-learn. It is cloned, and not changed.
        None: `KernelPCA` with 25 components (fewer for fewer than 50 rows) and the Gaussian kernel.
    preimage : str or None
        The way back, one of those that the estimator knows. None: the estimator's own, or "auto" where that is ridge
        regression that was not asked to be fitted.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> angle = np.linspace(0, 6, 200)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)])
    >>> noisy = circle + 0.2 * np.random.default_rng(0).standard_normal(circle.shape)
    >>> clean = mercer.denoise(noisy, mercer.KernelPCA(8, kernel="rbf"))
    >>> bool(((clean - circle) ** 2).mean() < 0.5 * ((noisy - circle) ** 2).mean())
    True
    """
    rows = len(X) if not hasattr(X, "shape") else X.shape[0]
    model = ready(default_estimator(rows) if estimator is None else estimator, preimage).fit(X)
    cleaned: Array = model.inverse_transform(model.transform(X))
    return cleaned


def default_estimator(n_rows: int) -> KernelPCA:
    """Return the model that rows are denoised with where none is given."""
    return KernelPCA(max(1, min(_COMPONENTS, n_rows // 2)), kernel="rbf", preimage="auto")


def ready(estimator: Any, preimage: str | None = None) -> Any:
    """Return an unfitted copy of the estimator that will find pre-images, or say why it cannot."""
    missing = [name for name in ("fit", "transform", "inverse_transform", "get_params") if not hasattr(estimator, name)]
    if missing or isinstance(estimator, type):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else repr(estimator)
        raise TypeError(
            f"Denoising needs an estimator object with fit, transform and inverse_transform; got {what}. "
            "Pass for example mercer.KernelPCA(25, kernel='rbf')."
        )
    model = clone(estimator)
    known = model.get_params()
    if known.get("kernel") == "precomputed":
        raise ValueError("Denoising needs the rows themselves; kernel='precomputed' has no way back to them.")
    if preimage is not None and "preimage" not in known:
        raise ValueError(f"{type(model).__name__} has no choice of pre-images; leave preimage=None.")
    unfitted_ridge = known.get("preimage") == "ridge" and known.get("fit_inverse_transform") is False
    if preimage is None and unfitted_ridge:
        return model.set_params(preimage="auto")
    if preimage is not None:
        model.set_params(preimage=preimage)
        if preimage == "ridge" and "fit_inverse_transform" in known:
            model.set_params(fit_inverse_transform=True)
    return model
