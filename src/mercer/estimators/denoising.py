"""Denoising rows: fit a model, project on it, and find pre-images of the projections."""

from typing import Any

from sklearn.base import clone

from mercer.arrays import Array, n_rows
from mercer.estimators.chosen import LANDMARKS, MANY_ROWS
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
from mercer.estimators.validation import check_rows
from mercer.kernels.resolve import median_gamma

_COMPONENTS = 25  # of motions in [guenter2006, sec. 5.4]; far fewer than the rows that they are learned from
_NARROWNESS = 2.0  # in gammas of the median distance: 1 was better on tables of many columns, 4 on curves


def denoise(X: Any, estimator: Any = None, *, preimage: str | None = None) -> Array:
    """Return the rows of X without their noise: fit a model, project, and find pre-images.

    It works on any rows: images, curves, frames of a motion (sec. 5.4 of [guenter2006]_). Noise that is spread over all
    directions stays outside the components; what the rows have in common is kept [mika1999]_. To clean rows that a
    model has not seen, fit the model yourself and use its `transform` and `inverse_transform`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Noisy rows.
    estimator : estimator or None, default=None
        An object with `fit`, `transform` and `inverse_transform`, from Mercer or scikit-learn. It is cloned, and not
        changed. None: `KernelPCA` with 25 components (half the number of rows for fewer than 50 rows) and a Gaussian
        kernel with gamma = 1 / m^2, where m is the median distance between rows, so that the unit of X does not matter;
        for more than 10,000 rows, `LandmarkKernelPCA` with the same settings and 512 landmarks.
    preimage : str or None, default=None
        How rows are found for scores, one of the values that the estimator's parameter `preimage` takes. None: the
        estimator's own value, or "auto" where that is a ridge regression that is not fitted
        (fit_inverse_transform=False).

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The cleaned rows, in the same order.

    Raises
    ------
    TypeError
        If `estimator` lacks one of the methods, or is a class instead of an object.
    ValueError
        If the estimator has a precomputed kernel, or if `preimage` is given and the estimator has no such parameter.

    See Also
    --------
    PatchDenoiser : Removes noise from images.
    KernelPCA : Exact kernel PCA of rows in memory.
    select : Chooses kernel, width and number of components.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.
    .. [mika1999] S. Mika, B. Schölkopf, A. Smola, K.-R. Müller, M. Scholz and G. Rätsch, Kernel PCA and de-noising in
       feature spaces, Advances in Neural Information Processing Systems 11, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> angle = np.linspace(0, 6, 200)
    >>> twice = 2 * angle
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle), np.cos(twice), np.sin(twice)])
    >>> noisy = circle + 0.2 * np.random.default_rng(0).standard_normal(circle.shape)
    >>> clean = mercer.denoise(noisy, mercer.KernelPCA(8, kernel="rbf"))
    >>> bool(((clean - circle) ** 2).mean() < 0.5 * ((noisy - circle) ** 2).mean())
    True
    """
    model = ready(default_estimator(X) if estimator is None else estimator, preimage).fit(X)
    cleaned: Array = model.inverse_transform(model.transform(X))
    return cleaned


def default_estimator(X: Any) -> KernelPCA | LandmarkKernelPCA:
    """Return the model that rows are denoised with where none is given."""
    rows = check_rows(KernelPCA(), X, reset=True)
    usual: dict[str, Any] = {"kernel": "rbf", "gamma": _NARROWNESS * median_gamma(rows), "preimage": "auto"}
    if n_rows(rows) > MANY_ROWS:
        # cleaned rows as well, up to 1 % of the noise, on digits, faces, curves and a surface
        return LandmarkKernelPCA(_COMPONENTS, landmarks=LANDMARKS, random_state=0, **usual)
    return KernelPCA(max(1, min(_COMPONENTS, n_rows(rows) // 2)), **usual)


def ready(estimator: Any, preimage: str | None = None) -> Any:
    """Return an unfitted copy of the estimator that can find pre-images; raise an error where it cannot."""
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
