"""`KernelPCA`: exact kernel PCA, a drop-in for scikit-learn's class that holds half the matrix or none of it."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from mercer.arrays import Array, Points, is_sparse
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    COMPONENTS,
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    check_square,
    validated,
)
from mercer.preimage.anchors import Anchors
from mercer.preimage.ridge import RidgeMap
from mercer.solvers.exact.eigen import EigenOptions
from mercer.solvers.exact.fit import Fit, fit_exact

_MIXED_TOL = 1e-6  # what float32 tiles with float64 sums deliver


class KernelPCA(KernelDecomposition):
    """Kernel principal component analysis, exact and matrix-free [lecture_notes; Schoelkopf, Smola, Mueller 1998].

    Takes every parameter of `sklearn.decomposition.KernelPCA` with the same meaning. What is new:

    Parameters
    ----------
    n_components : int, float in (0, 1) or None
        A float asks for as many components as explain that share of the total variation.
    kernel : str, callable or kernel object
        Also "laplacian", "chi2" and "wavelet"; a callable may take two rows or two matrices; see `mercer.kernels`.
    gamma : float, None or "median"
        "median" is 1 / (2 median distance^2); None is 1 / n_features. Frozen as `gamma_` at fit.
    eigen_solver : {"auto", "dense", "arpack", "randomized", "krylov"}
        "krylov" multiplies by the centred kernel matrix in tiles and never forms it whole: half of it is kept if that
        takes at most 1.75 times scikit-learn's `working_memory` setting (1 GiB by default), none of it otherwise.
        "auto" takes it for all but small problems and those that want more than an eighth of all components.
        "randomized" is the same iteration, selecting by modulus, stopped after `iterated_power` steps if that is a
        number.
    tol : float
        Largest residual norm |K' v - lambda v|, relative to the largest eigenvalue, that "krylov" accepts. 0 means
        working precision: 1e-9, where eigenvalues are exact to rounding. ("arpack": its own meaning.)
    precision : {"auto", "float64", "mixed"}
        "mixed" makes kernel values in float32 and sums in float64: twice as fast, and eigenvalues are wrong by at
        most 1e-6 of the largest (usually 1e-7). Where float32 cannot keep that, as for a very wide Gaussian kernel,
        which is measured on some rows before the fit, kernel values are float64 all the same; `precision_` tells.
        "auto" is "mixed" when `tol` >= 1e-6 or the rows are float32, else "float64".
    preimage : {"ridge", "mika", "kwok", "gradient", "exact", "auto"}
        How `inverse_transform` works. "ridge" is scikit-learn's and needs `fit_inverse_transform=True`.
    verbose : bool
        Show progress.

    Attributes
    ----------
    eigenvalues_, eigenvectors_, dual_coef_, X_transformed_fit_, X_fit_, gamma_ : as in scikit-learn
    expansion_ : Expansion
        The fitted model.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    explained_variance_, explained_variance_ratio_ : ndarray
        Variances along the components, and their shares of the true total.
    solver_, n_iter_ : str, int
        Which eigensolver ran, and how many steps it took.
    precision_ : {"float64", "float32"}
        The precision in which kernel values were computed.

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
        "n_components": COMPONENTS,
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
        n_components: int | float | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
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
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
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
        """The training rows (their numbers, for a precomputed kernel)."""
        return self.expansion_.points

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to the rows of X, dense or CSR."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit the model and return the scores of the training rows, which cost nothing more."""
        self.fit(X, **params)
        return self._training_scores().astype(self._output_dtype, copy=False)

    def _fit(self, X: Any) -> None:
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X = check_rows(self, X, reset=True, copy=self.copy_X)
        if self.fit_inverse_transform and self.preimage == "ridge" and is_sparse(X):
            raise NotImplementedError(
                "Inverse transform not implemented for sparse matrices! Pass dense rows, or preimage='mika'."
            )
        if self._precomputed:
            X = check_square(X)
        self._output_dtype = X.dtype
        solved = fit_exact(
            self._make_kernel(X),
            X,
            self._count(X.shape[0]),
            dtype=self._tile_dtype(X),
            options=self._options(),
            drop_zeros=self.remove_zero_eig or self.n_components is None,
            n_jobs=self.n_jobs,
            channel=self._channel(),
        )
        self._keep(solved, X)

    def _keep(self, solved: Fit, X: Points) -> None:
        self.expansion_ = solved.expansion
        self.eigenvectors_ = solved.eigenvectors
        self.solver_, self.n_iter_, self.precision_ = solved.solver, solved.n_iter, solved.dtype.name
        if self.fit_inverse_transform and self.preimage == "ridge":
            ridge = RidgeMap.fit(self._training_scores(), X, self.expansion_.kernel, self.alpha)
            self.dual_coef_, self.X_transformed_fit_ = ridge.dual_coef, ridge.train_scores

    def _training_scores(self) -> Array:
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _anchors(self) -> Anchors:
        return Anchors(self.expansion_.points, self._training_scores())

    def _count(self, n: int) -> int | float:
        if self.n_components is None:
            return n
        if 0 < self.n_components < 1:
            return float(self.n_components)
        if self.n_components > n:
            warnings.warn(
                f"n_components={self.n_components} exceeds the {n} samples; {n} components are computed.",
                UserWarning,
                stacklevel=4,
            )
        return min(n, int(self.n_components))

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
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                "transform is not available. Set it, or choose preimage='auto', which needs no fit of its own."
            )
        return RidgeMap(self.X_transformed_fit_, self.dual_coef_, self.expansion_.kernel)(scores)
