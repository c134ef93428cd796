"""`RobustKernelPCA`: kernel PCA that rows which do not belong cannot bend."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from mercer.arrays import Array, Points, n_rows
from mercer.engine.psi import PSI_NAMES
from mercer.estimators.advice import slow_fit
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_landmarks,
    check_rows,
    check_square,
    component_count,
    generator,
    validated,
)
from mercer.kernels.functions import Kernel
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.landmarks import SELECTIONS, select_landmarks
from mercer.kernels.tiles import SymmetricTiles, available_threads, memory_budget, row_slices
from mercer.solvers.hebbian.landmark_run import feature_rows
from mercer.solvers.robust.batch import RobustFit, fit_robust
from mercer.solvers.robust.space import FeatureRows, GivenMatrix, KernelRows, RowSpace
from mercer.solvers.robust.start import fit_from_start

_MOST_COMPONENTS = 10


class RobustKernelPCA(KernelDecomposition):
    """Kernel PCA that rows which do not belong cannot bend: each has a weight [huang2011].

    A row whose image lies far from the subspace of the components counts less, or not at all, in the mean and in the
    components: weighted kernel PCA and weights from its residuals, in turn, until they agree (eqs. 21 and 22; Huang,
    Yeh and Eguchi, 2009). It starts from a fit to the half of the rows that agree best, so that outliers cannot hide in
    a component of their own. `weights_` tells which rows it believed.

    A fifth of the rows may be outliers of any kind, and up to 40 % where they lie far from all others; outliers
    that lie close together, and not far, took a component for themselves in some runs at 30 % and in most at 40 %.
    Where more than half of the rows are outliers, nothing tells that they are: the components follow them.

    Parameters
    ----------
    n_components : int or None
        r. None: 10, or the number of rows if that is less.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
    psi : {"logistic", "exp", "tukey", "huber", "none"}
        The loss, a function of z = half the squared residual; its derivative is the weight. "logistic": Psi_2 of the
        paper, weight 1 / (1 + e^(beta (z - xi))), about equal up to xi and none beyond. "exp": Psi_1, e^(-beta z).
        "tukey": (1 - z / xi)^2, and 0 from xi. "huber": min(1, sqrt(xi / z)), which only dampens outliers, and bears
        few. "none": Psi_0, 1, which is kernel PCA.
    beta : float or "auto"
        Steepness, in units of 1 / z. "auto": 4 / MAD ("exp": 0.5 / MAD), where the MAD is the median deviation of the
        residuals. Frozen as `beta_`.
    xi : float or "auto"
        Residual z that counts as too far. "auto": median + 3 MAD ("tukey": 4). Frozen as `xi_`. With "auto" the result
        does not depend on the scale of the kernel.
    landmarks : int, array or None
        Work in the span of so many points, or of these: cost and memory grow as the number of rows, not as its square.
        None: all rows.
    selection : {"auto", "kmeans", "rpcholesky", "uniform", "ald", "greedy_kpca"}
        How landmarks are chosen.
    init : array of shape (n_components, n_rows or n_landmarks) or None
        Coefficients, on centred images, of components to start from: the first weights are those of the residuals from
        their span, around the plain mean. None: the robust start.
    center : bool
        Centre in feature space. False takes the kernel as it is.
    max_iter : int
        Most rounds of weighted kernel PCA, after the start.
    tol : float
        Stop when no weight changes by more than this. 0: never.
    preimage, alpha, random_state, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model: kernel PCA of the rows with `weights_`.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    weights_ : ndarray of shape (n_rows,)
        Weight of each row, at most 1.
    beta_, xi_ : float
        Parameters of psi that were used.
    objective_ : ndarray
        sum psi(z), before the first and after each round in which psi was fixed; it never increases.
    n_iter_ : int
        Rounds, including those in which "auto" parameters were found.
    eigenvalues_ : ndarray
        n_rows times the eigenvalues of the weighted covariance (the weights scaled to mean 1), so that they compare
        with those of `KernelPCA`.
    explained_variance_, explained_variance_ratio_ : ndarray
        Shares are of the weighted total.

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
        verbose: bool = False,
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
        """Fit the model to the rows of X, dense or CSR."""
        X = check_rows(self, X, reset=True, copy=self.landmarks is None and not self._precomputed)
        if self._precomputed:
            X = check_square(X)
        kernel = self._make_kernel(X)
        if self.landmarks is None:
            space: RowSpace = self._all_rows(kernel, X)
            r, given = self._count(n_rows(X)), self._given(n_rows(X))
        else:
            points = self._landmark_map(kernel, X)
            space = self._on_landmarks(points, X)
            r, given = self._count(min(points.rank, n_rows(X))), self._given(n_rows(points.points))
        self._keep(self._solve(space, r, given), space)
        if self.landmarks is None and not self._precomputed:
            slow_fit(f"The robust start and {self.n_iter_} rounds each solved an eigenproblem of", n_rows(X))
        return self

    def _solve(self, space: RowSpace, r: int, given: Array | None) -> RobustFit:
        settings: dict[str, Any] = {"max_iter": self.max_iter, "tol": float(self.tol), "channel": self._channel()}
        if given is None:
            return fit_from_start(space, r, self.psi, self.beta, self.xi, **settings)
        return fit_robust(space, r, space.span(given), self.psi, self.beta, self.xi, **settings)

    def _keep(self, fit: RobustFit, space: RowSpace) -> None:
        self.expansion_ = space.expansion(fit.subspace)
        self.weights_, self.objective_ = fit.weights, np.array(fit.objective)
        self.beta_, self.xi_, self.n_iter_ = fit.psi.beta, fit.psi.xi, fit.n_iter
        if not fit.converged and self.tol > 0:
            warnings.warn(
                f"The weights still changed after max_iter={self.max_iter} rounds. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # -- rows ----------------------------------------------------------------------------------------------------

    def _all_rows(self, kernel: Kernel, X: Points) -> KernelRows:
        if self._precomputed:
            return KernelRows(kernel, np.arange(n_rows(X)), GivenMatrix(X), np.diag(X).astype(np.float64), self.center)
        tiles = SymmetricTiles(kernel, X, X.dtype, memory_budget(), available_threads(self.n_jobs))
        return KernelRows(kernel, X, tiles, kernel.diagonal(X), self.center)

    def _landmark_map(self, kernel: Kernel, X: Points) -> LandmarkMap:
        if isinstance(self.landmarks, Integral):
            rng = generator(self.random_state)
            chosen = select_landmarks(kernel, X, int(self.landmarks), self.selection, rng)
            return LandmarkMap.of(kernel, chosen.astype(np.float64, copy=False))
        return LandmarkMap.of(kernel, check_landmarks(self.landmarks, X.shape[1]))

    def _on_landmarks(self, points: LandmarkMap, X: Points) -> FeatureRows:
        F = feature_rows(points, X)
        missing = [points.missing(X[rows], np.asarray(F[rows])) for rows in row_slices(n_rows(X), 8 * points.rank)]
        return FeatureRows(F, np.concatenate(missing), self.center, points)

    # -- what was asked for --------------------------------------------------------------------------------------

    def _count(self, n: int) -> int:
        return component_count(self.n_components, n, _MOST_COMPONENTS)

    def _given(self, n: int) -> Array | None:
        if self.init is None:
            return None
        A: Array = check_array(self.init, dtype=np.float64, input_name="init")
        wanted = len(A) if self.n_components is None else min(n, int(self.n_components))
        if A.shape != (wanted, n):
            raise ValueError(
                f"init must be of shape ({wanted}, {n}): a row of coefficients a component; {A.shape} came."
            )
        return A
