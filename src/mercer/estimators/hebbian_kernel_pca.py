"""`HebbianKernelPCA`: kernel PCA learned one sample at a time, on a fixed set or from a stream."""

from dataclasses import asdict, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer.arrays import Points, check_squares, is_sparse, n_rows
from mercer.engine.gains import Gain
from mercer.errors import warn_user
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.chunked_rows import refuse_chunks
from mercer.estimators.hebbian_landmarks import LandmarkLearning, LandmarkOptions, Step
from mercer.estimators.hebbian_waiting import WaitingRows, exact_model, joined
from mercer.estimators.learning_warnings import diverging, halved, slow_fit, uneven, unfinished, warn_far_from_origin
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    generator,
    validated,
)
from mercer.kernels.base import Kernel
from mercer.kernels.landmarks import SELECTIONS
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.hebbian.blocks import KhaState, start_state
from mercer.solvers.hebbian.gain_choice import GAINS, GainRule, random_rows, spread, whitened
from mercer.solvers.hebbian.guard import Guard
from mercer.solvers.hebbian.kernel_passes import PassOptions, expand, renew_products, residual, run_passes
from mercer.solvers.hebbian.landmark_run import LandmarkRun
from mercer.solvers.hebbian.visits import VisitTiles

_MAX_ITER = 100
_VERY_MANY_ROWS = 10_000  # with so many a warning comes before the work, which may take many minutes
_MANY_PASSES = 50  # five times as many products as KernelPCA needs
_UNSETTLED = 0.2  # relative residual beyond which a component cannot be relied on


