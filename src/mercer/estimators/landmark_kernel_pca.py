"""`LandmarkKernelPCA`: kernel PCA of streams and of large tables, in the span of a few landmarks."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray, Points, n_rows, stack_rows
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.chunked_rows import examples_of, is_chunked, refuse_chunks
from mercer.estimators.landmark_parameter import are_given, check_landmarks, rows_to_choose_from
from mercer.estimators.learning_warnings import warn_far_from_origin
from mercer.estimators.merging import check_mergeable, check_same
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    MOST_COMPONENTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    generator,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.expansion.part_model import PartModel
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.landmarks import SELECTIONS
from mercer.solvers.landmark.first_rows import ENOUGH_ROWS, measure_again, measures_gamma
from mercer.solvers.landmark.models import models_without_parts, project
from mercer.solvers.landmark.recent_rows import RecentRows
from mercer.solvers.landmark.stream import LandmarkPlan, LandmarkStream


@dataclass(eq=False)
class _Solved:
    """The model as it was last solved; changed by what only reads the estimator, and so not a part of it."""

    expansion: Expansion | None = None
    freedom: float = 0.0  # n - 1, or what stands for it
    since: int = 0  # rows learned after it


class LandmarkKernelPCA(KernelDecomposition):
    """Kernel PCA of streams and of large tables, in the span of a few landmarks.

    Rows are read once and not kept. What is kept are weighted moments of their kernel values with m landmarks, which is
    the Nyström method [williams2001]_ for data that arrive in parts. Components are computed from these moments when
    they are asked for. On the same landmarks they do not depend on how the rows were cut into chunks. A model can
    forget old rows, look at a window of recent rows only, and be merged with others. Memory is m^2 numbers (and the
    rows of the window), time is proportional to n m (d + m) for n rows of d features. For float32 rows, kernel values
    are computed in float32, which is faster, if a test on some of the first rows shows that eigenvalues stay right to
    1e-6 of the largest one; otherwise, and with `window` or `forgetting`, they are computed in float64.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None: 10, or the number of landmarks if there are fewer.
    kernel : str, callable or kernel object, default="rbf"
        The kernel. Names are "linear", "poly" (or "polynomial"), "rbf" (Gaussian), "sigmoid", "cosine", "laplacian",
        "chi2", "wavelet" and "precomputed". "precomputed" is refused: the model keeps points, and a kernel matrix has
        none. A callable takes two rows and returns a number, or takes two matrices and returns the matrix of their
        kernel values. Kernel objects are in `mercer.kernels`.
    gamma : float, "median" or None, default=None
        Coefficient of the kernels "rbf", "poly", "sigmoid", "laplacian" and "chi2"; other kernels ignore it. None: 1 /
        n_features. "median": 1 / (2 m^2), where m is the median distance between rows (of at most 1000 random rows).
        For "laplacian" and "chi2" it is 1 / (2 m), where m is the median of the distance in their exponent.
        The value in use is `gamma_`. In `partial_fit`, "median" looks at the first chunk only; if that has fewer than
        100 rows, or if all its rows are the same, it is measured again with the next chunks, by all rows so far, but
        not after landmarks were chosen.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    landmarks : int, {array-like, sparse matrix} of shape (n_landmarks, n_features) or None, default=256
        At most so many points, or these points. Until more rows than that have arrived, the model is exact kernel PCA
        of the rows so far. Models that are to be merged need the same array. None: all rows are kept, and the model
        stays exact.
    selection : {"auto", "uniform", "kmeans", "rpcholesky", "ald", "greedy_kpca"}, default="auto"
        How landmarks are chosen. "uniform": random rows. "kmeans": centres of k-means clusters. "rpcholesky": rows
        chosen by randomly pivoted Cholesky. "ald": rows that are not nearly a linear combination, in feature space, of
        those chosen before. "greedy_kpca": one row after the other, each the one that lowers the error of kernel PCA
        most. "auto": "kmeans" for the Gaussian kernel on dense rows, "rpcholesky" otherwise. Landmarks are chosen from
        the first chunks, or in `fit` from all rows. With "ald" the choice continues with the stream, up to `landmarks`
        points; of rows seen before a landmark was added, their projection on the landmarks of that time counts. Where
        the other rules find fewer points than asked for, as in repeated rows, the choice continues in the same way.
    nu : float in [0, 1), default=1e-4
        For "ald": the squared distance from the span of the landmarks, as a share of the mean of k(x, x), above which a
        row becomes a landmark.
    center : bool, default=True
        Centre in feature space. False takes the kernel as it is.
    window : int or None, default=None
        Only the last so many rows count. They are kept for this (at times up to twice as many), in the precision in
        which they arrived, and their kernel values are computed again when they leave the window. Each time that a
        tenth of the window has come (and at least as many rows as landmarks), it is examined whether the landmarks miss
        clearly more of the window than when they were chosen; new ones are chosen from its rows then. With a window of
        no more than `landmarks` rows, the model is exact kernel PCA of these rows. None: all rows count.
    forgetting : float in (0, 1], default=1.0
        The weight of each row is multiplied by this with every further row. 1: all rows have the same weight. Below 1,
        some recent rows are kept (two for each landmark), and if the landmarks miss clearly more of them than at first,
        new landmarks are chosen among these rows and the landmarks before. Of older rows, their projection on the
        landmarks before counts then. Landmarks that are given as an array stay.
    refresh : int or None, default=None
        None: components are computed when they are asked for after new rows have arrived. An int: they are computed as
        soon as at least so many new rows have arrived; in between the model stays as it is.
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
        Seed or generator for the choice of landmarks. Pass an int to get the same landmarks in each run.
    n_jobs : int or None, default=None
        Number of threads. None and -1: as many as BLAS uses; -2: one fewer, and so on.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The model of the rows so far. Its `n_seen` is the number of rows that count; with forgetting it is the rounded
        sum of their weights.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, descending, where row i and column i are multiplied by the square root
        of the weight of row i.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n - 1)``. With forgetting, n - 1 is replaced by W - sum w^2 /
        W, where W is the sum of the weights w.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total includes what the landmarks miss.
    n_samples_seen_ : int
        Number of rows seen so far, forgotten ones included.
    gamma_ : float
        The value of `gamma` in use.
    n_features_in_ : int
        Number of features of the rows in `fit`, or in the first call of `partial_fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    KernelPCA : Exact kernel PCA of rows in memory.
    IncrementalKernelPCA : Kernel PCA of a stream, without landmarks in advance.
    OnlineRobustKernelPCA : Robust kernel PCA of a stream.

    Notes
    -----
    The rule "ald" (approximate linear dependence) is from [engel2004]_, and "greedy_kpca" follows [franc2003]_.

    References
    ----------
    .. [williams2001] C. K. I. Williams and M. Seeger, Using the Nyström method to speed up kernel machines, Advances in
       Neural Information Processing Systems 13, 2001.
    .. [engel2004] Y. Engel, S. Mannor and R. Meir, The kernel recursive least-squares algorithm, IEEE Transactions on
       Signal Processing 52, 2004.
    .. [franc2003] V. Franc and V. Hlaváč, Greedy algorithm for a training set reduction in the kernel methods, Computer
       Analysis of Images and Patterns, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import LandmarkKernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = LandmarkKernelPCA(5, gamma="median", landmarks=100, random_state=0)
    >>> for first in range(0, 1700, 100):
    ...     model = model.partial_fit(X[first : first + 100])
    >>> model.transform(X[1700:]).shape
    (97, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "landmarks": [Interval(Integral, 1, None, closed="left"), "array-like", "sparse matrix", None],
        "selection": [StrOptions(set(SELECTIONS))],
        "nu": [Interval(Real, 0, 1, closed="left")],
        "center": ["boolean"],
        "window": [Interval(Integral, 1, None, closed="left"), None],
        "forgetting": [Interval(Real, 0, 1, closed="right")],
        "refresh": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }
    _fitted_attributes = ("gamma_", "n_features_in_", "feature_names_in_")  # `expansion_` is made when asked for

    _stream: LandmarkStream
    _solved: _Solved

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        landmarks: Any = 256,
        selection: str = "auto",
        nu: float = 1e-4,
        center: bool = True,
        window: int | None = None,
        forgetting: float = 1.0,
        refresh: int | None = None,
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
        self.landmarks = landmarks
        self.selection = selection
        self.nu = nu
        self.center = center
        self.window = window
        self.forgetting = forgetting
        self.refresh = refresh
        self.preimage = preimage
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- learning ------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks from the rows of X and learn from all of them, in order.

        Files and iterators may hold more rows than memory. Files are read twice: landmarks are chosen from a sample of
        all rows (3000, or 10 for each landmark). An iterator is read once, and its landmarks are from its first rows.
        A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), file name or names, or iterator of chunks
            Training rows, dense or CSR. Files can be of every kind that `mercer fit` reads. A chunk is any table of
            rows that `partial_fit` takes; all need the same features.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        LandmarkKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity, if `landmarks` has other features than X, or if
            there are fewer landmarks than `n_components`.
        """
        if is_chunked(X):
            self._fit_chunks(X)
        else:
            X = self._check_learnable(X, reset=True)
            self._begin(X)
            self._learn(X)
        self._warn_of_result()
        return self

    def _fit_chunks(self, X: Any) -> None:
        """Learn from files, of which a sample of all rows gives the landmarks, or from chunks that come once."""
        names: list[str] = []
        most, rng = rows_to_choose_from(self.landmarks), generator(self.random_state)
        examples, chunks = examples_of(X, most, rng, names, self._check_learnable)
        self._begin(examples)
        wanted = self._stream.plan.wanted
        if wanted is not None and wanted < n_rows(examples) and self.window is None:
            self._stream.open_on(*self._stream.plan.choose(examples, generator(self.random_state)))
        for chunk in chunks:
            self._learn(chunk)
        self._solved.expansion = None  # where `refresh` is set, it is that of some of the chunks
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from each row of X, in order, and continue from the present state of the model.

        A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further rows, dense or CSR. Later calls need the same features as the first one.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        LandmarkKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity or has other features than the first rows, if
            `landmarks` has other features than X, or if there are fewer landmarks than `n_components`.
        """
        refuse_chunks(X)
        first = not self.__sklearn_is_fitted__()
        X = self._check_learnable(X, reset=first)
        if first:
            self._begin(X, self._first_rows(X))
        measured = self._measured_rows(X)
        self._learn(X)
        if measured is not None:
            self._stream.measuring = measure_again(measured, self._stream.seen, self._stream.landmarks is None)
        return self

    def _first_rows(self, X: Points) -> Points:
        """Return the rows that gamma='median' is measured by: the first ones, and given landmarks if these are few."""
        if not are_given(self.landmarks) or n_rows(X) >= ENOUGH_ROWS or not measures_gamma(self.kernel, self.gamma):
            return X
        return stack_rows(check_landmarks(self.landmarks, X.shape[1]), X)

    def _measured_rows(self, X: Points) -> Points | None:
        """Measure gamma='median' by all rows so far and X, while they are few; return these rows, None if it stays."""
        stream = self._stream
        if not stream.measuring:
            return None
        rows = RecentRows([*stream.rows.pieces, X]).stacked() if stream.seen else self._first_rows(X)
        kernel = self._make_kernel(rows)
        if kernel != stream.plan.kernel:
            self._stream, self._solved = copy(stream), _Solved(since=self._solved.since)
            self._stream.plan = replace(stream.plan, kernel=kernel)
        return rows

    @validated
    def _fit_with_parts(self, X: Any, parts: Sequence[IntArray], reference: IntArray) -> list[PartModel]:
        """Fit to all rows; return the models of all rows but each part.

        All have the gamma and the landmarks that the `reference` rows set. There is no window and no forgetting.
        """
        X = self._check_learnable(X, reset=True)
        self._begin(X[reference])
        rest = np.setdiff1d(np.arange(n_rows(X)), np.concatenate(parts))
        pieces = [X[rows] for rows in (*parts, rest) if len(rows)]
        moments = self._stream.learn_parts(pieces, X[reference], generator(self.random_state))
        assert self._stream.landmarks is not None
        self._channel().emit("Rows learned", self._stream.seen)
        self._warn_of_result()
        space = self._stream.landmarks.whitening
        return models_without_parts(space, moments, X, parts, self._wanted_components, self.center)

    def _begin(self, X: Points, first: Points | None = None) -> None:
        """Begin with rows of this kind; `first` are those that measure gamma, where more of them may follow."""
        plan = self._plan(self._make_kernel(X if first is None else first), n_features=X.shape[1])
        require_rows(plan.kernel)
        warn_far_from_origin(plan.kernel, X, self.center)
        self._stream, self._solved = LandmarkStream(plan), _Solved()
        self._stream.measuring = first is not None and measures_gamma(self.kernel, self.gamma)

    def _adopt(self, stream: LandmarkStream) -> None:
        """Take over a stream that was learned elsewhere, with the plan of this model."""
        self._stream, self._solved = stream, _Solved()

    def _plan(self, kernel: Kernel, n_features: int) -> LandmarkPlan:
        wanted = int(self.landmarks) if isinstance(self.landmarks, Integral) else None
        given = check_landmarks(self.landmarks, n_features) if are_given(self.landmarks) else None
        m = wanted if given is None else n_rows(given)
        if self.n_components is not None and m is not None and self.n_components > m:
            raise ValueError(
                f"n_components={self.n_components} needs at least as many landmarks; there are {m}. Raise `landmarks`, "
                "or ask for fewer components."
            )
        return LandmarkPlan(
            kernel,
            given,
            wanted,
            self.selection,
            float(self.nu),
            self.window,
            float(self.forgetting),
            self._wanted_components,
            self.n_jobs,
        )

    @property
    def _wanted_components(self) -> int:
        return MOST_COMPONENTS if self.n_components is None else int(self.n_components)

    def _learn(self, X: Points) -> None:
        """Learn from rows; until all of them are learned, other threads see the model as it was."""
        stream = copy(self._stream)
        stream.learn(X, generator(self.random_state))
        solved = replace(self._solved, since=self._solved.since + n_rows(X))
        if self.refresh is None:
            solved.expansion = None
        self._stream, self._solved = stream, solved
        if self.refresh is not None and solved.since >= self.refresh:
            self._solve()
        self._channel().emit("Rows learned", stream.seen)

    def _warn_of_fewer(self) -> None:
        """Warn where there are fewer components than asked for; the model is solved only where that is in doubt."""
        if self.n_components is not None and not self._stream.surely_has(int(self.n_components), self.center):
            super()._warn_of_fewer()

    def _rows_in_sight(self) -> float | None:
        """Return how near other rows, or landmarks, are to a row; the model is solved only without landmarks."""
        if self._stream.landmarks is None:
            return super()._rows_in_sight()
        return self._stream.near_landmarks() if self._stream.plan.kernel.unit_diagonal else None

    # -- the model -----------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream") and self._stream.seen > 0

    @property
    def expansion_(self) -> Expansion:  # type: ignore[override]
        """Model of the rows so far, computed when it is asked for."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: it has no expansion_.")
        expansion = self._solved.expansion
        return self._solve() if expansion is None else expansion

    def _solve(self) -> Expansion:
        solved = self._solved  # another thread may learn meanwhile, and replace it
        expansion, freedom = self._stream.model(self._wanted_components, self.center)
        solved.expansion, solved.freedom, solved.since = expansion, freedom, 0
        return expansion

    def transform(self, X: Any) -> Array:
        """Return the scores of the rows of X on the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to project, with the features of the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The scores: inner products, in feature space, of the centred rows with the components. They are float32
            where X is float32, else float64.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        check_is_fitted(self)
        X = self._check(X)
        return project(self.expansion_, X, self.n_jobs)

    @property
    def explained_variance_(self) -> Array:
        """Variance along each component; an array of shape (n_components,).

        It is ``eigenvalues_ / (n - 1)``. With forgetting, n - 1 is replaced by W - sum w^2 / W, where W is the sum of
        the weights w.
        """
        values = self.eigenvalues_
        return values / (self._solved.freedom if self._solved.freedom > 1e-9 else 1.0)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows seen so far, forgotten ones included."""
        check_is_fitted(self)
        return self._stream.seen

    # -- merging -------------------------------------------------------------------------------------------------

    def merge(self, other: "LandmarkKernelPCA") -> Self:
        """Return the model that saw the rows of this one and then those of another.

        Both models stay as they are. The result is the same as that of one model for all rows, to rounding. Both need
        the same landmarks: give all models the same array as `landmarks`. A model that has not yet chosen any landmarks
        holds its rows, and can be merged with every other.

        Parameters
        ----------
        other : LandmarkKernelPCA
            A fitted model with the same kernel, window, forgetting and landmarks.

        Returns
        -------
        LandmarkKernelPCA
            A new model of the rows of both.

        Raises
        ------
        TypeError
            If `other` is not a LandmarkKernelPCA.
        ValueError
            If the models differ in features, kernel, window, forgetting or landmarks.
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import LandmarkKernelPCA
        >>> X = np.random.default_rng(0).normal(size=(200, 4))
        >>> first = LandmarkKernelPCA(2, gamma=0.1, landmarks=X[:20]).fit(X[:100])
        >>> second = LandmarkKernelPCA(2, gamma=0.1, landmarks=X[:20]).fit(X[100:])
        >>> whole = LandmarkKernelPCA(2, gamma=0.1, landmarks=X[:20]).fit(X)
        >>> bool(np.allclose(first.merge(second).eigenvalues_, whole.eigenvalues_))
        True
        """
        check_is_fitted(self)
        check_mergeable(self, other, LandmarkKernelPCA)
        mine, theirs = self._stream.plan, other._stream.plan
        check_same(
            {
                "kernels": (mine.kernel, theirs.kernel),
                "windows": (mine.window, theirs.window),
                "rates of forgetting": (mine.forgetting, theirs.forgetting),
            }
        )
        merged = self._twin()
        merged._stream = self._stream.followed_by(other._stream, generator(self.random_state))
        merged._solved = _Solved()
        return merged

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        expansion = self.expansion_  # solved first: it is the same bits wherever the file is read
        learning = {**self._stream.state(), "since": self._solved.since, "freedom": self._solved.freedom}
        return {**super()._saved_state(), "expansion": expansion, "learning": learning}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        expansion, learning = state["expansion"], state["learning"]
        self._solved = _Solved(expansion, learning["freedom"], learning["since"])
        self._stream = LandmarkStream.from_state(self._restored_plan(expansion.kernel, learning), learning)

    def _restored_plan(self, kernel: Kernel, learning: dict[str, Any]) -> LandmarkPlan:
        """Return the plan that the stream was opened with; parameters may have been set to other values since then."""
        if "plan" not in learning:  # in files of earlier versions
            return self._plan(kernel, self.n_features_in_)
        return LandmarkPlan(kernel=kernel, given=None, n_jobs=self.n_jobs, **learning["plan"])
