"""`LandmarkKernelPCA`: kernel PCA of streams and of large tables, in the span of a few landmarks."""

from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Points, n_rows
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_landmarks,
    check_rows,
    generator,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.kernels.functions import Kernel
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.landmarks import SELECTIONS
from mercer.solvers.landmark.learner import LandmarkLearner, LandmarkPlan
from mercer.solvers.landmark.moments import project

_MOST_COMPONENTS = 10


@dataclass(eq=False)
class _Solved:
    """The model as it was last solved; changed by what only reads the estimator, and so not a part of it."""

    expansion: Expansion | None = None
    freedom: float = 0.0  # n - 1, or what stands for it
    since: int = 0  # rows that came after it


class LandmarkKernelPCA(KernelDecomposition):
    """Kernel PCA of streams and of large tables, in the span of a few landmarks.

    Rows are seen once and not kept: what stays are weighted moments of their kernel values with m landmarks. From these
    the components follow whenever they are asked for, the same whatever the chunks were, so a model can forget, look
    at a window only, and be merged with others. Memory is m^2 numbers (and the rows of the window), time n m (d + m).
    Float32 rows are twice as fast; components whose share of the first is below about 1e-3 are then rounding.

    Parameters
    ----------
    n_components : int or None
        None: 10, or as many as there are landmarks if these are fewer.
    kernel, gamma, degree, coef0, kernel_params : as in `KernelPCA`
        gamma=None and gamma="median" look at the first chunk only.
    landmarks : int, array or None
        At most so many points, or these. Until more rows than that have come, the model is exact kernel PCA of the
        rows so far. Models that are to be merged need the same array. None: all rows are kept, and it stays exact.
    selection : {"auto", "kmeans", "rpcholesky", "uniform", "ald", "greedy_kpca"}
        How landmarks are chosen from the first chunks, or in `fit` from all rows. "auto": k-means for the Gaussian
        kernel, randomly pivoted Cholesky otherwise. "ald": a row becomes a landmark if it is not nearly a linear
        combination, in feature space, of those before it; this goes on as the stream does, up to `landmarks` points.
        Of rows seen before a landmark joined, their projection on the landmarks of then counts. Where the others find
        fewer points than asked for, as in repeated rows, they go on in this way too.
    nu : float
        For "ald": the squared distance from the span, as a share of the mean k(x, x), above which a row joins.
    center : bool
        Centre in feature space. False takes the kernel as it is.
    window : int or None
        Only the last so many rows count. They are kept for this (at times up to twice as many), in the precision that
        they came in, and their kernel values are computed again when they leave. If the landmarks miss clearly more of
        the window than when they were chosen, new ones are chosen from its rows. With a window of no more than
        `landmarks` rows, the model is exact kernel PCA of these.
    forgetting : float
        In (0, 1]: each row's weight is multiplied by this whenever a further one comes. 1: all rows count alike.
    refresh : int or None
        None: components are computed when they are asked for after new rows have come. k: only once at least k new
        rows have come, and then at once; in between the model stays as it is.
    preimage, alpha, random_state, n_jobs, verbose : as in `KernelPCA`

    Attributes
    ----------
    expansion_ : Expansion
        The model. Its `n_seen` is the number of rows that count, with forgetting the rounded sum of their weights.
    n_components_ : int
        How many components there are: at most as many as were asked for, and as the rows allow.
    eigenvalues_ : ndarray
        Of the centred kernel matrix, where row i and column i are multiplied by the root of the weight of row i.
    explained_variance_ : ndarray
        eigenvalues_ / (n - 1); with forgetting n - 1 is W - sum w^2 / W, W the sum of the weights w.
    explained_variance_ratio_ : ndarray
        Against the whole variation, what the landmarks miss included.
    n_samples_seen_ : int
        All rows seen so far, forgotten ones too.
    gamma_ : float

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import LandmarkKernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = LandmarkKernelPCA(n_components=5, gamma="median", landmarks=100, random_state=0)
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

    _learner: LandmarkLearner | None = None
    _solved: "_Solved"

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
        verbose: bool = False,
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
        """Choose landmarks from the rows of X, dense or CSR, and learn from all of them in order."""
        X = self._check_learnable(X, reset=True)
        self._begin(X)
        self._learn(X)
        return self

    @all_or_nothing
    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from each row of X, going on from where the model stands. A chunk that fails leaves it as it was."""
        first = not self.__sklearn_is_fitted__()
        X = self._check_learnable(X, reset=first)
        if first:
            self._begin(X)
        self._learn(X)
        return self

    def _check_learnable(self, X: Any, reset: bool) -> Points:
        if self._precomputed:
            raise ValueError(
                "LandmarkKernelPCA needs rows of data; a precomputed kernel has none. Pass kernel='rbf' or so."
            )
        return check_rows(self, X, reset=reset)

    def _begin(self, X: Points) -> None:
        plan = self._plan(self._make_kernel(X), n_features=X.shape[1])
        require_rows(plan.kernel)
        self._learner, self._solved = LandmarkLearner(plan), _Solved()

    def _plan(self, kernel: Kernel, n_features: int) -> LandmarkPlan:
        wanted = int(self.landmarks) if isinstance(self.landmarks, Integral) else None
        by_rows = self.landmarks is not None and wanted is None
        given = check_landmarks(self.landmarks, n_features) if by_rows else None
        m = wanted if given is None else n_rows(given)
        if self.n_components is not None and m is not None and self.n_components > m:
            raise ValueError(
                f"n_components={self.n_components} needs at least as many landmarks; there are {m}. Raise `landmarks`, "
                "or ask for fewer components."
            )
        return LandmarkPlan(
            kernel, given, wanted, self.selection, float(self.nu), self.window, float(self.forgetting), self.n_jobs
        )

    def _learn(self, X: Points) -> None:
        assert self._learner is not None
        self._learner = copy(self._learner)
        self._learner.learn(X, generator(self.random_state))
        self._solved = replace(self._solved, since=self._solved.since + n_rows(X))
        if self.refresh is None:
            self._solved.expansion = None
        elif self._solved.since >= self.refresh:
            self._solve()
        self._channel().emit("Rows learned", self._learner.seen)

    # -- the model -----------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return self._learner is not None and self._learner.seen > 0

    @property
    def expansion_(self) -> Expansion:  # type: ignore[override]
        """The model of the rows so far, solved when it is asked for."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: it has no expansion_.")
        return self._solve() if self._solved.expansion is None else self._solved.expansion

    def _solve(self) -> Expansion:
        assert self._learner is not None
        r = _MOST_COMPONENTS if self.n_components is None else int(self.n_components)
        expansion, freedom = self._learner.model(r, self.center)
        self._solved.expansion, self._solved.freedom, self._solved.since = expansion, freedom, 0
        return expansion

    def transform(self, X: Any) -> Array:
        """Return the scores of the rows of X on the components, (n_samples, n_components)."""
        check_is_fitted(self)
        X = self._check(X)
        return project(self.expansion_, X, self.n_jobs)

    @property
    def explained_variance_(self) -> Array:
        """Variance along each component: eigenvalues_ / (n - 1), or the like for weighted rows."""
        values = self.eigenvalues_
        return values / (self._solved.freedom if self._solved.freedom > 1e-9 else 1.0)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows seen so far, forgotten ones too."""
        check_is_fitted(self)
        assert self._learner is not None
        return self._learner.seen

    # -- merging -------------------------------------------------------------------------------------------------

    def merge(self, other: "LandmarkKernelPCA") -> Self:
        """Return the model that saw the rows of this one and then those of another; both stay as they are.

        It is the same as that of one model for all rows, to rounding. Both need the same kernel, window, forgetting and
        landmarks: give all of them the same array as `landmarks`. A model that has not yet chosen any holds its rows,
        and can be merged with every other.
        """
        check_is_fitted(self)
        self._check_same(other)
        assert self._learner is not None
        assert other._learner is not None
        merged = copy(self)
        merged._learner = self._learner.followed_by(other._learner, generator(self.random_state))
        merged._solved = _Solved()
        return merged

    def _check_same(self, other: Any) -> None:
        if not isinstance(other, LandmarkKernelPCA):
            raise TypeError(f"Only a LandmarkKernelPCA can be merged with one; a {type(other).__name__} came.")
        check_is_fitted(other)
        assert self._learner is not None
        assert other._learner is not None
        for name, mine, theirs in (
            ("numbers of features", self.n_features_in_, other.n_features_in_),
            ("kernels", self._learner.plan.kernel, other._learner.plan.kernel),
            ("windows", self.window, other.window),
            ("rates of forgetting", self.forgetting, other.forgetting),
        ):
            if mine != theirs:
                raise ValueError(f"Models with different {name} cannot be merged: {mine!r} and {theirs!r}.")

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        expansion = self.expansion_  # solved first: it is the same bits wherever the file is read
        assert self._learner is not None
        learning = {**self._learner.state(), "since": self._solved.since, "freedom": self._solved.freedom}
        return {**super()._saved_state(), "expansion": expansion, "learning": learning}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        expansion, learning = state["expansion"], state["learning"]
        self._solved = _Solved(expansion, learning["freedom"], learning["since"])
        self._learner = LandmarkLearner.from_state(self._plan(expansion.kernel, self.n_features_in_), learning)
