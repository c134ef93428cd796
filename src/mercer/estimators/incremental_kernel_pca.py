"""`IncrementalKernelPCA`: kernel PCA of streams by updates of an SVD, on a library of points that does not grow."""

import time
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, Points, n_rows, stack_rows
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.chunked_rows import examples_of, is_chunked, refuse_chunks
from mercer.estimators.learning_warnings import warn_far_from_origin
from mercer.estimators.merging import check_mergeable, check_same
from mercer.estimators.update_history import Record, UpdateHistory
from mercer.estimators.validation import (
    KERNEL_CONSTRAINTS,
    MOST_COMPONENTS,
    OUTPUT_CONSTRAINTS,
    Interval,
    StrOptions,
    validated,
)
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import require_rows
from mercer.kernels.threads import one_blas_thread
from mercer.metrics import subspace_distance
from mercer.solvers.incremental.model import IncrementalModel, StreamOptions
from mercer.solvers.incremental.reduced_set import Method
from mercer.solvers.incremental.update import merged, nothing_yet, updated
from mercer.solvers.landmark.first_rows import measure_again, measures_gamma

_MOST_MEASURED = 1000  # rows, if all are the same, after which gamma="median" is given up
_EXAMPLES = 3000  # rows of files, or first rows of an iterator, that set gamma


