"""`KernelPCA`: exact kernel PCA, a drop-in for scikit-learn's class that holds half the matrix or none of it."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray, Points, is_mapped, is_sparse, n_rows
from mercer.criteria.hidden_cells import predicted_share
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.learning_warnings import slow_pairs, warn_of_fewer
from mercer.estimators.self_selection import selected, wants_selection
from mercer.estimators.validation import (
    COMPONENTS,
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    validated,
)
from mercer.expansion.part_model import PartModel
from mercer.kernels.base import Kernel
from mercer.preimage.anchors import Anchors
from mercer.preimage.methods import in_domain
from mercer.preimage.ridge import RidgeMap, score_kernel
from mercer.solvers.exact.eigen import EigenOptions
from mercer.solvers.exact.fit import ExactPlan, Fit, fit_exact
from mercer.solvers.exact.parts import fit_with_parts
from mercer.solvers.exact.primal import has_few_features

_MIXED_TOL = 1e-6  # what float32 tiles with float64 sums deliver


def _has_rows(estimator: Any) -> bool:
    """Tell whether there are rows whose cells can be hidden; scikit-learn shows `score` only then."""
    if estimator._precomputed:
        raise AttributeError("score hides cells of rows; with kernel='precomputed' there are no rows.")
    return True


class KernelPCA(KernelDecomposition):
    """Kernel principal component analysis, exact and without the whole kernel matrix in memory.

    It takes every parameter of `sklearn.decomposition.KernelPCA` with the same meaning [scholkopf1998]_ and adds some.
    For more rows than this class can handle use `LandmarkKernelPCA`; for rows among which are outliers use
    `RobustKernelPCA`.

    Parameters
    ----------
    n_components : int, float in (0, 1), "select" or None, default=None
        Number of components. A float asks for as many components as explain that share of the total variation.
        "select": from 1 to 64, as many as predict hidden cells best, as in `mercer.select`; with the kernels "rbf" and
        "linear". None: all components with a positive eigenvalue.
    kernel : str, callable or kernel object, default="linear"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". With "precomputed", `fit` takes the square matrix of kernel values between
        all training rows, and `transform` takes those of new rows with all training rows. A callable takes two rows and
        returns a number, or takes two matrices and returns the matrix of their kernel values. Kernel objects are in
        `mercer.kernels`.
    gamma : float, "median", "select" or None, default=None
        Coefficient of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2"; other kernels ignore it. None: 1 /
        n_features. "median": 1 / (2 m^2), where m is the median distance between rows (of at most 1000 random rows).
        For "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent.
        "select": from 1/64 to 64 times the median one, the value by which hidden cells are predicted best, as in
        `mercer.select`; only with the kernel "rbf". The value in use is `gamma_`.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    center : bool, default=True
        Centre in feature space. False takes the kernel as it is: components are the eigenvectors of K itself, and
        `reconstruction_error` is the distance from a subspace through the origin.
    alpha : float, default=1.0
        Penalty of the ridge regression with preimage="ridge"; other methods ignore it.
    fit_inverse_transform : bool, default=False
        Fit the ridge regression from scores to rows, which `inverse_transform` needs with preimage="ridge". Other
        values of `preimage` do not need it. The regression compares scores by the kernel of the model, or by a Gaussian
        kernel of median width with kernel="chi2", which takes no negative numbers.
    eigen_solver : {"auto", "dense", "arpack", "randomized", "krylov"}, default="auto"
        How eigenvectors are computed. "dense" is LAPACK on the whole matrix, or, if all components are wanted and few
        of them are not zero, within their space. "arpack" is the Lanczos method of ARPACK, and where that misses copies
        of an eigenvalue, "krylov". "krylov" is a block Krylov method that multiplies by the centred kernel matrix in
        tiles and never holds it whole: half of it is kept if that takes at most 1.75 times scikit-learn's
        `working_memory` setting (1 GiB by default), none of it otherwise. "randomized" is the same iteration; it
        selects eigenvalues by modulus and stops after `iterated_power` iterations if that is a number.
        "auto" takes singular values of rows ("svd") where the kernel is "linear", "cosine" or "wavelet" and features
        are few; Lanczos steps on the whole matrix ("lanczos") or "dense" up to 1000 rows, and "lanczos" up to 1800 for
        up to 16 components of a positive kernel; "dense" where more than an eighth of all components are wanted; and
        "krylov" otherwise.
    tol : float, default=0
        Largest residual norm ``|K' v - lambda v|``, relative to the largest eigenvalue, that "krylov" accepts. 0 means
        working precision: 1e-9, where eigenvalues are exact to rounding. For "arpack" it has the meaning that ARPACK
        gives it.
    max_iter : int or None, default=None
        Largest number of steps of "krylov" and "arpack". None: the solver's own limit.
    iterated_power : int or "auto", default="auto"
        Number of power iterations of "randomized", with two products each as in scikit-learn. "auto": until it
        converges.
    remove_zero_eig : bool, default=False
        Drop components whose eigenvalue is zero. With n_components=None they are dropped in any case.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the start vectors of "arpack", "randomized" and "krylov". None: always the same start.
    copy_X : bool, default=True
        Keep a copy of the training rows. False keeps the array itself, which then must not be changed after `fit`. An
        array of rows that is mapped from a file (`numpy.memmap`) is never copied; the file must stay as it is.
    n_jobs : int or None, default=None
        Number of threads. None and -1: as many as BLAS uses; -2: one fewer, and so on.
    precision : {"auto", "float64", "mixed"}, default="auto"
        Precision of kernel values. "mixed" computes them in float32 and sums in float64: this is twice as fast, and
        eigenvalues are wrong by at most 1e-6 of the largest (usually 1e-7; up to 3e-6 were seen where rows form
        hundreds of groups of equal rows). Before the fit, this is tested on some rows: where float32 cannot keep it, as
        for a very wide Gaussian kernel, kernel values are float64 nevertheless. "auto" is "mixed" if `tol` is at least
        1e-6 or the rows are float32, else "float64". The precision used is `precision_`.
    preimage : {"ridge", "auto", "exact", "mika", "kwok", "gradient"}, default="ridge"
        How `inverse_transform` finds rows. "ridge" is ridge regression from scores to rows as in scikit-learn (any
        kernel); it needs fit_inverse_transform=True. "exact" inverts the feature map (linear and wavelet kernels).
        "mika" is a fixed-point iteration (Gaussian kernel). "gradient" minimises the distance in feature space
        (Gaussian, polynomial, linear, sigmoid and cosine kernels). "kwok" locates rows by their distances to neighbours
        (Gaussian, linear and polynomial kernels). "auto" takes "exact" where it exists, else "mika" for the Gaussian
        kernel, "gradient" for other smooth kernels, and "ridge" for all others; it does not need fit_inverse_transform.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model: kernel, points, and the coefficients of the components on these points.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, descending.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Eigenvectors of the centred kernel matrix, of unit length.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total is the trace of the centred kernel matrix, so it
        includes directions that are not among the components.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows; for a precomputed kernel their numbers.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the ridge regression. Only with fit_inverse_transform=True and preimage="ridge".
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Scores of the training rows. Only with fit_inverse_transform=True and preimage="ridge".
    solver_ : str
        The eigensolver that ran: "dense", "lanczos", "arpack", "krylov" or "svd".
    n_iter_ : int
        Number of steps that the eigensolver took.
    precision_ : {"float64", "float32"}
        The precision in which kernel values were computed.
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
    LandmarkKernelPCA : Kernel PCA of streams and large tables, on landmarks.
    RobustKernelPCA : Kernel PCA with small weights for outliers.
    select : Chooses kernel, width and number of components.
    mercer.plots.scores : Rows by two components.

    References
    ----------
    .. [scholkopf1998] B. Schölkopf, A. Smola and K.-R. Müller, Nonlinear component analysis as a kernel eigenvalue
       problem, Neural Computation 10, 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = KernelPCA(n_components=7, kernel="rbf", gamma="median").fit(X)
    >>> model.transform(X).shape
    (1797, 7)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [*COMPONENTS, StrOptions({"select"})],
        "gamma": [*KERNEL_CONSTRAINTS["gamma"], StrOptions({"select"})],
        "center": ["boolean"],
        "fit_inverse_transform": ["boolean"],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized", "krylov"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [None, Integral],
        "precision": [StrOptions({"auto", "float64", "mixed"})],
    }
    _fitted_attributes = (
        *KernelDecomposition._fitted_attributes,
        "eigenvectors_",
        "dual_coef_",
        "X_transformed_fit_",
        "solver_",
        "n_iter_",
        "precision_",
    )

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        center: bool = True,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        precision: str = "auto",
        preimage: str = "ridge",
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.center = center
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.precision = precision
        self.preimage = preimage
        self.verbose = verbose

    @property
    def X_fit_(self) -> Points:  # noqa: N802 - scikit-learn's name
        """Training rows of the model; for a precomputed kernel their numbers."""
        return self.expansion_.points

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the kernel values between all training rows, a
            square matrix.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        KernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN or infinity, if a precomputed kernel matrix is not square, or if
            fit_inverse_transform=True is used with a precomputed kernel.
        NotImplementedError
            If fit_inverse_transform=True and preimage="ridge" are used with sparse rows.

        Warns
        -----
        UserWarning
            If more components are asked for than there are rows, or if gamma is None and the kernel is too narrow for
            the rows: the kernel values of a row with all others add up to less than that with itself.
        sklearn.exceptions.ConvergenceWarning
            If "krylov" stopped before it reached `tol`.
        SlowFitWarning
            Before the work, if more than an eighth of the eigenvectors of 5,000 rows or more are computed, as with
            n_components=None, or if 200,000 rows or more are compared with each other.
        IndefiniteKernelWarning
            If the kernel matrix has negative eigenvalues outside the components.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit the model and return the scores of the training rows.

        The scores follow from the eigenvectors, so this is faster than `fit` and then `transform`.

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
        self.fit(X, **params)
        return self._training_scores().astype(self._output_dtype, copy=False)

    @available_if(_has_rows)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variation of hidden cells that the model predicts; higher is better.

        A fifth of the cells of each row is hidden, always the same ones for a given shape of X, and predicted from the
        other cells by projection and pre-image. In contrast to errors in feature space this can be compared between
        kernels, and too many components make it worse; so `cross_val_score` and `GridSearchCV` can choose kernel, gamma
        and n_components. It is meaningful for rows that the model was not fitted to.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, with the features of the training rows.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        float
            1 if all hidden cells are predicted exactly, 0 if as well as by the means of the training rows, negative if
            worse.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        TypeError
            If X or the training rows are sparse.
        AttributeError
            If the kernel is precomputed: there are no rows whose cells could be hidden.
        ValueError
            If there is only one feature, or if X does not match the training rows.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.model_selection import cross_val_score
        >>> from mercer import KernelPCA
        >>> model = KernelPCA(2, kernel="rbf", gamma="median")
        >>> bool(cross_val_score(model, load_iris().data).mean() > 0.5)
        True
        """
        check_is_fitted(self)
        rows = self._check(X)
        if is_sparse(rows) or is_sparse(self.X_fit_):
            raise TypeError("score needs dense rows, because it hides single cells. Pass X.toarray().")
        if rows.shape[1] < 2:
            raise ValueError("With one feature there is nothing from which a hidden cell could be predicted.")
        return predicted_share(self.expansion_, np.asarray(rows, np.float64), np.random.RandomState(0))

    @validated
    def _fit_with_parts(self, X: Any, parts: Sequence[IntArray], reference: IntArray) -> list[PartModel]:
        """Fit to all rows; return the models of all rows but each part, with a gamma that `reference` rows set."""
        return self._fit(X, parts, reference)

    def _fit(
        self,
        X: Any,
        parts: Sequence[IntArray] = (),
        reference: IntArray | None = None,
        solve: Callable[[Kernel, Points, ExactPlan], Fit] = fit_exact,
    ) -> list[PartModel]:
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        stays = solve is not fit_exact or (is_mapped(X) and not self._precomputed)  # a given matrix is changed
        X = self._check_training(X, copy=self.copy_X and not stays)
        if self.fit_inverse_transform and self.preimage == "ridge" and is_sparse(X):
            raise NotImplementedError(
                "Inverse transform not implemented for sparse matrices! Pass dense rows, or preimage='mika'."
            )
        self._output_dtype = X.dtype
        rows = X if reference is None else X[reference]
        n_components, gamma = self._settings(rows)
        kernel = self._make_kernel(rows, gamma)
        if solve is fit_exact and not has_few_features(kernel, X):
            slow_pairs(n_rows(X), "Use LandmarkKernelPCA, whose cost grows only as the number of rows.")
        plan = ExactPlan(
            self._count(n_components, X.shape[0]),
            self._tile_dtype(X),
            self._options(),
            drop_zeros=self.remove_zero_eig or self.n_components is None,
            center=self.center,
            n_jobs=self.n_jobs,
            channel=self._channel(),
        )
        if parts:
            solved, models = fit_with_parts(kernel, X, parts, plan)
        else:
            solved, models = solve(kernel, X, plan), []
        self._keep(solved, X)
        self._warn_of_narrow_kernel()
        return models

    def _keep(self, solved: Fit, X: Points) -> None:
        self.expansion_ = solved.expansion
        self.eigenvectors_ = solved.eigenvectors
        self.solver_, self.n_iter_, self.precision_ = solved.solver, solved.n_iter, solved.dtype.name
        for name in ("dual_coef_", "X_transformed_fit_"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        if self.fit_inverse_transform and self.preimage == "ridge":
            scores = self._training_scores()
            ridge = RidgeMap.fit(scores, X, score_kernel(self.expansion_.kernel, scores), self.alpha)
            self.dual_coef_, self.X_transformed_fit_ = ridge.dual_coef, ridge.train_scores

    def _training_scores(self) -> Array:
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _anchors(self) -> Anchors:
        return Anchors(self.expansion_.points, self._training_scores())

    def _settings(self, X: Points) -> tuple[int | float | None, float | None]:
        """Return n_components, and gamma if it was selected."""
        wanted: Any = self.n_components
        if not wants_selection(self.gamma, wanted):
            return wanted, None
        rng = None if self.random_state is None else check_random_state(self.random_state)
        return selected(X, self.kernel, self.gamma, wanted, rng, self._channel())

    def _count(self, n_components: int | float | None, n: int) -> int | float:
        if n_components is None:
            return n
        if 0 < n_components < 1:
            return float(n_components)
        warn_of_fewer(n_components, n)
        return min(n, int(n_components))

    def _tile_dtype(self, X: Points) -> Any:
        if self._precomputed or self.precision == "float64":
            return X.dtype if self._precomputed else np.float64
        mixed = self.precision == "mixed" or self.tol >= _MIXED_TOL
        return np.float32 if mixed or X.dtype == np.float32 else np.float64

    def _options(self) -> EigenOptions:
        return EigenOptions(
            solver=self.eigen_solver,
            tol=float(self.tol),
            max_iter=self.max_iter,
            power=None if self.iterated_power == "auto" else int(self.iterated_power),
            rng=None if self.random_state is None else check_random_state(self.random_state),
        )

    def _find_preimages(self, scores: Array) -> Array:
        if self.preimage != "ridge":
            return super()._find_preimages(scores)
        if not (self.fit_inverse_transform and hasattr(self, "dual_coef_")):
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                "transform is not available. Set it, or choose preimage='auto', which needs no fit of its own."
            )
        kernel = self.expansion_.kernel
        ridge = RidgeMap(self.X_transformed_fit_, self.dual_coef_, score_kernel(kernel, self.X_transformed_fit_))
        return in_domain(kernel, ridge(scores))
