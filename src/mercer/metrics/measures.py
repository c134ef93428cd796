"""Measures of models, each with the equation of the paper that introduced it.

A model is a fitted estimator or an `Expansion`. Everything is computed in float64, and kernel matrices one tile at a
time.
"""

from typing import Any

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.operator import OperatorAroundMean
from mercer.kernels.user_given import Precomputed
from mercer.metrics.centred_kernel import centred_by_model, centred_by_rows, leading_pairs
from mercer.metrics.subspaces import in_float64, orthonormal_basis, principal_angles

Model = Any  # a fitted estimator, or an Expansion

_ROUNDING = 1e-12  # relative size of a reconstruction error that is rounding and nothing else


def subspace_distance(a: Model, b: Model, n_components: int | None = None) -> float:
    """Return the distance between two models' subspaces: the root of the sum of squared principal angles.

    It is d = sqrt(sum_i theta_i^2) (eq. 36 of [chin2007]_): 0 for equal subspaces, and at most sqrt(r) pi / 2. The
    spans of the first r components are compared. If components are linearly dependent, so that one span has fewer
    dimensions, each missing dimension counts as pi / 2.

    Angles below about 1e-7 are lost in the rounding of their cosines, and larger ones where eigenvalues are small.
    For two models on the same points in the same order sines are used too: then angles down to about 1e-15 lambda_1 /
    lambda_r are measured.

    Parameters
    ----------
    a : estimator or Expansion
        A fitted model.
    b : estimator or Expansion
        Another fitted model with an equal kernel.
    n_components : int or None, default=None
        The number r of components that are compared. None: the smaller number of the two models.

    Returns
    -------
    float
        The distance, in radians.

    Raises
    ------
    ValueError
        If a model has fewer than `n_components` components, the numbers of features or the kernels differ, or a kernel
        is precomputed.

    See Also
    --------
    excess_reconstruction_error : The error beyond the smallest possible one.
    mercer.plots.distance_curves : Distances over the rows seen.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> from mercer.metrics import subspace_distance
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> exact = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    >>> half = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X[:25])
    >>> round(subspace_distance(exact, exact), 6)
    0.0
    >>> round(subspace_distance(exact, half), 2)
    0.31
    """
    first, second = _expansion(a), _expansion(b)
    _check_same_features(first, second)
    r = _common_components(first, second, n_components)
    first, second = (orthonormal_basis(model.truncated(r)) for model in (first, second))
    if first.n_components < second.n_components:
        first, second = second, first
    missing = first.n_components - second.n_components
    angles = principal_angles(first, second)
    return float(np.sqrt(np.sum(angles**2) + missing * (np.pi / 2) ** 2))


def kernel_reconstruction_error(model: Model, X: Points, scores: Array | None = None) -> float:
    """Return how well scores reproduce the centred kernel matrix of X: ``|| K' - Y Y^T ||_F``.

    It is ``E(A) = || K' - (A K')^T A K' ||_F`` (eq. 22 of [guenter2006]_), where the columns of A K' are the scores Y
    of the rows. K' is centred by the model's own mean, which for the training rows is their mean. Components that are
    not orthonormal are used as they are: this is part of the error.

    Parameters
    ----------
    model : estimator or Expansion
        A fitted model.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for a precomputed kernel the square kernel matrix of the training rows.
    scores : array-like of shape (n_samples, n_components) or None, default=None
        The scores of X. None: they are computed.

    Returns
    -------
    float
        The error; 0 for a perfect reproduction.

    Raises
    ------
    ValueError
        If X has other features than the model or contains NaN or infinity, or the model was fitted with
        ``feature_map="empirical"``, whose lengths are not those of feature space.

    See Also
    --------
    minimal_reconstruction_error : The smallest error that is possible.
    excess_reconstruction_error : The error beyond the smallest possible one.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> from mercer.metrics import kernel_reconstruction_error
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> two = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    >>> five = mercer.KernelPCA(5, kernel="rbf", gamma=0.1).fit(X)
    >>> kernel_reconstruction_error(five, X) < kernel_reconstruction_error(two, X)
    True
    """
    expansion = _in_feature_space(model)
    X = _rows(X, expansion)
    return centred_by_model(expansion, X).distance(_scores(expansion, X, scores))


