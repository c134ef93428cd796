"""What every decomposition estimator shares: everything that follows from its expansion."""

from copy import copy
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Points
from mercer.errors import PreImageWarning, warn_user
from mercer.estimators.kernel_parameters import KernelParameters
from mercer.estimators.learning_warnings import warn_of_fewer, warn_of_narrow_kernel
from mercer.estimators.model_files import ModelFiles
from mercer.estimators.parameter_checks import ParameterChecks
from mercer.estimators.validation import check_diagonal, check_rows, check_square
from mercer.expansion.model import Expansion
from mercer.preimage.methods import Anchors, feature_residual, find_preimages, require_points

_BAD_PREIMAGE = 0.5  # of the mean squared distance from the mean
_ROUNDING = 1e-14  # relative size of squared distances from the mean that are rounding errors


class KernelDecomposition(
    KernelParameters,
    ParameterChecks,
    ModelFiles,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Base of all estimators whose fitted state is an `Expansion`.

    It gives them `transform`, `inverse_transform`, `reconstruction_error`, `save` and the attributes that follow from
    the expansion. A subclass declares its parameters and sets `expansion_` in `fit`.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model: kernel, points, and the coefficients of the components on these points.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, descending.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total is the trace of the centred kernel matrix, so it
        includes directions that are not among the components.
    n_samples_seen_ : int
        Number of rows that the model was fitted on.
    gamma_ : float
        The value of `gamma` in use.

    Examples
    --------
    >>> from mercer import KernelPCA
    >>> from mercer.estimators.base import KernelDecomposition
    >>> issubclass(KernelPCA, KernelDecomposition)
    True
    """

    expansion_: Expansion
    _fitted_attributes: tuple[str, ...] = ("expansion_", "gamma_", "n_features_in_", "feature_names_in_")

    # -- fitting -------------------------------------------------------------------------------------------------

    def _warn_of_result(self) -> None:
        """Warn after `fit` where there are fewer components than asked for, or where the kernel is too narrow."""
        self._warn_of_fewer()
        self._warn_of_narrow_kernel()

    def _warn_of_fewer(self) -> None:
        warn_of_fewer(self.n_components, self.n_components_)

    def _warn_of_narrow_kernel(self) -> None:
        if self.gamma is None and (near := self._rows_in_sight()) is not None:
            warn_of_narrow_kernel(near, self.gamma_, self.n_samples_seen_)

    def _rows_in_sight(self) -> float | None:
        """Return what the kernel values of a row with all other rows add up to, in the mean; None if it is unknown."""
        model = self.expansion_
        if model.nu is None or model.empirical or not model.kernel.unit_diagonal:
            return None
        return model.n_seen * model.mean_norm - 1.0

    def _check_training(self, X: Any, *, copy: bool) -> Points:
        """Return the rows to fit to, or with a precomputed kernel their kernel matrix; `copy` as in `check_rows`."""
        checked = check_rows(self, X, reset=True, copy=copy)
        return check_square(checked) if self._precomputed else checked

    def _check_learnable(self, X: Any, reset: bool) -> Points:
        """Return rows to learn from, for estimators that take one part of the rows after the other."""
        if self._precomputed:
            raise ValueError(
                f"{type(self).__name__} needs rows of data; a precomputed kernel has none. Pass kernel='rbf' or so."
            )
        return check_rows(self, X, reset=reset)

    def _twin(self) -> Self:
        """Return a shallow copy for a new model, whose `set_output` does not reach this one."""
        twin = copy(self)
        if hasattr(self, "_sklearn_output_config"):
            twin._sklearn_output_config = dict(self._sklearn_output_config)
        return twin

    # -- what follows from the expansion --------------------------------------------------------------------------

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the centred kernel matrix, descending; an array of shape (n_components,)."""
        return self.expansion_.eigenvalues

    @property
    def explained_variance_(self) -> Array:
        """Variance along each component, ``eigenvalues_ / (n - 1)``; an array of shape (n_components,)."""
        return self.eigenvalues_ / max(self.expansion_.n_seen - 1, 1)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the total variation along each component; an array of shape (n_components,).

        The total is the trace of the centred kernel matrix, so it includes directions that are not among the
        components.
        """
        trace = self.expansion_.trace
        return self.eigenvalues_ / trace if trace else np.zeros_like(self.eigenvalues_)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows that the model was fitted on."""
        return self.expansion_.n_seen

    @property
    def n_components_(self) -> int:
        """Number of components of the model, which can be fewer than were asked for."""
        return self.expansion_.n_components

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    if TYPE_CHECKING:  # scikit-learn's has no types

        def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
            """Fit the model and return the scores of the training rows."""

    def transform(self, X: Any) -> Array:
        """Return the scores of the rows of X on the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to project, with the features of the training rows. With kernel="precomputed": the kernel values of
            these rows with all training rows, one row of values per row of data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The scores: inner products, in feature space, of the centred rows with the components. They are float32
            where X is float32, else float64.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        check_is_fitted(self)
        return self.expansion_.project(self._check(X))

    def reconstruction_error(self, X: Any, diagonal: Array | None = None) -> Array:
        """Return each row's squared distance, in feature space, from the subspace of the components.

        It is small for rows like the training rows and large for unusual rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to judge, with the features of the training rows. With kernel="precomputed": the kernel values of these
            rows with all training rows.
        diagonal : array-like of shape (n_samples,) or None, default=None
            The values k(x, x) of the rows. Needed with kernel="precomputed"; other kernels compute them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Squared distances, at least 0.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X or `diagonal` has the wrong shape, or if `diagonal` is missing with kernel="precomputed".

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
        >>> model = KernelPCA(n_components=1).fit(X)
        >>> model.reconstruction_error([[3.0, 3.0], [2.0, 0.0]]).round(6).tolist()
        [0.0, 2.0]
        """
        check_is_fitted(self)
        X = self._check(X)
        return self.expansion_.residual(X, None if diagonal is None else check_diagonal(diagonal, X.shape[0]))

    def _check(self, X: Any) -> Points:
        return check_rows(self, X, reset=False)

    # -- pre-images ----------------------------------------------------------------------------------------------

    @overload
    def inverse_transform(self, X: Any, *, return_residual: Literal[False] = False) -> Array: ...
    @overload
    def inverse_transform(self, X: Any, *, return_residual: Literal[True]) -> tuple[Array, Array]: ...
    def inverse_transform(self, X: Any, *, return_residual: bool = False) -> Array | tuple[Array, Array]:
        """Return rows in input space whose images come close to the given scores.

        Such rows are called pre-images. The parameter `preimage`, where the class has one, chooses how they are found;
        "mika" follows [mika1999]_ and "kwok" follows [kwok2004]_. With kernel="chi2", which takes no negative numbers,
        those of the rows that are found become 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores, as `transform` returns them.
        return_residual : bool, default=False
            Return the residuals too.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            One row per row of scores.
        residual : ndarray of shape (n_samples,)
            Only with return_residual=True: squared distance, in feature space, between the image of each row and the
            point that its scores describe.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet, or if a `KernelPCA` with preimage="ridge" was fitted without
            fit_inverse_transform=True.
        ValueError
            If X has another number of columns than there are components, if the kernel is precomputed, or if the
            `preimage` method does not work with the kernel.

        Warns
        -----
        PreImageWarning
            If more than half of the residuals exceed half of the mean squared distance of the training rows from their
            mean.

        References
        ----------
        .. [mika1999] S. Mika, B. Schölkopf, A. Smola, K.-R. Müller, M. Scholz and G. Rätsch, Kernel PCA and de-noising
           in feature spaces, Advances in Neural Information Processing Systems 11, 1999.
        .. [kwok2004] J. T. Kwok and I. W. Tsang, The pre-image problem in kernel methods, IEEE Transactions on Neural
           Networks 15, 2004.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> X = np.random.default_rng(0).normal(size=(50, 3))
        >>> model = KernelPCA(n_components=3, preimage="auto").fit(X)
        >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X))
        True
        """
        check_is_fitted(self)
        require_points(self.expansion_.kernel)
        scores = self._check_scores(X)
        found = self._find_preimages(scores)
        residual = self._preimage_residual(scores, found)
        return (found, residual) if return_residual else found

    def _check_scores(self, X: Any) -> Array:
        least = min(1, self.expansion_.n_components)  # a model of equal rows has no components
        scores: Array = check_array(
            X, dtype=[np.float64, np.float32], input_name="scores", accept_sparse=False, ensure_min_features=least
        )
        if scores.shape[1] != self.expansion_.n_components:
            raise ValueError(
                f"inverse_transform needs scores with {self.expansion_.n_components} columns, as transform returns "
                f"them; got {scores.shape[1]}."
            )
        return scores

    def _anchors(self) -> Anchors:
        points = self.expansion_.points
        return Anchors(points, self.expansion_.project(points))

    def _find_preimages(self, scores: Array) -> Array:
        options = {"alpha": self.alpha} if self.preimage == "ridge" else {}
        return find_preimages(self.preimage, self.expansion_, scores, self._anchors(), **options)

    def _preimage_residual(self, scores: Array, found: Array) -> Array:
        residual = feature_residual(self.expansion_, scores, found)
        scale = (self.expansion_.trace or 0.0) / max(self.expansion_.n_seen, 1)
        longest = float(np.abs(self.expansion_.kernel.diagonal(found)).max(initial=0.0))
        scale_is_rounding = scale <= _ROUNDING * max(longest, self.expansion_.mean_norm)
        share = 0.0 if scale_is_rounding or not residual.size else float(np.mean(residual > _BAD_PREIMAGE * scale))
        if share > 0.5:
            warn_user(
                f"{share:.0%} of the pre-images are far from what they should represent: their feature-space residual "
                f"exceeds half the mean squared distance from the mean ({scale:.3g}; median residual "
                f"{np.median(residual):.3g}). Try another `preimage` method, more components or a wider kernel; "
                "return_residual=True gives the values.",
                PreImageWarning,
            )
        return residual

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
