"""`LandmarkKernelPCA`: kernel PCA of streams and of large tables, in the span of a few landmarks."""

from copy import copy
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Points, n_rows
from mercer.engine.moments import fading_weights
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    check_rows,
    generator,
)
from mercer.expansion import Expansion
from mercer.kernels.functions import Kernel
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.landmarks import SELECTIONS, AldDictionary, select_landmarks
from mercer.solvers.landmark_moments import check_kernel, exact_model, project
from mercer.solvers.landmark_stream import LandmarkStream, same_points
from mercer.solvers.recent_rows import RecentRows

_MOST_COMPONENTS = 10
_WORSE, _MUCH = 2.0, 0.05  # landmarks are chosen anew when they miss more than _WORSE times what they did, plus _MUCH


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
    selection : {"auto", "kmeans", "rpcholesky", "uniform", "ald"}
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

    _kernel: Kernel
    _waiting: RecentRows | None = None  # the rows so far, until landmarks are chosen
    _stream: LandmarkStream | None = None  # from then on
    _missed: float = 0.0  # what the landmarks missed when they were chosen, as a share
    _seen: int = 0
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

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> "LandmarkKernelPCA":
        """Choose landmarks from the rows of X, dense or CSR, and learn from all of them in order."""
        X = self._check_learnable(X, reset=True)
        self._begin(X)
        self._learn(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> "LandmarkKernelPCA":
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
        self._check_sizes(X)
        self._kernel = self._make_kernel(X)
        require_rows(self._kernel)
        self._waiting, self._stream, self._solved = None, None, _Solved()
        self._seen, self._missed = 0, 0.0

    def _check_sizes(self, X: Points) -> None:
        given = self._given
        m = self._wanted if given is None else n_rows(given)
        if given is not None and given.shape[1] != X.shape[1]:
            raise ValueError(f"landmarks have {given.shape[1]} features; X has {X.shape[1]}.")
        if self.n_components is not None and m is not None and self.n_components > m:
            raise ValueError(
                f"n_components={self.n_components} needs at least as many landmarks; there are {m}. Raise `landmarks`, "
                "or ask for fewer components."
            )

    @property
    def _wanted(self) -> int | None:
        return int(self.landmarks) if isinstance(self.landmarks, Integral) else None

    @property
    def _given(self) -> Points:
        """Return the landmarks that the user gave, else None."""
        if self.landmarks is None or isinstance(self.landmarks, Integral):
            return None
        return check_array(self.landmarks, dtype=np.float64, accept_sparse="csr", input_name="landmarks")

    def _learn(self, X: Points) -> None:
        if self._stream is None:
            self._wait_or_open(X)
        else:
            self._stream.learn(X)
            self._renew_window()
        self._seen += n_rows(X)
        self._solved.since += n_rows(X)
        if self.refresh is None:
            self._solved.expansion = None
        elif self._solved.since >= self.refresh:
            self._solve()
        self._channel().emit("Rows learned", self._seen)

    def _wait_or_open(self, X: Points) -> None:
        rows = X if self.window is None else X[-self.window :]
        given = self._given
        if given is not None:
            self._stream = self._opened(given, None, rows)
            return
        waiting = RecentRows() if self._waiting is None else self._waiting.copy()
        total = len(waiting) + n_rows(rows)
        if self.window is not None and total > self.window:
            waiting.drop(total - self.window)
        if self._wanted is None or len(waiting) + n_rows(rows) <= self._wanted:
            waiting.append(rows)
            check_kernel(self._kernel, waiting.stacked())
            self._waiting = waiting
            return
        if len(waiting):
            rows = RecentRows([*waiting.pieces, rows]).stacked()
        self._stream = self._chosen(rows)
        self._waiting = None

    def _chosen(self, rows: Points) -> LandmarkStream:
        """Return a stream of the rows, on landmarks chosen among them."""
        points, dictionary = self._choose(rows)
        stream = self._opened(points.astype(np.float64, copy=False), dictionary, rows)
        self._missed = stream.missing_share if self.window is not None else 0.0
        return stream

    def _choose(self, rows: Points) -> tuple[Points, AldDictionary | None]:
        wanted, rng = self._wanted, generator(self.random_state)
        assert wanted is not None
        # where another rule finds too few, every row that is not an exact combination is welcome
        dictionary = AldDictionary(self._kernel, float(self.nu) if self.selection == "ald" else 0.0, wanted)
        if self.selection == "ald":
            dictionary.extend(rows)
        else:
            points = select_landmarks(self._kernel, rows, wanted, self.selection, rng)
            if n_rows(points) == wanted:
                return points, None
            dictionary.extend(points)
        if len(dictionary) == 0:
            return rows[:1], dictionary
        return dictionary.points, dictionary if len(dictionary) < wanted else None

    def _opened(self, points: Points, dictionary: AldDictionary | None, rows: Points) -> LandmarkStream:
        stream = LandmarkStream(
            self._kernel,
            points,
            window=self.window,
            forgetting=float(self.forgetting),
            n_jobs=self.n_jobs,
        )
        stream.learn(rows)
        stream.dictionary = dictionary
        return stream

    def _renew_window(self) -> None:
        """Compute the window's moments anew from time to time, on new landmarks where the old ones miss too much."""
        assert self._stream is not None
        if not self._stream.has_turned_over:
            return
        self._stream.renew()
        if self._wanted is not None and self._stream.missing_share > _WORSE * self._missed + _MUCH:
            self._stream = self._chosen(self._stream.rows.stacked())

    # -- the model -----------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return self._seen > 0

    @property
    def expansion_(self) -> Expansion:  # type: ignore[override]
        """The model of the rows so far, solved when it is asked for."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: it has no expansion_.")
        return self._solve() if self._solved.expansion is None else self._solved.expansion

    def _solve(self) -> Expansion:
        r = _MOST_COMPONENTS if self.n_components is None else int(self.n_components)
        solved = self._solved
        if self._stream is not None:
            expansion, solved.freedom = self._stream.expansion(r, self.center), self._stream.freedom
        else:
            assert self._waiting is not None
            rows = self._waiting.stacked().astype(np.float64, copy=False)
            expansion = exact_model(self._kernel, rows, r, float(self.forgetting), self.center)
            solved.freedom = _freedom(n_rows(rows), float(self.forgetting))
        solved.expansion, solved.since = expansion, 0
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
        return self._seen

    # -- merging -------------------------------------------------------------------------------------------------

    def merge(self, other: "LandmarkKernelPCA") -> "LandmarkKernelPCA":
        """Return the model that saw the rows of this one and then those of another; both stay as they are.

        It is the same as that of one model for all rows, to rounding. Both need the same kernel, window, forgetting and
        landmarks: give all of them the same array as `landmarks`. A model that has not yet chosen any holds its rows,
        and can be merged with every other.
        """
        check_is_fitted(self)
        self._check_same(other)
        merged = copy(self)
        merged._waiting = None if self._waiting is None else self._waiting.copy()
        merged._stream = None if self._stream is None else self._stream.copy()
        merged._solved = _Solved()
        if other._stream is None:
            assert other._waiting is not None
            for piece in other._waiting.pieces:
                merged._learn(piece)
        else:
            merged._stream = self._on_landmarks_of(other._stream).followed_by(other._stream, other._seen)
            merged._waiting = None
        merged._seen = self._seen + other._seen
        return merged

    def _check_same(self, other: Any) -> None:
        if not isinstance(other, LandmarkKernelPCA):
            raise TypeError(f"Only a LandmarkKernelPCA can be merged with one; a {type(other).__name__} came.")
        check_is_fitted(other)
        for name, mine, theirs in (
            ("numbers of features", self.n_features_in_, other.n_features_in_),
            ("kernels", self._kernel, other._kernel),
            ("windows", self.window, other.window),
            ("rates of forgetting", self.forgetting, other.forgetting),
        ):
            if mine != theirs:
                raise ValueError(f"Models with different {name} cannot be merged: {mine!r} and {theirs!r}.")

    def _on_landmarks_of(self, theirs: LandmarkStream) -> LandmarkStream:
        if self._stream is None:
            assert self._waiting is not None
            return self._opened(theirs.points, copy(theirs.dictionary), self._waiting.stacked())
        if not same_points(self._stream.points, theirs.points):
            raise ValueError(
                f"Models on different landmarks cannot be merged exactly (they have {n_rows(self._stream.points)} and "
                f"{n_rows(theirs.points)}). Give all of them the same array as `landmarks`, for example "
                "first.expansion_.points."
            )
        return self._stream

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        expansion = self.expansion_  # solved first: it is the same bits wherever the file is read
        learning = {
            "waiting": None if self._waiting is None else self._waiting.pieces,
            "stream": None if self._stream is None else self._stream.state(),
            "missed": self._missed,
            "seen": self._seen,
            "since": self._solved.since,
            "freedom": self._solved.freedom,
        }
        return {**super()._saved_state(), "expansion": expansion, "learning": learning}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        learning = state["learning"]
        self._solved = _Solved(state["expansion"], learning["freedom"], learning["since"])
        self._kernel = state["expansion"].kernel
        self._seen, self._missed = learning["seen"], learning["missed"]
        self._waiting = None if learning["waiting"] is None else RecentRows(learning["waiting"])
        if learning["stream"] is not None:
            self._stream = LandmarkStream.from_state(self._kernel, learning["stream"], self.n_jobs)


def _freedom(n: int, forgetting: float) -> float:
    weights = fading_weights(n, forgetting)
    return n - 1.0 if weights is None else float(weights.sum() - (weights @ weights) / weights.sum())