def minimal_reconstruction_error(X: Points, kernel: Kernel, n_components: int, center: bool = True) -> float:
    """Return the smallest `kernel_reconstruction_error` that a model with so many components can have on X.

    It is the error of the leading eigenvectors (sec. 5 of [guenter2006]_). Its square equals
    ``||K'||_F^2 - sum_i lambda_i^2``. This difference loses digits, so the norm of what the eigenvectors leave is
    summed instead.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for `mercer.kernels.Precomputed` the square kernel matrix.
    kernel : Kernel
        A kernel object, such as `mercer.kernels.RBF(0.1)`. A fitted model has its own in `expansion_.kernel`.
    n_components : int
        The number of components, at least 1.
    center : bool, default=True
        Whether the kernel matrix is centred by the mean of X.

    Returns
    -------
    float
        The smallest possible error.

    Raises
    ------
    TypeError
        If `kernel` is not a kernel object.
    ValueError
        If X contains NaN or infinity, or `n_components` is below 1.

    See Also
    --------
    kernel_reconstruction_error : How well scores reproduce the kernel matrix.
    excess_reconstruction_error : The error beyond the smallest possible one.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import kernels, metrics
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> round(metrics.minimal_reconstruction_error(X, kernels.Linear(), 3), 6)
    0.0
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"A kernel object is needed, such as mercer.kernels.RBF(0.1); got {kernel!r}. "
            "A fitted model has its own in expansion_.kernel."
        )
    return _minimal(centred_by_rows(kernel, _rows(X), center), n_components)


def excess_reconstruction_error(model: Model, X: Points, minimal: float | None = None) -> float:
    """Return by which share the reconstruction error exceeds the smallest possible one: ``E / Emin - 1``.

    This is the measure of sec. 5 of [guenter2006]_. Where Emin is zero (K' has no higher rank than the model), the
    result is 0 for a model that reproduces K' up to rounding, and infinite for others.

    Parameters
    ----------
    model : estimator or Expansion
        A fitted model.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for a precomputed kernel the square kernel matrix of the training rows.
    minimal : float or None, default=None
        Emin, where it is known: several models can then share it. None: it is computed for the same K'.

    Returns
    -------
    float
        The excess; 0 for the best possible model.

    Raises
    ------
    ValueError
        If X has other features than the model or contains NaN or infinity, or the model was fitted with
        ``feature_map="empirical"``, whose lengths are not those of feature space.

    See Also
    --------
    kernel_reconstruction_error : How well scores reproduce the kernel matrix.
    mercer.plots.convergence : Errors over passes.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> from mercer.metrics import excess_reconstruction_error
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    >>> abs(excess_reconstruction_error(model, X)) < 1e-6
    True
    """
    expansion = _in_feature_space(model)
    X = _rows(X, expansion)
    kernel = centred_by_model(expansion, X, keep=minimal is None)
    scores = _scores(expansion, X, None)
    error = kernel.distance(scores)
    least = _minimal(kernel, expansion.n_components) if minimal is None else float(minimal)
    rounding = _ROUNDING * float(np.linalg.norm(scores.T @ scores))
    if least <= rounding:
        return 0.0 if error <= rounding else float("inf")
    return error / least - 1.0


def total_explained_variation(model: Model, X: Points, reference: Model | float | None = None) -> float:
    """Return the percentage of the explainable variation of X that the model's components explain.

    It is ``100 sum_j x~_j^T K x~_j / sum_j x_j^T K x_j`` (eq. 27 of [kim2019]_): the variation of X along the model's p
    components, relative to the largest variation that p orthogonal directions can have. X is centred by its own mean in
    feature space, whatever the model's mean is. The paper standardises X too; here the caller scales it.

    Only the subspace that the components span counts: long components, or two that point the same way, change nothing.

    Parameters
    ----------
    model : estimator or Expansion
        A fitted model with p components.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows; for a precomputed kernel the square kernel matrix of the training rows.
    reference : estimator, Expansion, float or None, default=None
        An exact kernel PCA of X with at least p components, or the largest explainable variation as a number (the
        sum of the p leading eigenvalues). None: it is computed.

    Returns
    -------
    float
        The percentage, from 0 to 100.

    Raises
    ------
    ValueError
        If X has no variation in feature space or contains NaN or infinity, the reference has fewer components than the
        model, or a model was fitted with ``feature_map="empirical"``, whose lengths are not those of feature space.

    See Also
    --------
    kernel_reconstruction_error : How well scores reproduce the kernel matrix.
    mercer.plots.spectrum : What each component explains.

    References
    ----------
    .. [kim2019] C. Kim and D. Klabjan, A simple and fast algorithm for L1-norm kernel PCA, IEEE Transactions on Pattern
       Analysis and Machine Intelligence, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> from mercer.metrics import total_explained_variation
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> exact = mercer.KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
    >>> round(total_explained_variation(exact, X), 6)
    100.0
    """
    expansion = _in_feature_space(model)
    X = _rows(X, expansion)
    explained = _variation_within(expansion, X)
    most = _explainable(expansion, X, reference)
    if most <= 0:
        raise ValueError("X has no variation in feature space, so there is nothing to explain.")
    return 100.0 * explained / most


def _common_components(a: Expansion, b: Expansion, wanted: int | None) -> int:
    """Return the number of components to compare, or fail where a model has fewer than wanted."""
    most = min(a.n_components, b.n_components)
    if wanted is None:
        return most
    if not 1 <= wanted <= most:
        raise ValueError(
            f"n_components={wanted} is out of reach: the models have {a.n_components} and {b.n_components}."
        )
    return wanted


def _check_same_features(a: Expansion, b: Expansion) -> None:
    """Fail where models have rows of different lengths; those of a precomputed kernel have none."""
    if np.ndim(a.points) == np.ndim(b.points) == 2 and a.points.shape[1] != b.points.shape[1]:
        raise ValueError(
            f"Models of rows with {a.points.shape[1]} and {b.points.shape[1]} features cannot be compared: fit both to "
            "the same columns."
        )


def _minimal(kernel: OperatorAroundMean, r: int) -> float:
    """Return the reconstruction error of the r leading eigenvectors."""
    if r < 1:
        raise ValueError(f"The number of components must be at least 1; it is {r}.")
    values, vectors = leading_pairs(kernel, r)
    # negative eigenvalues stay in the error: no Y Y^T has any
    return kernel.distance(vectors * np.sqrt(np.maximum(values, 0.0)))


def _variation_within(expansion: Expansion, X: Points) -> float:
    """Return the sum of squared lengths of the centred rows' projections onto the span."""
    if not isinstance(expansion.kernel, Precomputed):  # it has no points to compute a gram matrix from
        expansion = in_float64(expansion)
    scores = _scores(expansion, X, None)
    scores = scores - scores.mean(axis=0)
    return float(np.sum((scores @ expansion.gram_inverse) * scores))


def _explainable(expansion: Expansion, X: Points, reference: Model | float | None) -> float:
    """Return the largest variation of X along so many orthogonal directions: computed, given, or of a reference."""
    r = expansion.n_components
    if reference is None:
        values, _ = leading_pairs(centred_by_rows(expansion.kernel, X, center=True), r)
        return float(np.maximum(values, 0.0).sum())
    if isinstance(reference, int | float | np.number):
        return float(reference)
    best = _in_feature_space(reference)
    if best.n_components < r:
        raise ValueError(f"The reference has {best.n_components} components; it needs at least {r}.")
    return _variation_within(best.truncated(r), X)


def _expansion(model: Model) -> Expansion:
    """Return the expansion of a fitted model, or the model itself if it is one."""
    found = getattr(model, "expansion_", model)
    if isinstance(found, Expansion):
        return found
    raise TypeError(
        f"A fitted estimator or an Expansion is needed; got {type(model).__name__} without `expansion_`. "
        "Call fit first."
    )


def _in_feature_space(model: Model) -> Expansion:
    """Return the expansion of a fitted model, or fail where its lengths are not those of feature space."""
    found = _expansion(model)
    if found.empirical:
        raise ValueError(
            "Lengths of a model with feature_map='empirical' are those of vectors of kernel values with the landmarks, "
            "so they cannot be compared with the kernel matrix. Fit it with feature_map='whitened'."
        )
    return found


def _rows(X: Points, expansion: Expansion | None = None) -> Points:
    """Return rows of float64, checked against the model's features."""
    X = X.tocsr().astype(np.float64) if is_sparse(X) else np.asarray(X, np.float64)
    if X.ndim != 2 or X.shape[0] == 0:
        raise ValueError(f"X must be a matrix with at least one row; its shape is {X.shape}.")
    if not np.isfinite(X.data if is_sparse(X) else X).all():
        raise ValueError("X contains NaN or infinity. Fill the gaps (SimpleImputer) or drop those rows first.")
    if expansion is not None and not isinstance(expansion.kernel, Precomputed):
        wanted = expansion.points.shape[1]
        if X.shape[1] != wanted:
            raise ValueError(f"X has {X.shape[1]} features; the model was fitted on {wanted}.")
    return X


def _scores(expansion: Expansion, X: Points, scores: Array | None) -> Array:
    """Return the scores of X: computed, or those given, after a check of their shape."""
    if scores is None:
        return expansion.project(X)
    given = np.asarray(scores, np.float64)
    if given.ndim != 2 or len(given) != n_rows(X):
        raise ValueError(f"scores need one row for each of the {n_rows(X)} rows of X; got {given.shape}.")
    return given
