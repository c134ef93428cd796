"""`R1KernelPCA`: kernel PCA whose subspace is nearest to the rows by distances that are not squared."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    check_rows,
    check_square,
    validated,
)
from mercer.solvers.l1.rotation_invariant import R1Options, fit_r1

_MOST_COMPONENTS = 10


class R1KernelPCA(KernelDecomposition):
    """Rotation-invariant L1-norm PCA with kernels: the subspace nearest to the rows, unsquared [Ding et al. 2006].

    Rows far from the subspace count by their distance, near ones by its square (Huber's function, with the median
    distance from the ordinary subspace as the border). The subspace is found as a whole; its components are sorted as
    those of `KernelPCA`.

    Parameters
    ----------
    n_components : int or None
        Dimension of the subspace. None: 10, or fewer if there are fewer rows.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
    center : bool
        Centre in feature space.
    max_iter : int
        Most steps of the subspace iteration.
    tol : float
        Stop when a step turns the subspace by no more than this (radians). 0: never.
    preimage, alpha, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model; components are orthonormal in feature space.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squared training scores along the components, descending.
    weights_ : ndarray of shape (n_samples,)
        Weights of the rows: one for near ones, less for outliers.
    cutoff_ : float
        The distance from which rows lose weight.
    objective_ : ndarray
        Sum of Huber's function of the distances after every step.
    n_iter_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import R1KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> R1KernelPCA(n_components=5, kernel="rbf", gamma="median").fit(X).transform(X).shape
    (1797, 5)
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
        verbose: bool = False,
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
        """Find the subspace of the rows of X, dense or CSR."""
        X = check_rows(self, X, reset=True, copy=True)
        if self._precomputed:
            X = check_square(X)
        self.expansion_, found = fit_r1(
            self._make_kernel(X),
            X,
            min(X.shape[0], self.n_components or _MOST_COMPONENTS),
            dtype=X.dtype,
            options=R1Options(self.max_iter, float(self.tol)),
            center=self.center,
            n_jobs=self.n_jobs,
            channel=self._channel(),
        )
        self.weights_, self.cutoff_ = found.weights, found.cutoff
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        return self
