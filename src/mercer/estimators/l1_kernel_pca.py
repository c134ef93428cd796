"""`L1KernelPCA`: kernel PCA that maximises sums of absolute scores, which outliers move less than sums of squares."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np

from mercer.arrays import Array, Points
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    check_square,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.kernels.functions import Kernel
from mercer.solvers.l1.fit import SignFit, SignOptions, fit_l1
from mercer.solvers.l1.rivals import fit_linear_system, fit_projection_trick

_MOST_COMPONENTS = 10


class L1KernelPCA(KernelDecomposition):
    """Kernel PCA by the L1 norm: each component maximises the sum of absolute scores [kim2019].

    Outliers move it less than `KernelPCA`, whose components maximise the sum of squares. Components are found one after
    the other, each in what the earlier ones leave, and stay in that order.

    Parameters
    ----------
    n_components : int or None
        None: 10, or fewer if there are fewer rows. Extraction ends early when nothing is left: when the residual
        k~(x, x) of every row is below 1e-12 of the largest at the start.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
        The linear kernel is solved on the rows themselves, without a kernel matrix.
    algorithm : {"fixed_point", "projection_trick", "linear_system"}
        "fixed_point" is Algorithm 1 of [kim2019]. "projection_trick" is KPCA-L1 [Kwak 2013], which works on explicit
        features from an eigendecomposition and starts from the row of largest norm; "linear_system" is L1-KPCA [Xiao et
        al. 2013], which starts from the leading eigenvector. All climb in the same way, to local maxima that differ.
    init : {"objective", "eigen", "best"}
        Start of "fixed_point" (the other algorithms have their own): "objective" is the row whose direction has the
        largest objective (eq. 19), "eigen" the signs of the leading eigenvector; "best" runs from (19) and from the
        three leading eigenvectors and keeps the best end.
    refine : {None, "flip"}
        "flip" goes on from the fixed point: single signs are flipped while that raises the objective.
    center : bool
        Centre in feature space. The paper takes the kernel as it is, for standardised features: False.
    preimage, alpha, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model; components are orthonormal in feature space.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    signs_ : ndarray of shape (n_components, n_samples)
        The sign vectors c. A sign of zero is +1.
    objective_ : ndarray of shape (n_components,)
        Sums of absolute training scores along the components (eq. 1): sqrt(c^T K~ c), with K~ as deflated until then.
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squared training scores along the components, in order of extraction: usually, but not always,
        descending.
    n_iter_ : ndarray of shape (n_components,)
        Sign iterations of each component.

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
        verbose: bool = False,
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
        """Extract the components of the rows of X, dense or CSR."""
        X = check_rows(self, X, reset=True, copy=True)
        if self._precomputed:
            X = check_square(X)
        self.expansion_, found = self._solve(self._make_kernel(X), X)
        self.signs_, self.objective_, self.n_iter_ = found.signs, found.objective, found.n_iter
        self._warn_of_rank()
        return self

    def _solve(self, kernel: Kernel, X: Points) -> tuple[Expansion, SignFit]:
        r = min(X.shape[0], self.n_components or _MOST_COMPONENTS)
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

    def _warn_of_rank(self) -> None:
        found, wanted = self.expansion_.n_components, self.n_components
        if wanted is not None and found < wanted:
            warnings.warn(
                f"n_components={wanted}, but after {found} components nothing of the data is left; {found} are kept.",
                UserWarning,
                stacklevel=4,
            )

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit the model and return the scores of the training rows."""
        return np.asarray(self.fit(X, **params).transform(X))
