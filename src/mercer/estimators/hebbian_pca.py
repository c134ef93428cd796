"""`HebbianPCA`: linear PCA learned row by row, for streams; it stores the weights and no data."""

from dataclasses import asdict
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from mercer.arrays import Array, Points, n_rows, stack_rows
from mercer.engine.gains import Gain
from mercer.errors import warn_user
from mercer.estimators.base import KernelDecomposition
from mercer.estimators.chunked_rows import refuse_chunks
from mercer.estimators.learning_warnings import uneven, warn_of_fewer
from mercer.estimators.validation import MOST_COMPONENTS, Interval, StrOptions, check_rows, generator, validated
from mercer.solvers.hebbian.gain_choice import PLAIN_GAINS
from mercer.solvers.hebbian.guard import DivergedError
from mercer.solvers.hebbian.linear_blocks import LinearState, StepOptions, learn, start_state
from mercer.solvers.hebbian.linear_passes import Outcome, linear_expansion, run_passes
from mercer.solvers.hebbian.linear_start import principal_weights, restored_state, start_from_rows

_RELATIVE_GAIN = {"constant": 0.004, "t": 0.3, "et": 0.1}  # of eta0="auto", times the mean of |x|^2
_SHORTEST = 500  # l of the gain: below, a run of a few passes over a few rows would settle before it has learned
_LONG = 2000  # beyond, noise and not time is scarce: gains fall with the square root of l
_FIRST_ROWS = 50  # from which the first components are computed, or two for each component if these are more
_LARGEST, _SMALLEST = 1e70, 1e-70  # beyond, fourth powers leave the range of numbers


