"""`R1KernelPCA`: kernel PCA whose subspace is nearest to the rows by distances that are not squared."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

from mercer.arrays import is_sparse, n_rows
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.learning_warnings import slow_steps
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    MOST_COMPONENTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    validated,
)
from mercer.kernels.inner_product import Linear
from mercer.solvers.l1.r1 import R1Options, fit_r1


class R1KernelPCA(KernelDecomposition):
    """Rotation-invariant L1-norm PCA with kernels: the subspace nearest to the rows by unsquared distances.

    Rows far from the subspace count by their distance, near rows by its square (Huber's function; the border is the
    median distance from the subspace of ordinary kernel PCA) [ding2006]_. The subspace is found as a whole; its
    components are sorted as those of `KernelPCA`.

    Parameters
    ----------
    n_components : int or None, default=None
        Dimension of the subspace. None: 10, or the number of rows if there are fewer.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". With "precomputed", `fit` takes the square matrix of kernel values between
        all training rows, and `transform` takes those of new rows with all training rows. A callable takes two rows and
        returns a number, or takes two matrices and returns the matrix of their kernel values. Kernel objects are in
        `mercer.kernels`.
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
    center : bool, default=True
        Centre in feature space. False takes the kernel as it is.
    max_iter : int, default=1000
        Largest number of steps of the subspace iteration.
    tol : float, default=1e-6
        Stop when a step turns the subspace by no more than this angle (in radians). 0: never stop early, except where
        rounding is reached: a step that would raise the objective is the last one.
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
    eigenvalues_ : ndarray of shape (n_components,)
        Sum of squared training scores along each component, descending.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total is the trace of the centred kernel matrix, so it
        includes directions that are not among the components.
    weights_ : ndarray of shape (n_samples,)
        Weight of each row: 1 for near rows, less for outliers.
    cutoff_ : float
        The distance beyond which rows lose weight.
    objective_ : ndarray
        Sum of Huber's function of the distances: one value before the first step and one per step that was taken. It
        never increases by more than rounding: a step that would raise it is not taken, and ends the fit.
    n_iter_ : int
        Number of steps, with the one that was not taken.
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
    L1KernelPCA : Components that maximise sums of absolute scores.
    RobustKernelPCA : Kernel PCA with small weights for outliers.
    KernelPCA : Exact kernel PCA of rows in memory.

    References
    ----------
    .. [ding2006] C. Ding, D. Zhou, X. He and H. Zha, R1-PCA: rotational invariant L1-norm principal component analysis
       for robust subspace factorization, International Conference on Machine Learning, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import R1KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [3, 1, 0.1]
    >>> X[:5] += [0, 0, 15]
    >>> model = R1KernelPCA(n_components=1, kernel="linear").fit(X)
    >>> model.transform(X).shape
    (100, 1)
    >>> bool(model.weights_[:5].max() < 0.2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
    }
    _fitted_attributes = (
        *KernelDecomposition._fitted_attributes,
        "weights_",
        "cutoff_",
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
        center: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-6,
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
        self.center = center
        self.max_iter = max_iter
        self.tol = tol
        self.preimage = preimage
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.verbose = verbose

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the subspace that is nearest to the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the kernel values between all training rows, a
            square matrix.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        R1KernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN or infinity, if a precomputed kernel matrix is not square, or if kernel values are above
            1e140 or all below 1e-140.

        Warns
        -----
        SlowFitWarning
            Before the work, if the kernel matrix is larger than 1.75 times scikit-learn's `working_memory` setting (1
            GiB by default), so that every step computes it again.
        UserWarning
            If the rows allow fewer components than were asked for, or if gamma is None and the kernel is too narrow for
            the rows.
        sklearn.exceptions.ConvergenceWarning
            If the subspace still moved when `max_iter` or rounding ended the steps.
        """
        X = self._check_training(X, copy=True)
        kernel = self._make_kernel(X)
        if not (self._precomputed or (isinstance(kernel, Linear) and not is_sparse(X))):
            slow_steps(n_rows(X), 8)
        self.expansion_, found = fit_r1(
            kernel,
            X,
            min(X.shape[0], self.n_components or MOST_COMPONENTS),
            dtype=X.dtype,
            options=R1Options(self.max_iter, float(self.tol)),
            center=self.center,
            n_jobs=self.n_jobs,
            channel=self._channel(),
        )
        self.weights_, self.cutoff_ = found.weights, found.cutoff
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        self._warn_of_result()
        return self
