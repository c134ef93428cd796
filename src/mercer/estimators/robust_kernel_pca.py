"""`RobustKernelPCA`: robust kernel PCA, in which rows far from the others count little."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from mercer.arrays import Array, Points, check_kernel_values, is_sparse, n_rows
from mercer.engine.psi import PSI_NAMES, PsiRule
from mercer.errors import warn_user
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.landmark_parameter import landmark_points
from mercer.estimators.learning_warnings import slow_fit, warn_far_from_origin, warn_of_outliers
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    component_count,
    generator,
    validated,
)
from mercer.kernels.base import Kernel
from mercer.kernels.given import GivenKernel
from mercer.kernels.inner_product import Linear
from mercer.kernels.landmark_map import LandmarkMap, feature_rows
from mercer.kernels.landmarks import SELECTIONS
from mercer.kernels.threads import available_threads, row_slices
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.solvers.robust.batch import RobustFit, fit_robust, resolved, resolved_by_plain
from mercer.solvers.robust.space import FeatureRows, KernelRows, RowSpace, ShiftedRows
from mercer.solvers.robust.start import fit_from_start


class RobustKernelPCA(KernelDecomposition):
    """Robust kernel PCA: rows far from the others count little.

    A row whose image lies far from the subspace of the components counts less, or not at all, in the mean and in the
    components [huang2011]_. Weighted kernel PCA and the computation of weights from its residuals alternate until the
    weights do not change any more (eqs. 21 and 22; [huang2009]_). The fit starts from the half of the rows that agree
    best with each other, so that outliers do not get a component of their own. `weights_` tells how much each row
    counted.

    A fifth of the rows may be outliers of any kind, and up to 40 % where they lie far from all others. Outliers that
    lie close together, and not far from the other rows, got a component of their own in some runs at 30 % and in most
    runs at 40 %. Where more than half of the rows are outliers, the components follow the outliers.

    A group of less than half of the rows, such as one of several classes, cannot be told from outliers, and may get no
    weight. A warning tells where more than 40 % of the rows have a weight below one half.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, r. None: 10, or the number of rows (or landmarks) if there are fewer.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". With "precomputed", `fit` takes the square matrix of kernel values between
        all training rows, and `transform` takes those of new rows with all training rows. It is refused with landmarks,
        which need rows. A callable takes two rows and returns a number, or takes two matrices and returns the matrix of
        their kernel values. Kernel objects are in `mercer.kernels`.
    gamma : float, "median" or None, default=None
        Coefficient of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2"; other kernels ignore it. None: 1 /
        n_features. "median": 1 / (2 m^2), where m is the median distance between rows (of at most 1000 random rows).
        For "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent.
        The value in use is `gamma_`.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    psi : {"logistic", "exp", "tukey", "huber", "none"}, default="logistic"
        The loss, a function of z, which is half the squared residual of a row. The weight of a row is the derivative of
        the loss. "logistic": Psi_2 of the paper; the weight is 1 / (1 + e^(beta (z - xi))), nearly 1 below xi and
        nearly 0 above. "exp": Psi_1; e^(-beta z). "tukey": (1 - z / xi)^2, and 0 from xi on. "huber": min(1, sqrt(xi /
        z)); outliers keep some weight, so it tolerates only a few. "none": Psi_0; 1 for all rows, which is kernel PCA.
    beta : float or "auto", default="auto"
        Steepness of the loss, in units of 1 / z. "auto": 12 / (xi - median of z), with the automatic xi ("exp": an
        eighth of that; "tukey" and "huber" ignore it). The value in use is `beta_`.
    xi : float or "auto", default="auto"
        The residual z beyond which a row counts as an outlier. "auto": (m + 3 s)^3 ("tukey": 4 s), where m is the
        median and s the median absolute deviation of the cube roots of z; cube roots of squared residuals of ordinary
        rows are nearly normal. Each z is that of the row as if it were left out of the fit. The value in use is `xi_`.
        With "auto" for `beta` and `xi` the result does not depend on the scale of the kernel.
    landmarks : int, array-like of shape (n_landmarks, n_features) or None, default=None
        Work in the span of so many points, or of these points: time and memory then grow with the number of rows, not
        with its square. None: all rows.
    selection : {"auto", "uniform", "kmeans", "rpcholesky", "ald", "greedy_kpca"}, default="auto"
        How landmarks are chosen. "uniform": random rows. "kmeans": centres of k-means clusters. "rpcholesky": rows
        chosen by randomly pivoted Cholesky. "ald": rows that are not nearly a linear combination, in feature space, of
        those chosen before. "greedy_kpca": one row after the other, each the one that lowers the error of kernel PCA
        most. "auto": "kmeans" for the Gaussian kernel on dense rows, "rpcholesky" otherwise.
    init : array-like of shape (n_components, n_samples or n_landmarks) or None, default=None
        Coefficients, on centred images, of components to start from. The first weights are those of the residuals from
        their span, around the plain mean. None: the robust start.
    center : bool, default=True
        Centre in feature space. False takes the kernel as it is.
    max_iter : int, default=200
        Largest number of rounds of weighted kernel PCA after the start.
    tol : float, default=1e-4
        Stop when no weight changes by more than this. 0: never stop early.
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
    n_jobs : int or None, default=None
        Number of threads. None and -1: as many as BLAS uses; -2: one fewer, and so on.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model: kernel PCA of the rows with the weights `weights_`.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    weights_ : ndarray of shape (n_samples,)
        Weight of each row, at most 1. All are 1 where the components of `KernelPCA` hold every row exactly, as those of
        the linear kernel do where there are as many as columns.
    beta_ : float
        The value of `beta` in use.
    xi_ : float
        The value of `xi` in use.
    objective_ : ndarray
        Sum of psi(z) over the rows: one value before the first round and one per round in which psi was fixed. It never
        increases.
    n_iter_ : int
        Number of rounds, including those in which "auto" parameters were found.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the weighted covariance (the weights scaled to mean 1) times n_samples, so that they compare with
        those of `KernelPCA`.
    explained_variance_ : ndarray of shape (n_components,)
        Weighted variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the weighted total variation along each component.
    n_samples_seen_ : int
        Number of rows that the model was fitted on.
    gamma_ : float
        The value of `gamma` in use.
    n_features_in_ : int
        Number of features of the rows in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    OnlineRobustKernelPCA : Robust kernel PCA of a stream.
    L1KernelPCA : Components that maximise sums of absolute scores.
    KernelOutlierDetector : Alarms for rows without an order.
    mercer.plots.sample_weights : Weights of robust kernel PCA.

    References
    ----------
    .. [huang2011] H.-H. Huang and Y.-R. Yeh, An iterative algorithm for robust kernel principal component analysis,
       Neurocomputing 74, 2011.
    .. [huang2009] S.-Y. Huang, Y.-R. Yeh and S. Eguchi, Robust kernel principal component analysis, Neural Computation
       21, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RobustKernelPCA
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [3, 1, 0.1]
    >>> X[:5] += [0, 0, 40]
    >>> model = RobustKernelPCA(n_components=1, kernel="linear").fit(X)
    >>> bool(model.weights_[:5].max() < 0.001)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "psi": [StrOptions(set(PSI_NAMES))],
        "beta": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "xi": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "landmarks": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "selection": [StrOptions(set(SELECTIONS))],
        "init": ["array-like", None],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }
    _fitted_attributes = (
        *KernelDecomposition._fitted_attributes,
        "weights_",
        "beta_",
        "xi_",
        "objective_",
        "n_iter_",
    )

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
        landmarks: Any = None,
        selection: str = "auto",
        init: Any = None,
        center: bool = True,
        max_iter: int = 200,
        tol: float = 1e-4,
        preimage: str = "auto",
        alpha: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
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
        self.landmarks = landmarks
        self.selection = selection
        self.init = init
        self.center = center
        self.max_iter = max_iter
        self.tol = tol
        self.preimage = preimage
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the rows of X, some of which may be outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the kernel values between all training rows, a
            square matrix.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        RobustKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN or infinity, if kernel values of its rows are not finite, if a precomputed kernel matrix
            is not square, or if `init` or `landmarks` has the wrong shape.

        Warns
        -----
        SlowFitWarning
            Before the work, if there are 1000 rows or more and no landmarks.
        UserWarning
            If more components are asked for than there are rows or landmarks; if more than 40 % of the rows have a
            weight below one half (0.05 with psi="exp" or "tukey"); if the rows that count do not vary; if gamma is
            None and the kernel is too narrow for the rows; or if landmarks are used with the linear kernel and the rows
            are far from the origin.
        sklearn.exceptions.ConvergenceWarning
            If the weights still changed after `max_iter` rounds.
        """
        all_rows = self.landmarks is None and not self._precomputed
        X = self._check_training(X, copy=all_rows)
        kernel = self._make_kernel(X)
        if all_rows:
            slow_fit("The robust start and every round of the fit solve an eigenproblem of", n_rows(X))
        if self.landmarks is None:
            space: RowSpace = self._all_rows(kernel, X, X.dtype)
            r, given = self._count(n_rows(X)), self._given(n_rows(X))
        else:
            points = self._landmark_map(kernel, X)
            warn_far_from_origin(kernel, X, self.center)
            space = self._on_landmarks(points, X)
            r, given = self._count(min(points.rank, n_rows(X))), self._given(n_rows(points.points))
        may_need_float64 = all_rows and X.dtype == np.float32
        if may_need_float64 and not resolved_by_plain(space, r, self._rule):
            space, may_need_float64 = self._all_rows(kernel, X, np.float64), False
        fit = self._solve(space, r, given)
        if may_need_float64 and not resolved(space, fit.psi):
            space = self._all_rows(kernel, X, np.float64)
            fit = self._solve(space, r, given)
        self._keep(fit, space)
        self._warn_of_result()
        warn_of_outliers(self.weights_, self.eigenvalues_, self.psi)
        return self

    def _solve(self, space: RowSpace, r: int, given: Array | None) -> RobustFit:
        settings: dict[str, Any] = {"max_iter": self.max_iter, "tol": float(self.tol), "channel": self._channel()}
        if given is None:
            return fit_from_start(space, r, self._rule, **settings)
        return fit_robust(space, r, space.span(given), self._rule, **settings)

    def _keep(self, fit: RobustFit, space: RowSpace) -> None:
        self.expansion_ = space.expansion(fit.subspace)
        self.weights_, self.objective_ = fit.weights, np.array(fit.objective)
        self.beta_, self.xi_, self.n_iter_ = fit.psi.beta, fit.psi.xi, fit.n_iter
        if not fit.converged and self.tol > 0:
            warn_user(
                f"The weights still changed after max_iter={self.max_iter} rounds. Raise max_iter or tol.",
                ConvergenceWarning,
            )

    # -- rows ----------------------------------------------------------------------------------------------------

    def _all_rows(self, kernel: Kernel, X: Points, dtype: Any) -> KernelRows:
        if self._precomputed:
            source, diagonal = GivenKernel.averaged(X), np.diag(X).astype(np.float64)
            return KernelRows(kernel, np.arange(n_rows(X)), source, diagonal, self.center)
        if isinstance(kernel, Linear) and self.center and not is_sparse(X):
            return ShiftedRows(X, dtype, memory_budget(), available_threads(self.n_jobs))
        tiles = SymmetricTiles(kernel, X, dtype, memory_budget(), available_threads(self.n_jobs))
        return KernelRows(kernel, X, tiles, kernel.diagonal(X), self.center)

    def _landmark_map(self, kernel: Kernel, X: Points) -> LandmarkMap:
        rng = generator(self.random_state)
        return LandmarkMap.of(kernel, landmark_points(kernel, X, self.landmarks, self.selection, rng))

    def _on_landmarks(self, points: LandmarkMap, X: Points) -> FeatureRows:
        check_kernel_values(points.kernel.diagonal(X))
        F = feature_rows(points, X)
        missing = [points.missing(X[rows], np.asarray(F[rows])) for rows in row_slices(n_rows(X), 8 * points.rank)]
        return FeatureRows(F, np.concatenate(missing), self.center, points)

    # -- what was asked for --------------------------------------------------------------------------------------

    @property
    def _rule(self) -> PsiRule:
        return PsiRule(self.psi, self.beta, self.xi)

    def _count(self, n: int) -> int:
        return component_count(self.n_components, n)

    def _given(self, n: int) -> Array | None:
        if self.init is None:
            return None
        A: Array = check_array(self.init, dtype=np.float64, input_name="init")
        wanted = len(A) if self.n_components is None else min(n, int(self.n_components))
        if A.shape != (wanted, n):
            raise ValueError(
                f"init must be of shape ({wanted}, {n}): one row of coefficients per component; got {A.shape}."
            )
        return A