class HebbianPCA(KernelDecomposition):
    """Linear PCA learned one row at a time, by Oja's rule or the generalised Hebbian algorithm.

    It is for streams and for data that do not fit into memory: it keeps `n_components` weight vectors and a mean, and
    no rows except the first few of a stream, until learning starts. For a table that fits into memory PCA itself is
    faster. This class adds learning that continues, row by row or chunk by chunk, and the textbook algorithms as they
    are printed [oja1982]_ [sanger1989]_ [lecture_notes]_.

    Rows count by their squared length, as in PCA of all rows. Where the scale of a stream falls to a tenth or less, the
    components therefore stay those of the rows before, whatever the gain. To follow such a stream, start a new model or
    use ``LandmarkKernelPCA(kernel="linear", window=1000)``, which forgets old rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None: the smallest of the number of features, the number of rows (in `partial_fit`: so
        far), and 10.
    rule : {"gha", "oja"}, default="gha"
        "gha", the generalised Hebbian algorithm, finds the components themselves: W += D (y x^T - lt(y y^T) W), where
        lt keeps the lower triangle. "oja" is Oja's rule, and with several components his subspace rule: W += D (y x^T -
        y y^T W), which finds their span.
    gain : {"et", "t", "constant"}, default="et"
        How the gain D depends on the step t and the component i. "t": eta0 l / (t + l). "et": the same times ``|lambda|
        / lambda_i``, where lambda_i is the running mean of y_i^2, computed again every l steps; small components then
        learn as fast as large ones [guenter2006]_. "constant": eta0, which never converges and therefore follows data
        whose directions change.
    eta0 : float or "auto", default="auto"
        The gain at the start. A float is used as it is. "auto" needs no tuning, at any scale of the data. A row x
        multiplies weights along itself by ``1 + gain |x|^2``, so the gain times the mean of ``|x - mean|^2`` so far
        decides. "auto" sets this product to 0.1 ("et"), 0.3 ("t") or 0.004 ("constant"): large enough to find
        components that hold a few thousandths of the variance more than the next one, and small enough for the noise of
        single rows to fade within tens of passes, on digits, word counts and Gaussian data of 3 to 200 features. Beyond
        l = 2000 noise decides how many passes are needed, and the values of "et" and "t" fall as sqrt(2000 / l). No
        gain exceeds ``1 / |x|^2`` of its row, and each lambda_i counts as at least a hundredth of the largest. `eta0_`
        is the value after the last row seen; in `fit` it is the same for all rows.
    length : int or None, default=None
        The length l of the gain. None: in `fit` the number of rows, but at least 500 with eta0="auto"; in `partial_fit`
        500.
    normalize : bool, default=False
        Use Hebb's rule with explicit normalisation, ``w <- (w + D y x) / |w + D y x|``, which Oja's rule approximates;
        several components are made orthogonal by Gram-Schmidt. `rule` then makes no difference.
    clip : float or None, default=None
        Largest absolute value of a weight after each step, which is condition 2 of the stability theorem in
        [lecture_notes]_. None: no limit.
    center : bool, default=True
        Subtract the mean: of all rows in `fit`, of all rows so far in `partial_fit`.
    max_iter : int, default=200
        Largest number of passes of `fit` over the rows.
    tol : float, default=1e-2
        `fit` stops when ``|C q - lambda q| / lambda`` of all components q is at most this, where C is the covariance.
        0: never stop early.
    block_size : int, default=128
        Number of steps that are computed together. The result does not depend on it.
    shuffle : bool, default=True
        Visit the rows in a new random order in each pass of `fit`. False: from the first to the last.
    init : array-like of shape (n_components, n_features) or None, default=None
        Weights at the start. None: the principal components of a few rows, which are 50, or two for each component if
        these are more; random orthonormal directions complete them where the rows have fewer. In `fit` these rows are
        drawn at random, or the first ones with shuffle=False. In `partial_fit` they are the first ones, in however many
        chunks they come; until all have come, the model is PCA of the rows so far, and learning row by row starts after
        them.
    orthonormalize : bool, default=True
        Present the span of the weights by its principal axes: orthonormal, sorted by descending variance, their largest
        entry positive. The variances are computed from the second moment of the outputs: after `fit` that of all rows,
        in `partial_fit` a running one in which late rows count more. Learning itself continues from the weights as they
        are. False: transform(x) = W (x - mean), unsorted.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for the first weights and the order of the rows. Pass an int to get the same result in each
        call.
    warm_start : bool, default=False
        Start `fit` from the weights of the last fit; gains start from the beginning.
    verbose : bool or int, default=False
        Show progress. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per step.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The weight vectors, one per row.
    mean_ : ndarray of shape (n_features,)
        The mean that is subtracted; zeros with center=False.
    expansion_ : Expansion
        The fitted model: the linear kernel, and weights and mean as its points.
    n_components_ : int
        Number of components: at most as many as were asked for, and fewer where the rows allow no more.
    eigenvalues_ : ndarray of shape (n_components,)
        Variance along each component times the number of rows minus one; descending with orthonormalize=True.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each component: ``eigenvalues_ / (n_samples_seen_ - 1)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the total variation along each component. The total is the trace of the centred kernel matrix, so it
        includes directions that are not among the components. In `partial_fit`, late rows count more in both: it is a
        share of the recent variation.
    eta0_ : float
        The value of `eta0` in use.
    length_ : int
        The value of `length` in use.
    n_iter_ : int
        Number of passes that `fit` made.
    n_samples_seen_ : int
        Number of rows seen so far.
    n_features_in_ : int
        Number of features of the rows in `fit`, or in the first call of `partial_fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    HebbianKernelPCA : Kernel PCA learned one sample at a time.
    mercer.plots.mode_decay : Oja's rule and its differential equation.

    References
    ----------
    .. [oja1982] E. Oja, A simplified neuron model as a principal component analyzer, Journal of Mathematical Biology
       15, 1982.
    .. [sanger1989] T. D. Sanger, Optimal unsupervised learning in a single-layer linear feedforward neural network,
       Neural Networks 2, 1989.
    .. [guenter2006] Simon Günter, Nicol N. Schraudolph and S. V. N. Vishwanathan, Fast iterative kernel PCA, 2006.
    .. [lecture_notes] Kernel PCA, and the Hebbian maximum eigenfilter, lecture notes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import HebbianPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = HebbianPCA(n_components=5, random_state=0)
    >>> for chunk in range(0, 1700, 100):
    ...     model = model.partial_fit(X[chunk : chunk + 100])
    >>> model.transform(X[1700:]).shape
    (97, 5)
    """

    kernel = "linear"
    preimage = "exact"
    _state: LinearState
    _waiting: Points | None = None  # the first rows of a stream, until there are enough to start from
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions({"gha", "oja"})],
        "gain": [StrOptions(set(PLAIN_GAINS))],
        "eta0": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "length": [Interval(Integral, 1, None, closed="left"), None],
        "normalize": ["boolean"],
        "clip": [Interval(Real, 0, None, closed="neither"), None],
        "center": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "block_size": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "init": ["array-like", None],
        "orthonormalize": ["boolean"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
    }
    _fitted_attributes = ("expansion_", "eta0_", "length_", "n_iter_", "n_features_in_", "feature_names_in_")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        rule: str = "gha",
        gain: str = "et",
        eta0: float | str = "auto",
        length: int | None = None,
        normalize: bool = False,
        clip: float | None = None,
        center: bool = True,
        max_iter: int = 200,
        tol: float = 1e-2,
        block_size: int = 128,
        shuffle: bool = True,
        init: Any = None,
        orthonormalize: bool = True,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.rule = rule
        self.gain = gain
        self.eta0 = eta0
        self.length = length
        self.normalize = normalize
        self.clip = clip
        self.center = center
        self.max_iter = max_iter
        self.tol = tol
        self.block_size = block_size
        self.shuffle = shuffle
        self.init = init
        self.orthonormalize = orthonormalize
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose

    # -- what follows from the expansion --------------------------------------------------------------------------

    @property
    def components_(self) -> Array:
        """Weight vectors, one per row; an array of shape (n_components, n_features)."""
        return np.asarray(self.expansion_.points[: self.expansion_.n_components])

    @property
    def mean_(self) -> Array:
        """Mean that is subtracted, zeros with center=False; an array of shape (n_features,)."""
        points = self.expansion_.points
        return np.zeros(points.shape[1]) if self.expansion_.nu is None else np.asarray(points[-1])

    # -- learning ------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn in passes over the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, dense or CSR.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        HebbianPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN, infinity or values beyond 1e70, or if `init` has the wrong shape.

        Warns
        -----
        UserWarning
            If more components are asked for than there are features.
        sklearn.exceptions.ConvergenceWarning
            If learning diverged, if it did not reach `tol` within `max_iter` passes, or if a few rows hold nearly all
            variation.
        """
        refuse_chunks(X)
        X = self._check_learnable(X, reset=True)
        rng = generator(self.random_state)
        self._begin(X, rng, max(n_rows(X), _SHORTEST) if self.eta0 == "auto" else n_rows(X))
        outcome = run_passes(
            self._state,
            X,
            self._gain,
            self._options,
            max_iter=self.max_iter,
            tol=self.tol,
            rng=rng if self.shuffle else None,
            channel=self._channel(),
        )
        self.n_iter_ = outcome.passes
        self._freeze()
        self._warn_after_passes(outcome)
        return self

    @validated
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from each row of X once, in order, and continue from the present state of the model.

        A call that raises an error leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further rows, dense or CSR. Later calls need the same features as the first one.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        HebbianPCA
            The model itself, fitted.

        Raises
        ------
        ValueError
            If X contains NaN, infinity or values beyond 1e70, if it has other features than the first rows, or if
            `init` has the wrong shape.

        Warns
        -----
        UserWarning
            If more components are asked for than there are features.
        sklearn.exceptions.ConvergenceWarning
            If learning diverged, if gains had to be lowered, or once a few rows hold nearly all variation.
        """
        refuse_chunks(X)
        first = not hasattr(self, "_state")
        told = not first and self._uneven is not None
        X = self._check_learnable(X, reset=first)
        if first or self._waiting is not None:
            X = self._open_stream(X, generator(self.random_state), first)
        self._state, halvings = self._state.copy(), self._state.guard.halvings
        try:
            learn(self._state, X, self._gain, self._options)
        except DivergedError:
            self._warn_diverged()
        else:
            self._warn_halved(self._state.guard.halvings - halvings)
        self._freeze()
        if not told:  # in a long stream it would be told with every chunk from then on
            self._warn_uneven()
        return self

    def _check_learnable(self, X: Any, reset: bool) -> Points:
        checked = check_rows(self, X, reset=reset)
        largest = max(float(checked.max()), -float(checked.min()))
        if largest > _LARGEST or (reset and 0.0 < largest < _SMALLEST):
            raise ValueError(
                f"X holds values up to {largest:.1e}, whose powers exceed the range of numbers. Divide X by a constant."
            )
        return checked

    def _begin(self, X: Points, rng: Any, length: int) -> None:
        """Set the state to that before the first row of `fit`."""
        weights = self._first_weights(X, rng)
        if self.warm_start and hasattr(self, "_state") and self._state.W.shape == weights.shape:
            weights = self._state.W
        self._set_length(length)
        self._state, self._waiting = start_state(weights, self._gain), None

    def _first_weights(self, X: Points, rng: Any) -> Array:
        n, p = X.shape
        if self.init is not None:
            return self._given_weights(p)
        r = min(self._wanted(n), n, p)
        warn_of_fewer(self.n_components, r)
        count = _rows_to_start_from(r)
        return principal_weights(X[rng.permutation(n)[:count]] if self.shuffle else X[:count], r, self.center, rng)

    def _open_stream(self, X: Points, rng: Any, first: bool) -> Points:
        """Set the state to that after the first rows of a stream; return the rows that are still to be learned."""
        p = X.shape[1]
        if first and self.init is not None:
            weights = self._given_weights(p)
            self._set_length(_SHORTEST)
            self._state = start_state(weights, self._gain)
            return X
        rows = X if self._waiting is None else stack_rows(self._waiting, X)
        r = min(self._wanted(n_rows(rows)), p)
        count = _rows_to_start_from(min(self._wanted(MOST_COMPONENTS), p))
        if first:
            warn_of_fewer(self.n_components, r)
            self._set_length(_SHORTEST)
        self._state = start_from_rows(rows[:count], r, self._gain, self.center, rng)
        self._waiting = rows.copy() if n_rows(rows) < count else None
        return rows[count:]

    def _wanted(self, n: int) -> int:
        """Return how many components are wanted of n rows."""
        return min(n, MOST_COMPONENTS) if self.n_components is None else int(self.n_components)

    def _set_length(self, length: int) -> None:
        self.length_ = length if self.length is None else int(self.length)

    def _given_weights(self, p: int) -> Array:
        given: Array = check_array(self.init, dtype=np.float64, input_name="init")
        if given.shape[1] != p or self.n_components not in (None, len(given)):
            rows = "n_components" if self.n_components is None else self.n_components
            raise ValueError(f"init must be of shape ({rows}, {p}): one weight vector per row; got {given.shape}.")
        return given

    @property
    def _gain(self) -> Gain:
        return PLAIN_GAINS[self.gain](self._relative_gain if self.eta0 == "auto" else float(self.eta0))

    @property
    def _relative_gain(self) -> float:
        shrink = 1.0 if self.gain == "constant" else min(1.0, (_LONG / self.length_) ** 0.5)
        return _RELATIVE_GAIN[self.gain] * shrink

    @property
    def _options(self) -> StepOptions:
        rule = "normalised" if self.normalize else self.rule
        return StepOptions(rule, self.block_size, self.length_, self.center, self.eta0 == "auto", self.clip)

    # -- the model -----------------------------------------------------------------------------------------------

    def _freeze(self) -> None:
        """Make the expansion that the state stands for."""
        self.eta0_ = self._eta0_now()
        self.expansion_ = linear_expansion(self._state, self.center, self.orthonormalize)

    def _eta0_now(self) -> float:
        if self.eta0 != "auto":
            return float(self.eta0)
        state = self._state
        energy = state.total / max(state.n - self.center, 1)
        return self._relative_gain / energy if energy > 0 else 0.0

    def _find_preimages(self, scores: Array) -> Array:
        return super()._find_preimages(scores).astype(scores.dtype, copy=False)

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        return {**super()._saved_state(), "learning": asdict(self._state), "waiting": self._waiting}

    def _restore_state(self, state: dict[str, Any]) -> None:
        super()._restore_state(state)
        self._state, self._waiting = restored_state(state["learning"]), state.get("waiting")

    # -- warnings ------------------------------------------------------------------------------------------------

    def _warn_after_passes(self, outcome: Outcome) -> None:
        self._warn_uneven()
        if outcome.diverged:
            self._warn_diverged()
        elif outcome.residual > self.tol > 0:
            advice = "" if self.eta0 == "auto" else f" or use eta0='auto' instead of {self.eta0:g}"
            _warn(
                f"After {outcome.passes} passes the components are not yet eigenvectors of the covariance: their "
                f"relative residual is {outcome.residual:.1e}, above tol={self.tol:g}. Raise max_iter or tol{advice}; "
                "if features have very different scales, scale them first (StandardScaler). Directions that vary "
                "nearly equally, as those of noise do, need very many passes: ask for fewer components, or use "
                "KernelPCA, which is exact."
            )

    def _warn_diverged(self) -> None:
        _warn(
            f"Learning diverges even with tiny gains (eta0={self.eta0!r}); the last good weights are kept and the rows "
            "from there on were not learned. Look for rows of enormous size, or use eta0='auto'."
        )

    def _warn_halved(self, halvings: int) -> None:
        if halvings:
            _warn(
                f"Steps diverged, and gains were halved {halvings} times for a while. Lower eta0={self.eta0!r}, or use "
                "eta0='auto'."
            )

    @property
    def _uneven(self) -> str | None:
        return uneven(self._state.n, self._state.rows_that_count)

    def _warn_uneven(self) -> None:
        text = self._uneven
        if text is not None:
            _warn(text)


def _rows_to_start_from(r: int) -> int:
    return max(_FIRST_ROWS, 2 * r)


def _warn(text: str) -> None:
    warn_user(text, ConvergenceWarning)