class HebbianKernelPCA(KernelDecomposition):
    """Kernel PCA learned one sample at a time: KHA, KHA/t, KHA/et and KHA-SMD.

    For a fixed set of rows whose kernel matrix can be handled, `KernelPCA` is exact and faster. This class is for
    streams (`partial_fit`), for following components that change over time (gain="constant"), and for the algorithms
    themselves: the kernel Hebbian algorithm [kim2005]_ with every gain rule of [guenter2006]_. Samples are computed in
    blocks; the result is the same as one sample after the other, to rounding.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components, r. None: 10, or the number of rows if there are fewer.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". With "precomputed", `fit` takes the square matrix of kernel values between
        all training rows, and `transform` takes those of new rows with all training rows. It is refused with landmarks
        and by `partial_fit`, which need rows. A callable takes two rows and returns a number, or takes two matrices and
        returns the matrix of their kernel values. Kernel objects are in `mercer.kernels`.
    gamma : float, "median" or None, default=None
        Coefficient of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2"; other kernels ignore it. None: 1 /
        n_features. "median": 1 / (2 m^2), where m is the median distance between rows (of at most 1000 random rows).
        For "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent.
        The value in use is `gamma_`. In `partial_fit`, "median" looks only at the first rows, which landmarks are
        chosen from.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    gain : {"smd", "et", "t", "constant"}, default="smd"
        The gain of component i at time t. "constant": eta0 (KHA). "t": eta0 l / (t + l) (KHA/t), where l is the number
        of rows; in `partial_fit` it is the number of landmarks. "et": the same times ``|lambda| / lambda_i`` (KHA/et),
        with eigenvalues lambda estimated once per pass (eqs. 12 and 13 of [guenter2006]_); on landmarks they are
        running means of the squared scores. "smd": the same times exp(rho_i) (KHA-SMD), where rho follows stochastic
        meta-descent (eqs. 15 to 21).
    eta0 : float or "auto", default="auto"
        The gain at the start. "auto" makes ``eta0 |c|`` the same for all data, where c are the eigenvalues of the
        covariance in feature space: 0.005 for "constant", 0.12 for "t", min(20 / l, 0.06) for "et", and min(13 / l,
        0.018) for "smd", whose rho starts at one. ``|c|`` is estimated from a few products with the kernel matrix. The
        value in use is `eta0_`.
    smd_rate : float or "auto", default="auto"
        The rate mu of "smd". "auto": ``0.06 / |c|``, less where there are fewer than 1000 rows. The value in use is
        `smd_rate_`.
    smd_decay : float in [0, 1], default=0.99
        The decay xi of "smd".
    max_iter : int, default=100
        Largest number of passes of `fit` over the rows.
    tol : float, default=1e-3
        `fit` stops when a pass changes the components, relative to their length, by no more than this; on landmarks,
        when ``|C q - lambda q| / lambda`` of all components q is at most this, where C is the covariance. 0: never stop
        early.
    block_size : int, default=128
        Number of samples that are computed together. The result does not depend on it, except where the guard against
        divergence acts: it repeats a block with half the gain.
    landmarks : int, array-like of shape (n_landmarks, n_features) or None, default=None
        Learn in the span of so many points, or of these: cost and memory grow as the number of rows, not as its square.
        None: all rows in `fit`, and in `partial_fit` up to 256 of the first ones.
    selection : {"auto", "uniform", "kmeans", "rpcholesky", "ald", "greedy_kpca"}, default="auto"
        How landmarks are chosen. "uniform": random rows. "kmeans": centres of k-means clusters. "rpcholesky": rows
        chosen by randomly pivoted Cholesky. "ald": rows that are not nearly a linear combination, in feature space, of
        those chosen before. "greedy_kpca": one row after the other, each the one that lowers the error of kernel PCA
        most. "auto": "kmeans" for the Gaussian kernel on dense rows, "rpcholesky" otherwise.
    center : bool, default=True
        Centre in feature space. False takes the kernel as it is.
    init : array-like of shape (n_components, n_samples or n_landmarks) or None, default=None
        Coefficients A at the start. None: small random ones in `fit`, and the components of the first rows in
        `partial_fit`.
    shuffle : bool, default=True
        Visit the rows in a new random order in each pass. False: from the first to the last.
    orthonormalize : bool, default=True
        Present the span of the rows of A by its best basis: orthonormal, sorted, with signs as in `KernelPCA`. False
        leaves the rows as they are: transform(x) = A k'(x).
    warm_start : bool, default=False
        `fit` continues from where the last fit with the same number of rows stopped; on landmarks it starts from the
        components of the last fit.
    monitor : {"change", "excess"}, default="change"
        "excess" also records the excess reconstruction error (eq. 22 of [guenter2006]_) of each pass. This costs an
        eigendecomposition, and one product with the kernel matrix per pass. It is for fits on all rows, not on
        landmarks.
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
        Seed or generator for first coefficients, order of the rows and choice of landmarks. Pass an int to get the same
        result in each call.
    n_jobs : int or None, default=None
        Number of threads. None and -1: as many as BLAS uses; -2: one fewer, and so on.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The fitted model: kernel, points, and the coefficients of the components on these points.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, descending. With orthonormalize=False: those that belong to the rows
        of A, in their order, by eq. 13 of [guenter2006]_; on landmarks the sums of squared scores.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total is the trace of the centred kernel matrix, so it
        includes directions that are not among the components. In `partial_fit`, late rows count more in both: it is a
        share of the recent variation.
    history_ : dict of ndarray
        One value per pass: "change", change of the components; "unexplained", share of the variation outside the
        components; "seconds", time of the pass; "excess", excess reconstruction error with monitor="excess". On
        landmarks: "residual", ``|C q - lambda q| / lambda`` (with tol=0 only of the last pass), and "seconds".
    n_iter_ : int
        Number of passes that `fit` made.
    eta0_ : float
        The value of `eta0` in use.
    smd_rate_ : float
        The value of `smd_rate` in use; 0 for other gains than "smd".
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
    KernelPCA : Exact kernel PCA of rows in memory.
    HebbianPCA : Linear PCA learned one row at a time.
    LandmarkKernelPCA : Kernel PCA of streams and large tables, on landmarks.
    mercer.plots.convergence : Errors over passes.

    References
    ----------
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.
    .. [kim2005] K. I. Kim, M. O. Franz and B. Schölkopf, Iterative kernel principal component analysis for image
       modeling, IEEE Transactions on Pattern Analysis and Machine Intelligence 27, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import HebbianKernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = HebbianKernelPCA(5, kernel="rbf", gamma="median", max_iter=5, random_state=0)
    >>> model = model.fit(X)
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
    _learning = LandmarkLearning()  # replaced, never changed: a fit or a chunk works on a copy
    _last: KhaState | None = None  # where passes over all rows stopped, with warm_start

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
        verbose: bool | int = False,
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
        """Learn in passes over the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR. With kernel="precomputed": the kernel values between all training rows, a
            square matrix.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        HebbianKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN or infinity, if a precomputed kernel matrix is not square or is used with landmarks, if
            `init` or `landmarks` has the wrong shape, or if kernel values are above 1e140 or all below 1e-140.

        Warns
        -----
        SlowFitWarning
            Without landmarks: if the default `max_iter` led to 50 passes or more over 1000 rows or more; before the
            work, if there are 10,000 rows or more.
        UserWarning
            If more components are asked for than there are rows or landmarks; if gamma is None and the kernel is too
            narrow for the rows; or if kernel values lose digits, because the rows are far from the origin.
        sklearn.exceptions.ConvergenceWarning
            If learning diverged, if gains had to be lowered, if some components are not yet eigenvectors after the last
            pass, or if a few rows hold nearly all variation.
        """
        refuse_chunks(X)
        X = self._check_training(X, copy=self._precomputed or self.landmarks is None)
        kernel, rng = self._make_kernel(X), generator(self.random_state)
        check_squares(np.diag(X) if self._precomputed else kernel.diagonal(X))
        if not self._precomputed:
            warn_far_from_origin(kernel, X, self.center, on_all_rows=self.landmarks is None)
        before, self._learning = self._learning.run, replace(self._learning, run=None, pending=None)
        if self.landmarks is None:
            self._fit_all_rows(kernel, X, rng)
        else:
            self._fit_landmarks(kernel, X, rng, before if self.warm_start else None)
        self._warn_of_result()
        return self

    def _fit_all_rows(self, kernel: Kernel, X: Points, rng: Any) -> None:
        points = np.arange(n_rows(X)) if self._precomputed else X
        told_before = n_rows(X) >= _VERY_MANY_ROWS
        if told_before and self._makes_usual_passes:
            slow_fit(f"fit makes up to {self.max_iter} passes over", n_rows(X))
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
        if self.n_iter_ >= _MANY_PASSES and self._makes_usual_passes and not told_before:
            slow_fit(f"fit made {self.n_iter_} passes over", n_rows(X))
        text = uneven(n_rows(X), tiles.rows_that_count)
        self._warn(run.diverged, run.state.guard.halvings - halvings, unsettled, text)

    @property
    def _makes_usual_passes(self) -> bool:
        """Whether landmarks would help, and nobody chose the number of passes."""
        return self.max_iter == _MAX_ITER and not self._precomputed

    def _start(self, tiles: VisitTiles, kernel: Kernel, points: Points, rng: Any) -> tuple[KhaState, Gain]:
        n, options = tiles.shape[0], self._landmark_options()
        r = options.count(n)
        last = self._last if self.warm_start else None
        if last is not None and last.A.shape == (r, n) and (last.rho is None) == (self.gain != "smd"):
            last = last.copy()  # passes change it, and a fit that fails must leave the state of the last one
            if not self._same_rows(kernel, points):
                renew_products(last, tiles)
            return last, options.gain.gain(self._learning.size, n)
        self._learning.size = spread(tiles, rng) if options.gain.needs_size else 1.0
        gain = options.gain.gain(self._learning.size, n)
        self._note_gain(gain)
        A = random_rows(r, n, rng) if self.init is None else options.given_coefficients(r, n)
        AK = tiles.matmul(np.ascontiguousarray(A.T)).T
        A, AK = whitened(A, AK) if self.init is None else (A, AK)
        return start_state(A, AK, gain), gain

    def _same_rows(self, kernel: Kernel, points: Points) -> bool:
        known = self.expansion_
        if self._precomputed or is_sparse(points) or is_sparse(known.points):
            return False
        centred = known.nu is not None
        return known.kernel == kernel and centred == self.center and np.array_equal(known.points, points)

    def _landmark_options(self) -> LandmarkOptions:
        rule = GainRule(self.gain, self.eta0, self.smd_rate, self.smd_decay)
        return LandmarkOptions(
            self.n_components, self.landmarks, self.selection, self.center, self.init, self.block_size, rule
        )

    def _note_gain(self, gain: Gain) -> None:
        self.eta0_ = gain.eta0
        self.smd_rate_ = float(getattr(gain, "rate", 0.0))

    def _fit_landmarks(self, kernel: Kernel, X: Points, rng: Any, before: LandmarkRun | None) -> None:
        options = self._landmark_options()
        outcome, self.history_ = self._learning.passes(
            kernel,
            X,
            options,
            rng,
            max_iter=self.max_iter,
            tol=float(self.tol),
            shuffle=self.shuffle,
            before=before,
            channel=self._channel(),
        )
        self._note_gain(self._learning.gain(options))
        self.n_iter_ = outcome.passes
        run = self._learning.run
        assert run is not None
        self._present(run, outcome.diverged, run.state.guard.halvings, outcome.residual if self.tol > 0 else 0.0)

    def _present(
        self, run: LandmarkRun, diverged: bool, halvings: int, unsettled: float = 0.0, *, told: bool = False
    ) -> None:
        """Make the model of a run, and warn; `told`: not of a few rows that hold nearly all variation."""
        self.expansion_ = run.expansion(center=self.center, orthonormal=self.orthonormalize)
        self._warn(diverged, halvings, unsettled, None if told else self._uneven)

    # -- streams -------------------------------------------------------------------------------------------------

    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from each row of X once, in order, and continue from the present state of the model.

        Landmarks are chosen as soon as there are as many different rows, or ten times as many rows of which more differ
        than there are components. Until then the model is exact kernel PCA of all rows so far, with fewer components
        where there are fewer different rows. After a `fit` without landmarks, learning continues in
        the span of up to 256 of its rows. A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further rows, dense or CSR. Later calls need the same features as the first one.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        HebbianKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity or has other features than the first rows, if
            `init` or `landmarks` has the wrong shape, or if kernel values are above 1e140 or all below 1e-140.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If learning diverged, if gains had to be lowered, once a few rows hold nearly all variation, or if landmarks
            are fewer than they should be because the first rows repeat each other.
        UserWarning
            If kernel values lose digits, because the first rows are far from the origin.
        """
        if self._precomputed:
            raise ValueError("partial_fit needs rows of data; a precomputed kernel has none. Pass kernel='rbf' or so.")
        refuse_chunks(X)
        first = not hasattr(self, "expansion_")
        told = not first and self._uneven is not None  # in a long stream it would be told with every chunk from then on
        X = check_rows(self, X, reset=first)
        if first:
            self._learning, self.n_iter_, self.history_ = LandmarkLearning(), 1, {}
        else:
            check_squares(self.expansion_.kernel.diagonal(X), least=0.0)  # others were larger
        self._learning, options = replace(self._learning), self._landmark_options()
        step = self._open_stream(X, options) if self._learning.run is None else self._learning.learn(X, options)
        if step is not None and self._learning.run is not None:
            self._present(self._learning.run, *step, told=told)
        return self

    def _open_stream(self, X: Points, options: LandmarkOptions) -> Step | None:
        """Start learning, or return None: then the rows wait for more, and the model is exact meanwhile."""
        learning, rng = self._learning, generator(self.random_state)
        if learning.pending is None and hasattr(self, "expansion_"):  # after fit on all rows
            step = learning.open_after(self.expansion_, X, options, rng)
        else:
            waiting = joined(learning.pending, X, merged=options.merges_rows)
            kernel = self._make_kernel(waiting.rows)  # gamma="median" of all different rows so far
            check_squares(kernel.diagonal(waiting.rows))
            if not options.are_enough(waiting):
                learning.pending = replace(waiting, rows=waiting.rows.copy())  # callers use their arrays again
                self._solve_exactly(kernel, learning.pending, options.count(n_rows(waiting.rows)))
                return None
            warn_far_from_origin(kernel, waiting.rows, self.center)
            step = learning.open(kernel, waiting, options, rng)
            self._warn_of_repeated(waiting, options)
        self._note_gain(learning.gain(options))
        return step

    def _solve_exactly(self, kernel: Kernel, waiting: WaitingRows, r: int) -> None:
        self.expansion_ = exact_model(kernel, waiting, r, self.center)
        self.eta0_, self.smd_rate_ = 0.0, 0.0

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        last = None if self._last is None else asdict(self._last)
        return {**super()._saved_state(), "learning": {**self._learning.saved(), "last": last}}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        learning = state["learning"]
        last = learning["last"]
        self._learning = LandmarkLearning.restored(self.expansion_, learning)
        self._last = None if last is None else KhaState(**{**last, "guard": Guard(**last["guard"])})

    # -- warnings ------------------------------------------------------------------------------------------------

    def _warn_of_repeated(self, waiting: WaitingRows, options: LandmarkOptions) -> None:
        found = n_rows(waiting.rows)
        if options.merges_rows and found < options.rows_to_wait_for:
            warn_user(
                f"Only {found} of the first {waiting.total} rows differ from each other. Learning now continues from "
                f"these, and its landmarks stay as they are. If later rows are more varied, leave out repeated rows at "
                "the start, or pass landmarks that represent all rows.",
                ConvergenceWarning,
            )

    @property
    def _uneven(self) -> str | None:
        """The warning that a few rows hold nearly all variation, if they do; on landmarks."""
        run = self._learning.run
        return None if run is None else uneven(self.n_samples_seen_, run.state.rows_that_count)

    def _warn(self, diverged: bool, halvings: int, unsettled: float, text: str | None) -> None:
        """Warn of the most important; `text` is what is told where learning went well."""
        if diverged:
            text = diverging(self.eta0)
        elif halvings and not (isinstance(self.eta0, str) and isinstance(self.smd_rate, str)):
            text = halved(halvings, self.eta0, self.smd_rate)
        elif unsettled > _UNSETTLED:
            text = unfinished(self.n_iter_, unsettled)
        if text is not None:
            warn_user(text, ConvergenceWarning)
