"""`OnlineRobustKernelPCA`: kernel PCA of a stream with outliers in it."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Points
from mercer.engine.psi import PSI_NAMES
from mercer.errors import warn_user
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.chunked_rows import is_chunked, refuse_chunks
from mercer.estimators.learning_warnings import warn_far_from_origin, warn_of_outliers
from mercer.estimators.merging import check_mergeable
from mercer.estimators.online_robust_learning import OnlineLearning, OnlinePlan
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    MOST_COMPONENTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    generator,
    validated,
)
from mercer.expansion.empirical import in_feature_space
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.landmarks import SELECTIONS
from mercer.preimage.methods import Anchors, feature_residual, find_preimages
from mercer.solvers.robust.online import FEATURE_MAPS, UPDATES, OnlineOptions
from mercer.solvers.robust.online_run import Space

_ENOUGH_ROWS = 20  # after the warm-up, of which it can be told whether most are left out


class OnlineRobustKernelPCA(KernelDecomposition):
    """Robust kernel PCA of a stream: rows are read once, and rows far from the others count little.

    Each row gets a weight psi'(z), which is smaller the farther the row lies from the components so far, and changes
    mean and components in proportion to this weight [huang2011]_. The first rows, up to `warm_up`, are learned together
    by the robust start of `RobustKernelPCA`, so that outliers among them are found; after them every row is read once.
    Memory does not grow with the number of rows.

    A group of less than half of the rows, such as one of several classes, cannot be told from outliers, and may get no
    weight. `fit` warns where more than 40 % of the rows after the warm-up have a weight below one half.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, r. None: 10, or what the landmarks allow if that is less.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". "precomputed" is refused: the model keeps points, and a kernel matrix has
        none. A callable takes two rows and returns a number, or takes two matrices and returns the matrix of their
        kernel values. Kernel objects are in `mercer.kernels`.
    gamma : float, "median" or None, default=None
        Coefficient of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2"; other kernels ignore it. None: 1 /
        n_features. "median": 1 / (2 m^2), where m is the median distance between rows (of at most 1000 random rows).
        For "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent.
        The value in use is `gamma_`. In `partial_fit`, "median" looks only at the rows of the warm-up.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    psi : {"logistic", "exp", "huber", "tukey", "none"}, default="logistic"
        The loss, a function of z, which is half the squared distance of a row from the components. The weight of a row
        is the derivative of the loss. "logistic": 1 / (1 + e^(beta (z - xi))), nearly 1 below xi and nearly 0 above.
        "exp": e^(-beta z). "tukey": (1 - z / xi)^2, and 0 from xi on. "huber": min(1, sqrt(xi / z)). "none": 1 for all
        rows. Where z is negative, which happens only with safeguard=False, "tukey" and "huber" are 1.
    beta : float or "auto", default="auto"
        Steepness of the loss, in units of 1 / z. "auto" follows the last 100 residuals; with `init` the first rows, at
        least 20, have the weight 1. The value in use is `beta_`.
    xi : float or "auto", default="auto"
        The value of z beyond which a row counts as an outlier. "auto" follows the last 100 residuals; with `init` the
        first rows, at least 20, have the weight 1. The value in use is `xi_`.
    update : {"svd", "ccipca", "hebbian"}, default="svd"
        "svd" carries the 2 r leading directions of the weighted covariance and merges `block_size` rows at a time, with
        the weights that the model before them gives. "ccipca" moves each component by the weighted rule of candid
        covariance-free PCA [weng2003]_, row by row. "hebbian" is Algorithm 1 of [huang2011]_.
    feature_map : {"whitened", "empirical"}, default="whitened"
        "whitened" works in feature space, projected on the landmarks, and adds to z what the landmarks miss of a row.
        "empirical" works with the vectors h = k(landmarks, x) and their own metric, as the paper does.
    landmarks : int, array-like of shape (n_landmarks, n_features) or None, default=None
        The points that span the components; an int chooses so many, in `partial_fit` from the first rows. None:
        256, or all rows where there are fewer.
    selection : {"auto", "uniform", "kmeans", "rpcholesky", "ald", "greedy_kpca"}, default="auto"
        How landmarks are chosen. "uniform": random rows. "kmeans": centres of k-means clusters. "rpcholesky": rows
        chosen by randomly pivoted Cholesky. "ald": rows that are not nearly a linear combination, in feature space, of
        those chosen before. "greedy_kpca": one row after the other, each the one that lowers the error of kernel PCA
        most. "auto": "kmeans" for the Gaussian kernel on dense rows, "rpcholesky" otherwise.
    init : tuple (mu, Gamma) or None, default=None
        Mean, of shape (n_landmarks,), and components, of shape (n_landmarks, n_components), at the start: vectors like
        h with feature_map="empirical", coefficients on the landmarks with "whitened". There is no warm-up then, and t
        counts from 1. With "svd" and "ccipca" they only give the weights of the first rows. None: the robust start.
    safeguard : bool, default=True
        Only for "hebbian". True: z is a true distance, never negative; gains fit the scale of the data and are bounded.
        False is the paper to the letter: gain 1 / t and transform(x) = Gamma^T (h - mu), neither sorted nor
        orthonormal. It diverges where kernel values are large; then a warning says so and the last good state is kept.
    block_size : int, default=32
        Number of rows that are computed together. Only with "svd" does the result depend on it.
    warm_up : int, default=60
        Number of different rows of the robust start. It is raised to 3 r if that is more, and to the number of rows
        that landmarks are chosen from. Where rows repeat, the start is over after ten times as many rows.
    preimage : {"auto", "exact", "ridge", "mika", "kwok", "gradient"}, default="auto"
        How `inverse_transform` finds rows. "exact" inverts the feature map (linear and wavelet kernels). "mika" is a
        fixed-point iteration (Gaussian kernel). "gradient" minimises the distance in feature space (Gaussian,
        polynomial, linear, sigmoid and cosine kernels). "kwok" locates rows by their distances to neighbours (Gaussian,
        linear and polynomial kernels). "ridge" is ridge regression from scores to rows (any kernel). "auto" takes
        "exact" where it exists, else "mika" for the Gaussian kernel, "gradient" for other smooth kernels, and "ridge"
        for all others.
    alpha : float, default=1.0
        Penalty of the ridge regression with preimage="ridge"; other methods ignore it.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for the choice of landmarks. Pass an int to get the same landmarks in each call.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The model of the rows so far: kernel, points, and the coefficients of the components on these points.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    weights_ : ndarray
        Weights of the rows of the last call, one per row.
    beta_ : float
        The value of `beta` in use.
    xi_ : float
        The value of `xi` in use.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the weighted covariance times the number of rows.
    explained_variance_ : ndarray of shape (n_components,)
        Weighted variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the weighted total variation along each component.
    n_samples_seen_ : int
        Number of rows seen so far.
    gamma_ : float
        The value of `gamma` in use.
    n_features_in_ : int
        Number of features of the rows in `fit`, or in the first call of `partial_fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    RobustKernelPCA : Kernel PCA with small weights for outliers.
    LandmarkKernelPCA : Kernel PCA of streams and large tables, on landmarks.
    mercer.plots.cosine_paths : How components approach the true ones.

    References
    ----------
    .. [huang2011] H.-H. Huang and Y.-R. Yeh, An iterative algorithm for robust kernel principal component analysis,
       Neurocomputing 74, 2011.
    .. [weng2003] J. Weng, Y. Zhang and W.-S. Hwang, Candid covariance-free incremental principal component analysis,
       IEEE Transactions on Pattern Analysis and Machine Intelligence 25, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OnlineRobustKernelPCA
    >>> X = np.random.default_rng(0).normal(size=(500, 5)) * [3, 2, 1, 1, 1]
    >>> X[::20] += 30
    >>> model = OnlineRobustKernelPCA(2, kernel="linear", landmarks=50)
    >>> for rows in np.split(X, 5):
    ...     _ = model.partial_fit(rows)
    >>> bool(model.weights_[::20].max() < 0.01)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "psi": [StrOptions(set(PSI_NAMES))],
        "beta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "xi": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "update": [StrOptions(set(UPDATES))],
        "feature_map": [StrOptions(set(FEATURE_MAPS))],
        "landmarks": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "selection": [StrOptions(set(SELECTIONS))],
        "init": [tuple, list, None],
        "safeguard": ["boolean"],
        "block_size": [Interval(Integral, 1, None, closed="left")],
        "warm_up": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _fitted_attributes = (*KernelDecomposition._fitted_attributes, "weights_", "beta_", "xi_")

    _learning = OnlineLearning()  # replaced before it changes

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        psi: str = "logistic",
        beta: float | str = "auto",
        xi: float | str = "auto",
        update: str = "svd",
        feature_map: str = "whitened",
        landmarks: Any = None,
        selection: str = "auto",
        init: Any = None,
        safeguard: bool = True,
        block_size: int = 32,
        warm_up: int = 60,
        preimage: str = "auto",
        alpha: float = 1.0,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.psi = psi
        self.beta = beta
        self.xi = xi
        self.update = update
        self.feature_map = feature_map
        self.landmarks = landmarks
        self.selection = selection
        self.init = init
        self.safeguard = safeguard
        self.block_size = block_size
        self.warm_up = warm_up
        self.preimage = preimage
        self.alpha = alpha
        self.random_state = random_state
        self.verbose = verbose

    # -- learning ------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and read the rows of X once, in order.

        Landmarks are chosen among all rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        OnlineRobustKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity or comes in chunks, or if `init` or `landmarks`
            has the wrong shape.

        Warns
        -----
        UserWarning
            If more components are asked for than the landmarks allow; if more than 40 % of the rows after the warm-up
            have a weight below one half (0.05 with psi="exp" or "tukey"); if the rows that count do not vary; or if
            gamma is None and the kernel is too narrow for the rows.
        sklearn.exceptions.ConvergenceWarning
            If learning diverged. The last good state is kept.
        """
        if is_chunked(X):
            raise ValueError(
                "fit needs all rows at once; X is an iterator or the name of a file. Pass each chunk of rows to "
                "partial_fit."
            )
        X = check_rows(self, X, reset=True)
        self._learning = OnlineLearning()
        self._learn(X, self._space(X))
        self._warn_of_result()
        later = self.weights_[self._plan().rows_to_wait_for(chosen=True) :]  # the warm-up is strict on purpose
        if len(later) >= _ENOUGH_ROWS:
            warn_of_outliers(later, self.eigenvalues_, self.psi)
        return self

    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Read the rows of X once, in order, and continue from the present state of the model.

        Until there are enough different rows for landmarks and warm-up, the model is preliminary: it is the robust
        start of the rows so far, computed again each time that they have grown by a quarter, with fewer components
        where there are fewer rows. Where rows repeat, this ends after ten times as many rows. From then on the result
        does not depend on how the stream is cut into calls. A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further rows, dense or CSR. Later calls need the same features as the first one.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        OnlineRobustKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity or has other features than the first rows, or if
            `init` or `landmarks` has the wrong shape.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If learning diverged. The last good state is kept.
        UserWarning
            If more components are asked for than the landmarks allow. It comes once, when the warm-up is over, and says
            so if many of the first rows are the same.
        """
        refuse_chunks(X)
        first = not hasattr(self, "expansion_")
        X = check_rows(self, X, reset=first)
        self._learning = replace(self._learning)
        self._learn(X)
        return self

    def _space(self, X: Points) -> Space:
        """Return the coordinates of rows on landmarks, chosen among the rows of X where none are given."""
        kernel = self._make_kernel(X)
        require_rows(kernel)
        warn_far_from_origin(kernel, X, center=True)
        return self._plan().space(kernel, X, generator(self.random_state))

    def _learn(self, X: Points, space: Space | None = None) -> None:
        """Learn rows; `space` is given where the landmarks were chosen before the warm-up."""
        self.weights_, learned = self._learning.learn(X, self._plan(), self._space, self._channel(), space)
        run = self._learning.run
        assert run is not None
        self.expansion_, self.beta_, self.xi_ = run.expansion(), run.state.beta, run.state.xi
        if not learned:
            self._warn_diverged()

    def _warn_diverged(self) -> None:
        advice = "Use safeguard=True" if self.update == "hebbian" and not self.safeguard else "Rescale the data"
        warn_user(
            "Learning diverged: numbers left their range. The last good state is kept, and the rows from there on were "
            f"not learned (weight 0). {advice}, or update='svd'.",
            ConvergenceWarning,
        )

    # -- merging -------------------------------------------------------------------------------------------------

    def merge(self, other: "OnlineRobustKernelPCA") -> Self:
        """Return the model of the rows of this one and of another.

        Both models stay as they are. Each row keeps the weight that it was given by its own model, so the result is not
        exactly that of one model for all rows. Both need the same landmarks: the same array as `landmarks`. A model
        with fewer rows than its warm-up holds these, and the other one learns them.

        Parameters
        ----------
        other : OnlineRobustKernelPCA
            A fitted model with the same kernel, landmarks and options, and update="svd".

        Returns
        -------
        OnlineRobustKernelPCA
            A new model of the rows of both.

        Raises
        ------
        TypeError
            If `other` is not an OnlineRobustKernelPCA.
        ValueError
            If the models differ in features, kernel, landmarks or options, or if `update` is not "svd".
        sklearn.exceptions.NotFittedError
            If a model is not fitted yet.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import OnlineRobustKernelPCA
        >>> X = np.random.default_rng(0).normal(size=(400, 3))
        >>> options = {"gamma": 0.1, "landmarks": X[:30]}
        >>> parts = [OnlineRobustKernelPCA(2, **options).fit(X[i::2]) for i in (0, 1)]
        >>> parts[0].merge(parts[1]).n_samples_seen_
        400
        """
        check_is_fitted(self)
        check_mergeable(self, other, OnlineRobustKernelPCA)
        result = self._twin()
        result._learning = self._learning.merged(other._learning, self._plan(), self._channel())
        run = result._learning.run
        assert run is not None
        result.weights_ = np.concatenate([self.weights_, other.weights_])
        result.expansion_, result.beta_, result.xi_ = run.expansion(), run.state.beta, run.state.xi
        return result

    # -- pre-images ----------------------------------------------------------------------------------------------

    def _find_preimages(self, scores: Array) -> Array:
        model, mapped = in_feature_space(self.expansion_, scores)
        options = {"alpha": self.alpha} if self.preimage == "ridge" else {}
        anchors = Anchors(model.points, model.project(model.points))
        return find_preimages(self.preimage, model, mapped, anchors, **options).astype(scores.dtype, copy=False)

    def _preimage_residual(self, scores: Array, found: Array) -> Array:
        if self.expansion_.empirical:
            return feature_residual(*in_feature_space(self.expansion_, scores), found)
        return super()._preimage_residual(scores, found)

    # -- files ---------------------------------------------------------------------------------------------------

    def _plan(self) -> OnlinePlan:
        """Return how to learn, in the terms of the solver."""
        most = MOST_COMPONENTS if self.n_components is None else int(self.n_components)
        beta, xi = (value if isinstance(value, str) else float(value) for value in (self.beta, self.xi))
        safeguard, block_size = bool(self.safeguard), int(self.block_size)
        options = OnlineOptions(most, self.update, self.psi, beta, xi, safeguard, block_size)
        parts = (self.n_components, self.landmarks, self.selection, self.feature_map, self.init, self.warm_up)
        return OnlinePlan(*parts, options)

    def _saved_state(self) -> dict[str, Any]:
        return {**super()._saved_state(), "learning": self._learning.saved()}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        self._learning = OnlineLearning.restored(self.expansion_, self._plan(), state["learning"])
