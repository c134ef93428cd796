"""`L1KernelPCA`: kernel PCA that maximises sums of absolute scores, which outliers move less than sums of squares."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.learning_warnings import check_memory, slow_fit, slow_steps
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    MOST_COMPONENTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear
from mercer.solvers.l1.fit import SignFit, SignOptions, fit_l1
from mercer.solvers.l1.rivals import fit_linear_system, fit_projection_trick


class L1KernelPCA(KernelDecomposition):
    """Kernel PCA by the L1 norm: each component maximises the sum of absolute scores.

    Outliers move these components less than those of `KernelPCA`, which maximise the sum of squared scores [kim2019]_.
    Components are found one after the other, each in what the earlier ones leave, and stay in that order.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None: 10, or the number of rows if there are fewer. Extraction ends early when nothing is
        left: when the residual k~(x, x) of every row is below 1e-12 of the largest one at the start.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". With "precomputed", `fit` takes the square matrix of kernel values between
        all training rows, and `transform` takes those of new rows with all training rows. A callable takes two rows and
        returns a number, or takes two matrices and returns the matrix of their kernel values. Kernel objects are in
        `mercer.kernels`. The linear kernel is solved on the rows themselves, without a kernel matrix.
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
    algorithm : {"fixed_point", "projection_trick", "linear_system"}, default="fixed_point"
        "fixed_point" is Algorithm 1 of [kim2019]_. "projection_trick" is KPCA-L1 [kwak2013]_, which works on explicit
        features from an eigendecomposition and starts from the row of largest norm. "linear_system" is L1-KPCA
        [xiao2013]_, which starts from the leading eigenvector. All of them increase the objective in the same way, up
        to local maxima that can differ.
    init : {"objective", "eigen", "best"}, default="objective"
        Start of "fixed_point"; the other algorithms have their own. "objective": the row whose direction has the
        largest objective (eq. 19 of [kim2019]_). "eigen": the signs of the leading eigenvector. "best": runs from eq.
        19 and from the three leading eigenvectors, and keeps the result with the largest objective.
    refine : {"flip"} or None, default=None
        "flip" continues from the fixed point: single signs are flipped while that raises the objective.
    center : bool, default=True
        Centre in feature space. False takes the kernel as it is, as the paper does for standardised features.
    preimage : {"auto", "exact", "ridge", "mika", "kwok", "gradient"}, default="auto"
        How `inverse_transform` finds rows. "exact" inverts the feature map (linear and wavelet kernels). "mika" is a
        fixed-point iteration (Gaussian kernel). "gradient" minimises the distance in feature space (Gaussian,
        polynomial, linear, sigmoid and cosine kernels). "kwok" locates rows by their distances to neighbours (Gaussian,
        linear and polynomial kernels). "ridge" is ridge regression from scores to rows (any kernel). "auto" takes
        "exact" where it exists, else "mika" for the Gaussian kernel, "gradient" for other smooth kernels, and "ridge"
        for all others.
    alpha : float, default=1.0
        Penalty of the ridge regression with preimage="ridge"; other methods ignore it.
    n_jobs : int or None, default=None
        Number of threads. None and -1: as many as BLAS uses; -2: one fewer, and so on.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model: kernel, points, and the coefficients of the components on these points. Components are
        orthonormal in feature space.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    signs_ : ndarray of shape (n_components, n_samples)
        The sign vectors c, one per component. A sign of zero is +1.
    objective_ : ndarray of shape (n_components,)
        Sum of absolute training scores along each component (eq. 1 of [kim2019]_): sqrt(c^T K~ c), where K~ is the
        kernel matrix without the part that the earlier components explain.
    eigenvalues_ : ndarray of shape (n_components,)
        Sum of squared training scores along each component, in order of extraction: usually, but not always,
        descending.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total is the trace of the centred kernel matrix, so it
        includes directions that are not among the components.
    n_iter_ : ndarray of shape (n_components,)
        Number of sign iterations of each component.
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
    R1KernelPCA : The subspace nearest to the rows by distances that are not squared.
    RobustKernelPCA : Kernel PCA with small weights for outliers.
    KernelPCA : Exact kernel PCA of rows in memory.

    References
    ----------
    .. [kim2019] C. Kim and D. Klabjan, A simple and fast algorithm for L1-norm kernel PCA, IEEE Transactions on Pattern
       Analysis and Machine Intelligence, 2019.
    .. [kwak2013] N. Kwak, Nonlinear projection trick in kernel methods: an alternative to the kernel trick, IEEE
       Transactions on Neural Networks and Learning Systems 24, 2013.
    .. [xiao2013] Y. Xiao, H. Wang, W. Xu and J. Zhou, L1 norm based KPCA for novelty detection, Pattern Recognition 46,
       2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import L1KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = L1KernelPCA(n_components=5, kernel="rbf", gamma="median").fit(X)
    >>> model.transform(X).shape
    (1797, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "algorithm": [StrOptions({"fixed_point", "projection_trick", "linear_system"})],
        "init": [StrOptions({"objective", "eigen", "best"})],
        "refine": [StrOptions({"flip"}), None],
        "center": ["boolean"],
        "n_jobs": [None, Integral],
    }
    _fitted_attributes = (*KernelDecomposition._fitted_attributes, "signs_", "objective_", "n_iter_")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        algorithm: str = "fixed_point",
        init: str = "objective",
        refine: str | None = None,
        center: bool = True,
        preimage: str = "auto",
        alpha: float = 1.0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.algorithm = algorithm
        self.init = init
        self.refine = refine
        self.center = center
        self.preimage = preimage
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.verbose = verbose

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Extract the components of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the kernel values between all training rows, a
            square matrix.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        L1KernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN or infinity, if a precomputed kernel matrix is not square, or if "projection_trick" would
            need a larger kernel matrix than 1.75 times scikit-learn's `working_memory` setting.

        Warns
        -----
        SlowFitWarning
            Before the work, if the kernel matrix is larger than 1.75 times scikit-learn's `working_memory` setting (1
            GiB by default), so that every step computes it again, or if "projection_trick" decomposes a large one.
        UserWarning
            If the data allow fewer components than were asked for, or if gamma is None and the kernel is too narrow for
            the rows.
        """
        X = self._check_training(X, copy=True)
        kernel = self._make_kernel(X)
        if not (self._precomputed or isinstance(kernel, Linear)):
            self._tell_cost(n_rows(X), X.dtype.itemsize)
        self.expansion_, found = self._solve(kernel, X)
        self.signs_, self.objective_, self.n_iter_ = found.signs, found.objective, found.n_iter
        self._warn_of_result()
        return self

    def _tell_cost(self, n: int, bytes_per_value: int) -> None:
        """Say before the work that it takes long; raise ValueError where memory does not suffice."""
        if self.algorithm != "projection_trick":
            slow_steps(n, bytes_per_value)
            return
        check_memory("algorithm='projection_trick'", n, 8 * n * n, "Use 'fixed_point', which holds less or none of it")
        slow_fit("algorithm='projection_trick' computes all eigenvectors of", n, "'fixed_point' needs none of them.")

    def _solve(self, kernel: Kernel, X: Points) -> tuple[Expansion, SignFit]:
        r = min(X.shape[0], self.n_components or MOST_COMPONENTS)
        common: dict[str, Any] = {
            "dtype": X.dtype,
            "center": self.center,
            "n_jobs": self.n_jobs,
            "channel": self._channel(),
        }
        refine = self.refine == "flip"
        if self.algorithm == "projection_trick":
            return fit_projection_trick(kernel, X, r, refine=refine, **common)
        if self.algorithm == "linear_system":
            return fit_linear_system(kernel, X, r, refine=refine, **common)
        return fit_l1(kernel, X, r, options=SignOptions(self.init, refine), **common)

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit the model and return the scores of the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the kernel values between all training rows, a
            square matrix.
        y : None
            Ignored; present for scikit-learn's conventions.
        **params : dict
            Further arguments of `fit`; there are none, so leave it empty.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Scores of the training rows on the components.
        """
        return np.asarray(self.fit(X, **params).transform(X))
