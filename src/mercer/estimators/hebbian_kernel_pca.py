"""`HebbianKernelPCA`: kernel PCA learned one sample at a time, on a fixed set or from a stream."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.engine.gains import Gain
from mercer.estimators.advice import slow_fit, uneven, user_level
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.hebbian_landmarks import LandmarkLearning
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    check_square,
    generator,
    validated,
)
from mercer.kernels.functions import Kernel
from mercer.kernels.landmarks import SELECTIONS
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.hebbian.blocks import KhaState, start_state
from mercer.solvers.hebbian.gain_choice import GAINS, choose_gain, random_rows, spread, whitened
from mercer.solvers.hebbian.kernel_passes import PassOptions, expand, residual, run_passes
from mercer.solvers.hebbian.visits import VisitTiles

_MAX_ITER = 100
_MANY_PASSES = 50  # five times as many products as KernelPCA needs
_UNSETTLED = 0.2  # relative residual beyond which a component cannot be relied on


class HebbianKernelPCA(LandmarkLearning, KernelDecomposition):
    """Kernel PCA learned one sample at a time: KHA, KHA/t, KHA/et and KHA-SMD [guenter2006].

    For a fixed set that fits, `KernelPCA` is exact and faster. This class is for streams (`partial_fit`), for following
    components that drift (gain="constant"), and for the algorithms themselves: every gain rule of the paper, run in
    exact blocks that give what one sample after another would, to rounding.

    Parameters
    ----------
    n_components : int or None
        r. None: 10, or the number of rows if that is less.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
    gain : {"smd", "et", "t", "constant"}
        The step of component i at time t: "constant" eta0 (KHA); "t" eta0 l / (t + l); "et" the same times
        |lambda| / lambda_i, with eigenvalues estimated once a pass (eqs. 12, 13); "smd" the same times exp(rho_i),
        where rho follows stochastic meta-descent (eqs. 15 to 21).
    eta0 : float or "auto"
        "auto" makes eta0 |c| the same for all data, c the eigenvalues of the covariance in feature space: 0.005 for
        "constant", 0.12 for "t", min(20 / l, 0.06) for "et", min(13 / l, 0.018) for "smd", whose rho starts at one.
        |c| is estimated from a few products with the kernel matrix. Frozen as `eta0_`.
    smd_rate : float or "auto"
        mu of "smd". "auto": 0.06 / |c|, less where there are fewer than 1000 rows. Frozen as `smd_rate_`.
    smd_decay : float
        xi of "smd".
    max_iter : int
        Most passes over the rows in `fit`.
    tol : float
        `fit` stops when a pass changes the components, relative to their length, by no more than this. 0: never.
    block_size : int
        Samples that are computed together. The result does not depend on it, unless the guard against divergence acts:
        it repeats a block with half the gain.
    landmarks : int, array or None
        Learn in the span of so many points, or of these: cost and memory grow as the number of rows, not as its square.
        None: all rows in `fit`, and in `partial_fit` up to 256 of the first ones.
    selection : {"auto", "kmeans", "rpcholesky", "uniform", "ald", "greedy_kpca"}
        How landmarks are chosen. "auto": k-means for the Gaussian kernel, randomly pivoted Cholesky otherwise.
    center : bool
        Centre in feature space. False takes the kernel as it is.
    init : array of shape (n_components, n_rows or n_landmarks) or None
        Coefficients A at the start. None: small random ones in `fit`, the first rows' components in `partial_fit`.
    shuffle : bool
        Visit the rows in a new random order in each pass; False: from the first to the last.
    orthonormalize : bool
        Present the span of the rows of A by its best basis: orthonormal, sorted, signs as in `KernelPCA`. False leaves
        the rows as they are: transform(x) = A k'(x).
    warm_start : bool
        `fit` goes on from where the last one with the same number of rows stopped; on landmarks from its components.
    monitor : {"change", "excess"}
        "excess" also records the excess reconstruction error (eq. 22) of each pass, at the cost of an
        eigendecomposition and of one product with the kernel matrix a pass; for fits on all rows, not on landmarks.
    preimage, alpha, random_state, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    eigenvalues_, explained_variance_, explained_variance_ratio_ : ndarray
    history_ : dict of arrays, one value a pass
        "change", "unexplained" (share of the variation outside the components), "seconds", "excess"; on landmarks
        "residual" |C q - lambda q| / lambda (with tol=0 only of the last pass) and "seconds".
    n_iter_, eta0_, smd_rate_, gamma_ : int, float, float, float

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import HebbianKernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = HebbianKernelPCA(n_components=5, kernel="rbf", gamma="median", max_iter=5, random_state=0).fit(X)
    >>> model.transform(X).shape
    (1797, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "gain": [StrOptions(set(GAINS))],
        "eta0": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "smd_rate": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "smd_decay": [Interval(Real, 0, 1, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "block_size": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [Interval(Integral, 1, None, closed="left"), "array-like", None],
        "selection": [StrOptions(set(SELECTIONS))],
        "center": ["boolean"],
        "init": ["array-like", None],
        "shuffle": ["boolean"],
        "orthonormalize": ["boolean"],
        "warm_start": ["boolean"],
        "monitor": [StrOptions({"change", "excess"})],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }
    _fitted_attributes = (*KernelDecomposition._fitted_attributes, "n_iter_", "eta0_", "smd_rate_", "history_")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        gain: str = "smd",
        eta0: float | str = "auto",
        smd_rate: float | str = "auto",
        smd_decay: float = 0.99,
        max_iter: int = _MAX_ITER,
        tol: float = 1e-3,
        block_size: int = 128,
        landmarks: Any = None,
        selection: str = "auto",
        center: bool = True,
        init: Any = None,
        shuffle: bool = True,
        orthonormalize: bool = True,
        warm_start: bool = False,
        monitor: str = "change",
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
        self.gain = gain
        self.eta0 = eta0
        self.smd_rate = smd_rate
        self.smd_decay = smd_decay
        self.max_iter = max_iter
        self.tol = tol
        self.block_size = block_size
        self.landmarks = landmarks
        self.selection = selection
        self.center = center
        self.init = init
        self.shuffle = shuffle
        self.orthonormalize = orthonormalize
        self.warm_start = warm_start
        self.monitor = monitor
        self.preimage = preimage
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- passes over a fixed set ---------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn in passes over the rows of X, dense or CSR."""
        X = check_rows(self, X, reset=True, copy=self._precomputed or self.landmarks is None)
        if self._precomputed:
            X = check_square(X)
        kernel, rng = self._make_kernel(X), generator(self.random_state)
        self._before, self._run, self._pending = self._run, None, None
        if self.landmarks is None:
            self._fit_all_rows(kernel, X, rng)
        else:
            self._fit_landmarks(kernel, X, rng)
        return self

    def _fit_all_rows(self, kernel: Kernel, X: Points, rng: Any) -> None:
        points = np.arange(n_rows(X)) if self._precomputed else X
        tiles = VisitTiles(make_operator(kernel, X, X.dtype, self.n_jobs, self.center))
        state, gain = self._start(tiles, kernel, points, rng)
        halvings = state.guard.halvings
        options = PassOptions(
            self.max_iter, float(self.tol), self.block_size, self.shuffle, excess=self.monitor == "excess"
        )
        run = run_passes(tiles, state, gain, options, rng, self._channel())
        self.n_iter_, self.history_ = run.n_iter, run.history.arrays()
        self._last = run.state if self.warm_start else None
        self.expansion_ = expand(kernel, points, tiles, run.state, self.orthonormalize)
        unsettled = residual(tiles, run.state) if self.tol > 0 else 0.0
        if self.n_iter_ >= _MANY_PASSES and self.max_iter == _MAX_ITER and not self._precomputed:
            slow_fit(f"fit made {self.n_iter_} passes over", n_rows(X))
        self._warn(run.diverged, run.state.guard.halvings - halvings, unsettled, tiles.rows_that_count)

    def _start(self, tiles: VisitTiles, kernel: Kernel, points: Points, rng: Any) -> tuple[KhaState, Gain]:
        n, r = tiles.shape[0], self._count(tiles.shape[0])
        last = self._last if self.warm_start else None
        if last is not None and last.A.shape == (r, n) and (last.rho is None) == (self.gain != "smd"):
            if not self._same_rows(kernel, points):
                _with_products(last, tiles)
            return last, self._kept_gain(n)
        gain = self._freeze_gain(spread(tiles, rng) if self._needs_size else 1.0, n)
        A = random_rows(r, n, rng) if self.init is None else self._given(r, n)
        AK = tiles.matmul(np.ascontiguousarray(A.T)).T
        A, AK = whitened(A, AK) if self.init is None else (A, AK)
        return start_state(A, AK, gain), gain

    def _same_rows(self, kernel: Kernel, points: Points) -> bool:
        known = self.expansion_
        if self._precomputed or is_sparse(points) or is_sparse(known.points):
            return False
        return known.kernel == kernel and np.array_equal(known.points, points)

    @property
    def _needs_size(self) -> bool:
        return isinstance(self.eta0, str) or (self.gain == "smd" and isinstance(self.smd_rate, str))

    def _freeze_gain(self, size: float, length: int) -> Gain:
        gain = choose_gain(self.gain, self.eta0, self.smd_rate, self.smd_decay, size=size, length=length)
        self.eta0_ = gain.eta0
        self.smd_rate_ = float(getattr(gain, "rate", 0.0))
        self._size = size
        return gain

    def _kept_gain(self, length: int) -> Gain:
        """Return the gain with "auto" values as they were found before."""
        return choose_gain(self.gain, self.eta0, self.smd_rate, self.smd_decay, size=self._size, length=length)

    def _given(self, r: int, n: int) -> Array:
        A: Array = check_array(self.init, dtype=np.float64, input_name="init")
        if A.shape != (r, n):
            raise ValueError(f"init must be of shape ({r}, {n}): a row of coefficients a component; {A.shape} came.")
        return A

    # -- warnings ------------------------------------------------------------------------------------------------

    def _warn(self, diverged: bool, halvings: int, unsettled: float, rows_that_count: float) -> None:
        text = uneven(self.n_samples_seen_, rows_that_count)
        if diverged:
            text = (
                f"Learning diverges even with tiny gains (eta0={self.eta0!r}); the components before that are kept. "
                "Look for rows of enormous size, scale the features, or use eta0='auto'."
            )
        elif halvings and not (isinstance(self.eta0, str) and isinstance(self.smd_rate, str)):
            text = (
                f"Steps diverged, and gains were halved {halvings} times for a while. Lower eta0={self.eta0!r} or "
                f"smd_rate={self.smd_rate!r}, or set them to 'auto'."
            )
        elif unsettled > _UNSETTLED:
            text = (
                f"After {self.n_iter_} passes some components are not yet eigenvectors: the relative residual is "
                f"{unsettled:.2g}. Raise max_iter, try gain='et' or another random_state, ask for fewer components, or "
                "use KernelPCA, which is exact."
            )
        if text is not None:
            warnings.warn(text, ConvergenceWarning, stacklevel=user_level())


def _with_products(state: KhaState, tiles: VisitTiles) -> None:
    """Make the products with K' anew, for other rows than those of the last fit."""
    state.AK = tiles.matmul(np.ascontiguousarray(state.A.T)).T
    if state.B is not None:
        state.BK = tiles.matmul(np.ascontiguousarray(state.B.T)).T