class IncrementalKernelPCA(KernelDecomposition):
    """Kernel PCA of a stream by updates of an SVD in feature space, in constant memory.

    Components, singular values and mean of all rows so far are updated with every few new rows [chin2007]_. The update
    is exact except for what `rank` components cannot hold. Components and mean are expressed by a library of points.
    When it has more than (rank + 1) * `points_per_component` points, it is replaced by a smaller one that represents
    them best. After every call the model describes all rows that it was given.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None: 10.
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
        not after the library was compressed.
    degree : float, default=3
        Degree of the "poly" kernel; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid"; other kernels ignore it.
    kernel_params : dict or None, default=None
        Further parameters of a callable kernel or of "wavelet", passed to it by keyword.
    rank : int or None, default=None
        Number of components that are carried along (r of the paper), of which the first `n_components` are shown. What
        is beyond them in one update is lost for the next, so more are more accurate. None: the larger of 2 n_components
        and n_components + 3. The first (rank + 1) * `points_per_component` rows lose nothing: of these the model is
        exact kernel PCA.
    points_per_component : int, default=10
        Number of points of the library for each component and for the mean (p of the paper).
    batch_size : int, default=30
        Number of rows of one update (i of the paper). Chunks with more rows are cut; a smaller chunk, or what is left
        over, is an update of its own.
    compression : {"subset", "preimage"} or None, default="subset"
        How the library is reduced. "subset": to those of its points that represent components and mean best, by
        backward elimination. "preimage": to new points, approximate pre-images, as in the paper; where a point of the
        library is better, it is taken. None: never. Then all rows are kept, each update takes longer than the one
        before, and the only error is what is beyond `rank` components.
    center : bool, default=True
        Centre in feature space. False is the kernel SVD of the stream: the kernel is taken as it is.
    forgetting : float in (0, 1], default=1.0
        The weight of each row is multiplied by this with every further row. 1: all rows have the same weight.
    preimage : {"auto", "exact", "ridge", "mika", "kwok", "gradient"}, default="auto"
        How `inverse_transform` finds rows. "exact" inverts the feature map (linear and wavelet kernels). "mika" is a
        fixed-point iteration (Gaussian kernel). "gradient" minimises the distance in feature space (Gaussian,
        polynomial, linear, sigmoid and cosine kernels). "kwok" locates rows by their distances to neighbours (Gaussian,
        linear and polynomial kernels). "ridge" is ridge regression from scores to rows (any kernel). "auto" takes
        "exact" where it exists, else "mika" for the Gaussian kernel, "gradient" for other smooth kernels, and "ridge"
        for all others.
    alpha : float, default=1.0
        Penalty of the ridge regression with preimage="ridge"; other methods ignore it.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    expansion_ : Expansion
        The model of the rows so far. Its `n_seen` is the number of rows; with forgetting it is the rounded sum of their
        weights.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    eigenvalues_ : ndarray of shape (n_components,)
        Squared singular values, descending: eigenvalues of the centred kernel matrix of the rows, where row i and
        column i are multiplied by the square root of the weight of row i.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n - 1)``. With forgetting, n - 1 is replaced by W - sum w^2 /
        W, where W is the sum of the weights w.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total includes what components and library miss.
    history_ : dict of ndarray
        One value per update: "update", its number; "n_seen", rows so far; "residual", their mean squared distance from
        the components shown; "seconds", time of the update; "points", size of the library; "distance", to the
        `reference` given to `fit` or `partial_fit`, else NaN. Of more than 10,000 updates only every second one is
        kept, then every fourth, and so on.
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
    LandmarkKernelPCA : Kernel PCA of streams and large tables, on landmarks.
    HebbianKernelPCA : Kernel PCA learned one sample at a time.
    mercer.plots.stream_history : How an incremental model develops.

    References
    ----------
    .. [chin2007] T.-J. Chin and D. Suter, Incremental kernel principal component analysis, IEEE Transactions on Image
       Processing 16, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import IncrementalKernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = IncrementalKernelPCA(n_components=5, gamma=1e-3)
    >>> for first in range(0, 1700, 100):
    ...     model = model.partial_fit(X[first : first + 100])
    >>> model.transform(X[1700:]).shape
    (97, 5)
    >>> model.expansion_.n_points
    110
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KERNEL_CONSTRAINTS,
        **OUTPUT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "points_per_component": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "compression": [StrOptions({"subset", "preimage"}), None],
        "center": ["boolean"],
        "forgetting": [Interval(Real, 0, 1, closed="right")],
    }

    _kernel: Kernel
    _measuring: bool  # whether gamma='median' is measured again with the next rows
    _model: IncrementalModel
    _history: UpdateHistory

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        rank: int | None = None,
        points_per_component: int = 10,
        batch_size: int = 30,
        compression: Method | None = "subset",
        center: bool = True,
        forgetting: float = 1.0,
        preimage: str = "auto",
        alpha: float = 1.0,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.rank = rank
        self.points_per_component = points_per_component
        self.batch_size = batch_size
        self.compression = compression
        self.center = center
        self.forgetting = forgetting
        self.preimage = preimage
        self.alpha = alpha
        self.verbose = verbose

    # -- learning ------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None, *, reference: Any = None) -> Self:
        """Forget everything and learn from the rows of X, in order.

        Files and iterators may hold more rows than memory. Files are read twice: a sample of all rows sets gamma. A
        call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), file name or names, or iterator of chunks
            Training rows, dense or CSR. Files can be of every kind that `mercer fit` reads. A chunk is any table of
            rows that `partial_fit` takes; all need the same features.
        y : None
            Ignored; present for scikit-learn's conventions.
        reference : fitted model, Expansion or None, default=None
            A model to compare with. `history_` then has the distance to its components, one value per update.

        Returns
        -------
        IncrementalKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity, or if `rank` is smaller than `n_components`.
        """
        if is_chunked(X):
            self._fit_chunks(X, reference)
        else:
            X = self._check_learnable(X, reset=True)
            self._begin(X)
            self._learn(X, reference)
        self._warn_of_result()
        return self

    def _fit_chunks(self, X: Any, reference: Any) -> None:
        """Learn from files, of which a sample of all rows sets gamma, or from chunks that come once."""
        names: list[str] = []
        examples, chunks = examples_of(X, _EXAMPLES, np.random.RandomState(0), names, self._check_learnable)
        self._begin(examples)
        for chunk in chunks:
            self._learn(chunk, reference)
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    @validated
    def partial_fit(self, X: Any, y: Any = None, *, reference: Any = None) -> Self:
        """Learn from the rows of X, in order, and continue from the present state of the model.

        A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further rows, dense or CSR. Later calls need the same features as the first one.
        y : None
            Ignored; present for scikit-learn's conventions.
        reference : fitted model, Expansion or None, default=None
            A model to compare with. `history_` then has the distance to its components, one value per update.

        Returns
        -------
        IncrementalKernelPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If the kernel is precomputed, if X contains NaN or infinity or has other features than the first rows, or if
            `rank` is smaller than `n_components`.
        """
        refuse_chunks(X)
        first = not hasattr(self, "expansion_")
        X = self._check_learnable(X, reset=first)
        if first:
            self._begin(X)
            self._measuring = measures_gamma(self.kernel, self.gamma)
        measured = self._measured_rows(X)
        self._learn(X, reference)
        if measured is not None:
            kept = self.n_samples_seen_ == n_rows(self._model.points) <= _MOST_MEASURED
            self._measuring = measure_again(measured, self.n_samples_seen_, kept)
        return self

    def _measured_rows(self, X: Points) -> Points | None:
        """Measure gamma='median' by all rows so far and X, while they are few; return these rows, None if it stays.

        All rows so far are the library's points then, and the model is built again from them where gamma changes.
        """
        if not self._measuring:
            return None
        held = self._model.points
        rows = stack_rows(held, X) if n_rows(held) else X
        kernel = self._make_kernel(rows)
        if kernel != self._kernel:
            self._kernel = kernel
            with one_blas_thread():
                self._model = updated(nothing_yet(X), kernel, held, self._options())
        return rows

    def _begin(self, X: Points) -> None:
        self._options()  # fails before anything is changed
        self._kernel = self._make_kernel(X)
        require_rows(self._kernel)
        warn_far_from_origin(self._kernel, X, self.center)
        self._model, self._measuring = nothing_yet(X), False
        self._history = UpdateHistory()

    @property
    def _shown(self) -> int:
        return MOST_COMPONENTS if self.n_components is None else int(self.n_components)

    def _options(self) -> StreamOptions:
        shown = self._shown
        rank = max(2 * shown, shown + 3) if self.rank is None else int(self.rank)
        if rank < shown:
            raise ValueError(
                f"rank={rank} is too small for n_components={shown}: the components shown are the first of those "
                "carried along. Raise `rank`, or leave it at None."
            )
        return StreamOptions(
            rank=rank,
            size=(rank + 1) * int(self.points_per_component),
            compression=self.compression,
            forgetting=float(self.forgetting),
            center=bool(self.center),
        )

    def _learn(self, X: Points, reference: Any) -> None:
        model, options, channel = self._model, self._options(), self._channel()
        records, step = [], int(self.batch_size)
        with one_blas_thread():
            for first in range(0, n_rows(X), step):
                start = time.perf_counter()
                model = updated(model, self._kernel, X[first : first + step], options)
                records.append(self._record(model, time.perf_counter() - start, reference))
                channel.emit("Rows learned", model.seen)
        self._settle(model, records)

    def _record(self, model: IncrementalModel, seconds: float, reference: Any = None) -> Record:
        distance = float("nan") if reference is None else subspace_distance(self._expansion_of(model), reference)
        return model.seen, model.residual(self._shown), seconds, n_rows(model.points), distance

    def _expansion_of(self, model: IncrementalModel) -> Expansion:
        return model.expansion(self._kernel, self._shown, self.center)

    def _settle(self, model: IncrementalModel, records: list[Record]) -> None:
        self._model, self.expansion_ = model, self._expansion_of(model)
        self._history = self._history.extended(records)

    # -- the model -----------------------------------------------------------------------------------------------

    @property
    def explained_variance_(self) -> Array:
        """Variance along each component; an array of shape (n_components,).

        It is ``eigenvalues_ / (n - 1)``. With forgetting, n - 1 is replaced by W - sum w^2 / W, where W is the sum of
        the weights w.
        """
        freedom = self._model.freedom
        return self.eigenvalues_ / (freedom if freedom > 1e-9 else 1.0)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows seen so far, forgotten ones included."""
        check_is_fitted(self)
        return self._model.seen

    @property
    def history_(self) -> dict[str, Array]:
        """What each update did, as arrays with one value per update.

        The names are "update", "n_seen", "residual", "seconds", "points" and "distance".
        """
        if not hasattr(self, "expansion_"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: it has no history_.")
        return self._history.arrays()

    # -- merging -------------------------------------------------------------------------------------------------

    def merge(self, other: "IncrementalKernelPCA") -> Self:
        """Return the model that saw the rows of this one and then those of another.

        Both models stay as they are. The result is exact except for what `rank` components cannot hold and for the
        compression of the common library. Its parameters and its history are those of this model; one record is added
        to the history. Many models are best merged two by two, and then the results again.

        Parameters
        ----------
        other : IncrementalKernelPCA
            A fitted model with the same kernel, centring and forgetting.

        Returns
        -------
        IncrementalKernelPCA
            A new model of the rows of both.

        Raises
        ------
        TypeError
            If `other` is not an IncrementalKernelPCA.
        ValueError
            If the models differ in features, kernel, centring or forgetting.
        sklearn.exceptions.NotFittedError
            If the model is not fitted yet.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import IncrementalKernelPCA
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> first = IncrementalKernelPCA(2, gamma=0.1).fit(X[:30])
        >>> second = IncrementalKernelPCA(2, gamma=0.1).fit(X[30:])
        >>> first.merge(second).n_samples_seen_
        60
        """
        check_is_fitted(self)
        check_mergeable(self, other, IncrementalKernelPCA)
        check_same(
            {
                "kernels": (self._kernel, other._kernel),
                "centring": (self.center, other.center),
                "rates of forgetting": (self.forgetting, other.forgetting),
            }
        )
        result, start = self._twin(), time.perf_counter()
        result._measuring = False
        with one_blas_thread():
            model = merged(self._model, other._model, self._kernel, self._options())
        result._settle(model, [self._record(model, time.perf_counter() - start)])
        return result

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        kept = {f.name: getattr(self._model, f.name) for f in fields(self._model) if f.name != "points"}
        learning = {"model": kept, "history": self.history_, "measuring": self._measuring}
        return {**super()._saved_state(), "learning": learning}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        learning = state["learning"]
        self._kernel = self.expansion_.kernel
        self._model = IncrementalModel(points=self.expansion_.points, **learning["model"])
        self._history = UpdateHistory(learning["history"])
        self._measuring = learning.get("measuring", False)  # older files do not have it
