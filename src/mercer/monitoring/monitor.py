"""`ProcessMonitor`: alarms with a known rate of false ones, for rows that follow each other in time."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.errors import warn_user
from mercer.estimators.model_files import ModelFiles
from mercer.estimators.validation import Interval, StrOptions, check_rows, generator, validated
from mercer.events import Channel, Observer
from mercer.monitoring import state
from mercer.monitoring.calibration import Fitter, Plan, fitter_of
from mercer.monitoring.choice import Choice, Rate, choose, given
from mercer.monitoring.dependence import wandering
from mercer.monitoring.following import Following
from mercer.monitoring.lags import lags_left
from mercer.monitoring.rates import pair_of, rate_of
from mercer.monitoring.reference import Rows
from mercer.monitoring.sensors import Sensors
from mercer.monitoring.times import starts_of, times_of, typical_step
from mercer.monitoring.training import LEAST_ROWS, missing_in_words, prepared, require_rows
from mercer.outliers.dominance import warn_of_dominating_rows
from mercer.outliers.folds import gap_of
from mercer.outliers.given_estimator import check_takes_rows, expansion_of
from mercer.outliers.scores import ScoreModel, score_model
from mercer.progress import channel_to


class ProcessMonitor(Following, ModelFiles, BaseEstimator):  # type: ignore[misc]
    """Monitoring of a process by kernel PCA: alarms with a chosen rate of false ones, for rows in the order of time.

    Rows of a process depend on their predecessors, so limits that hold for independent rows raise too many false
    alarms. Here, rows are scored by models of rows that are not near them in time, the effective number of rows is
    estimated [sokal1997]_, and limits have room for what so many rows leave unknown. T2 tells how far from the centre a
    row lies along the main components, which hold nine tenths of the variance, and SPE how far it lies in all other
    directions, each in units of its own spread [hawkins1974]_. Slow means of the columns, and of what other columns do
    not explain of them, show small lasting shifts. Kernel and width are chosen from the normal rows, by faults that are
    pretended on them.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Any decomposition of this package; it is cloned, and all its components are used in T2, and SPE is the squared
        distance from them. None: a linear model or kernel PCA with a Gaussian kernel, chosen by the normal rows; see
        `summary`.
    statistic : {"both", "t2", "spe"}, default="both"
        The statistics that raise alarms.
    alpha : float in (0, 1) or None, default=None
        Share of normal rows that may raise an alarm. None: 0.01, unless `arl0` or `false_alarms_per` is given.
    arl0 : float or None, default=None
        Instead of alpha: the mean number of normal rows per row with a false alarm; alpha is 1 / arl0. An alarm that
        lasts for several rows counts as several, so the time between two alarms is longer.
    false_alarms_per : tuple of (str, float) or None, default=None
        Instead of alpha: a period of time and the number of rows with a false alarm in it, such as ("1D", 1). Periods
        have one of the units s, min, h, D and W. The training rows must have times, see `fit`.
    confidence : float in [0.5, 1), default=0.9
        Probability, over training sets, that the rate of false alarms is at most alpha. With few rows, or rows that
        depend on each other for long, this makes limits wider.
    lags : int or "auto", default=0
        Number of previous rows that are put beside each row, so that the model describes how the process moves
        [ku1995]_. "auto": as few, at most 3, as leave no autocorrelation in what is not predicted.
    smoothing : float in (0, 1] or "auto", default="auto"
        Weight of a new row in the exponentially weighted means of both statistics [roberts1959]_; 1: no smoothing.
        Small weights find small lasting shifts and end alarms later. "auto": the smallest weight, at least .05, for
        which the training rows hold 20 independent smoothed values.
    persist : int or tuple of (int, int), default=1
        (k, m): an alarm needs k of the last m rows above the limit. An int k is (k, k). Limits are computed for it.
    drifting : {"auto", "keep"}, default="auto"
        What is done with columns whose level is hardly known from the training rows: those with fewer than 20
        independent values for which a unit root is not rejected at 10 %, and those with fewer than 5 for which it is
        not rejected at 1 % (augmented Dickey-Fuller test); see `drifting_`. "auto": they are left out of T2 and SPE,
        and raise an alarm ("level") where they are further from their mean than so few independent values explain. If
        all columns are of this kind, all are kept. "keep": all columns are used.
    levels : bool, default=True
        Whether slow means raise alarms, too: that of every column that is not left out as drifting ("level", weight .05
        of a new row), and that of the part of it that the other columns do not explain ("relation", weight .1;
        regression-adjusted variables [hawkins1991]_, with variances drawn towards a common one [smyth2004]_), where
        they are further from those of the training rows than these explain. A tenth of alpha is left to levels, and
        three tenths to relations.
    adapt : bool or int, default=False
        Whether model and limits follow slow drift: they are then those of the last rows of the stream that raised no
        alarm, as many as there were training rows. An int, at least 10, is the number of these rows; of more training
        rows only the last ones are learned from, so that the limits are those of so many rows from the beginning. Rows
        with an alarm, rows shortly before one and rows with NaN are never learned from. See also `accept`.
    gap : int or "auto", default="auto"
        Number of rows that are left out on both sides of each held-out part. "auto": twice the median autocorrelation
        time of the columns, at most a fifth of the rows.
    n_folds : int, default=10
        Number of parts of the training rows that are held out, one after the other; at least 2.
    standardize : {"variance", "soft"} or bool, default="variance"
        "variance" or True: columns are divided by their standard deviations. "soft": they are divided by the geometric
        mean of standard deviation and half the range. False: rows are taken as they are.
    random_state : int, RandomState instance or None, default=0
        Seed or generator for the pretended faults.
    verbose : bool or int, default=False
        Show the parts as they are held out. False or 0: nothing. True or 1: a progress bar. 2 or more: one log line per
        step.

    Attributes
    ----------
    alpha_ : float
        The rate of false alarms in use, per row.
    n_effective_ : float
        The effective number of training rows: so many independent rows would tell as much about T2 and SPE.
    drifting_ : ndarray of bool of shape (n_features,)
        The columns that are left out of T2 and SPE because they drift.
    lags_ : int
        The number of lags in use.
    smoothing_ : float
        The weight of a new row in use.
    window_ : int
        The number of rows that model and limits rest on where `adapt` is used.
    drift_ : float
        Evidence that the model no longer fits the stream of `judge`, from p-values so many rows apart that they are
        nearly independent; about six of them must be unusual. For a stationary process that keeps its limits, the mean
        number of such looks until a false signal, a value of 1000, is at least 1000.
    drift_since_ : int or None
        The number of the row of the stream at which `drift_` first was 1000 or more; None if it never was.
    gap_ : int
        The number of rows left out beside held-out parts.
    n_components_ : int
        The number of components in use.
    kernel_ : str
        The kernel in use, in words.
    choice_ : str
        The choice of kernel and components, with the reason.
    n_samples_seen_ : int
        Number of training rows without NaN, at most `adapt` where that is an int, and of accepted rows.
    n_features_in_ : int
        Number of features of the rows in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    KernelOutlierDetector : Alarms for rows without an order.
    mercer.monitoring.verdicts.Verdicts : What a monitor says about each row.
    mercer.plots.monitor : The chart of a process.

    Notes
    -----
    The guarantee is one for stationary processes: it covers neither drift nor operating points that the training rows
    do not show. It needs training rows that show how large values can be: where the strength of the noise changes
    slowly, or noise has heavy tails and alpha is below 1 / `n_effective_`, alarms are more frequent than alpha.

    References
    ----------
    .. [hawkins1974] D. M. Hawkins, The detection of errors in multivariate data using principal components, Journal of
       the American Statistical Association 69, 1974.
    .. [hawkins1991] D. M. Hawkins, Multivariate quality control based on regression-adjusted variables, Technometrics
       33, 1991.
    .. [ku1995] W. Ku, R. H. Storer and C. Georgakis, Disturbance detection and isolation by dynamic principal component
       analysis, Chemometrics and Intelligent Laboratory Systems 30, 1995.
    .. [roberts1959] Roberts, S. W., Control chart tests based on geometric moving averages, Technometrics 1, 1959.
    .. [smyth2004] G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression in
       microarray experiments, Statistical Applications in Genetics and Molecular Biology 3, 2004.
    .. [sokal1997] Sokal, A., Monte Carlo methods in statistical mechanics, in Functional Integration, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import ProcessMonitor
    >>> noise = np.random.default_rng(0).normal(size=(600, 3))
    >>> X = np.array([noise[max(i - 4, 0) : i + 1].sum(axis=0) for i in range(600)])
    >>> monitor = ProcessMonitor().fit(X[:400])
    >>> bool(monitor.judge(X[400:]).alarm.mean() <= 0.01)
    True
    >>> monitor.predict(X[400:] + [0.0, 12.0, 0.0])[-3:].tolist()
    [-1, -1, -1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "statistic": [StrOptions({"both", "t2", "spe"})],
        "alpha": [Interval(Real, 0, 1, closed="neither"), None],
        "arl0": [Interval(Real, 1, None, closed="neither"), None],
        "false_alarms_per": [tuple, list, None],
        "confidence": [Interval(Real, 0.5, 1, closed="left")],
        "lags": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "smoothing": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "persist": [Interval(Integral, 1, None, closed="left"), tuple],
        "drifting": [StrOptions({"auto", "keep"})],
        "levels": ["boolean"],
        "adapt": ["boolean", Interval(Integral, LEAST_ROWS, None, closed="left")],
        "gap": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "standardize": [StrOptions({"soft", "variance"}), "boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    observers: tuple[Observer, ...] = ()

    def __init__(
        self,
        estimator: Any = None,
        *,
        statistic: str = "both",
        alpha: float | None = None,
        arl0: float | None = None,
        false_alarms_per: tuple[str, float] | None = None,
        confidence: float = 0.9,
        lags: int | str = 0,
        smoothing: float | str = "auto",
        persist: int | tuple[int, int] = 1,
        drifting: str = "auto",
        levels: bool = True,
        adapt: bool | int = False,
        gap: int | str = "auto",
        n_folds: int = 10,
        standardize: str | bool = "variance",
        random_state: Any = 0,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.statistic = statistic
        self.alpha = alpha
        self.arl0 = arl0
        self.false_alarms_per = false_alarms_per
        self.confidence = confidence
        self.lags = lags
        self.smoothing = smoothing
        self.persist = persist
        self.drifting = drifting
        self.levels = levels
        self.adapt = adapt
        self.gap = gap
        self.n_folds = n_folds
        self.standardize = standardize
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from normal rows, in the order of time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Normal rows, at least 10; some hundreds are better. The index of a data frame tells the times of the rows if
            it is a DatetimeIndex: lags then do not reach over gaps in time, which are steps of more than 5 times the
            median step. Rows with NaN are left out, with a warning that tells how many.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        ProcessMonitor
            The monitor itself, fitted. Its stream is at the beginning, as after `reset`.

        Raises
        ------
        TypeError
            If X is sparse, or if `estimator` is not a decomposition of this package.
        ValueError
            If more than one of `alpha`, `arl0` and `false_alarms_per` is given, if `persist` is no pair k <= m or m is
            more than half of the rows, if X contains infinity, or fewer than 10 rows without NaN and with all their
            lags, or if times are missing or not in order.
        """
        times = times_of(X)
        table: Array = np.asarray(check_rows(self, X, reset=True, sparse=False, missing=True), np.float64)
        self._step = typical_step(times)
        self.alpha_ = rate_of(self.alpha, self.arl0, self.false_alarms_per, self._step)
        rng = generator(self.random_state)
        self._sensors = Sensors.of(table, starts_of(times, self._longest, len(table)))
        training = prepared(table, times, self._longest)
        require_rows(len(training.rows), table, 0, self._names())
        if len(training.rows) < len(table):
            text = f"{missing_in_words(table, self._names())} and are left out."
            warn_user(text)
        if self.standardize:
            warn_of_dominating_rows(table, self, "Leave these rows out, or replace wrong values by NaN.")
        recent = training.last(self._window(len(training.rows)))
        self.drifting_ = self._drifting(recent.rows)
        rows = recent.rows[:, self._kept]
        scaled = Scaling.of(rows, self.standardize)(rows)
        self.lags_ = lags_left(scaled, recent.starts) if isinstance(self.lags, str) else int(self.lags)
        known, lagged, place = training.lagged(self._kept, self.lags_)
        require_rows(len(known), table, self.lags_, self._names())
        self.window_ = self._window(len(known))  # from the beginning, as models of fewer rows need wider limits
        known, lagged, place = known[-self.window_ :], lagged[-self.window_ :], place[-self.window_ :]
        pair_of(self.persist, len(known))
        self.gap_ = self.lags_ + gap_of(rows) if isinstance(self.gap, str) else int(self.gap)
        self.n_samples_seen_ = len(rows)
        self._calibrate(Rows.of(lagged, known[:, self.drifting_], place), rng)
        return self.reset()

    def _calibrate(self, rows: Rows, rng: np.random.RandomState) -> None:
        """Choose a model for rows with lags, and find the limits."""
        if hasattr(self, "smoothing_"):
            del self.smoothing_  # of an earlier fit
        choice = None
        if self.estimator is None:
            rate = Rate(self.alpha_, float(self.confidence))
            choice = choose(rows.lagged, len(self._kept), self.gap_, self.standardize, rate, rng)
        self._recipe = None if choice is None else (choice, int(rng.randint(2**31)))
        self._learn(rows)
        self._spacing, self.n_effective_ = self._calibration.spacing, self._calibration.n_effective
        self._describe(given(self._judge.model.expansion) if choice is None else choice)

    def _plan(self) -> Plan:
        """Return how limits are to be found; smoothing stays as it is after a fit."""
        smoothing = getattr(self, "smoothing_", self.smoothing)
        return Plan(
            self.statistic, float(self.confidence), smoothing, pair_of(self.persist), self.n_folds, self.gap_,
            self.standardize,
        )  # fmt: skip

    def _channel(self) -> Channel:
        return channel_to(self.observers, self.verbose)

    def _fitter(self) -> Fitter:
        return self._fit_estimator if self._recipe is None else fitter_of(*self._recipe)

    def _describe(self, choice: Choice) -> None:
        self.smoothing_ = self._chart.weight
        self.n_components_ = self._judge.model.expansion.n_components
        self.kernel_ = str(choice.candidate) if self.estimator is None else repr(self._judge.model.expansion.kernel)
        self.choice_ = str(choice) if self.estimator is None else f"{self.kernel_}, as given"

    def _fit_estimator(self, X: Array) -> ScoreModel:
        """Fit the user's estimator to scaled rows."""
        estimator = clone(self.estimator)
        check_takes_rows(self, estimator)
        estimator.fit(X)
        return score_model(expansion_of(estimator), 1.0, X)

    # -- parameters ----------------------------------------------------------------------------------------------

    def _window(self, rows: int) -> int:
        """Return how many rows model and limits rest on: as many as there are training rows, or a given number."""
        return rows if isinstance(self.adapt, bool | np.bool_) else int(self.adapt)

    def _drifting(self, X: Array) -> npt.NDArray[np.bool_]:
        found = wandering(X) if self.drifting == "auto" else np.zeros(X.shape[1], bool)
        return np.zeros_like(found) if found.all() else found

    # -- scikit-learn and files ----------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "alpha_") and hasattr(self, "_limits")

    def _saved_state(self) -> dict[str, Any]:
        return state.as_state(self)

    def _restore_state(self, saved: dict[str, Any]) -> None:
        state.from_state(self, saved)
