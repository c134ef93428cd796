"""`KernelOutlierDetector`: alarms with a known rate of false ones, around any of the package's estimators."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray, is_sparse
from mercer.criteria.judged import SELECT
from mercer.engine.scaling import resolved_scaling
from mercer.errors import SerialRowsWarning
from mercer.estimators.model_files import ModelFiles
from mercer.estimators.validation import Interval, StrOptions, check_rows, generator, validated
from mercer.events import Channel, Observer
from mercer.outliers import silence
from mercer.outliers.calibration import alarm_level, allowed_count
from mercer.outliers.dominance import warn_of_dominating_rows
from mercer.outliers.explaining import feature_contributions
from mercer.outliers.fitting import FittedModels, Fitting
from mercer.outliers.folds import SPLIT, held_out_parts, inner_parts
from mercer.outliers.given_estimator import check_takes_rows
from mercer.outliers.serial import looks_serial
from mercer.outliers.settings import Settings, selected, usual_model
from mercer.outliers.state import as_state, from_state
from mercer.outliers.together import reference_size
from mercer.progress import channel_to

_ALPHA = 0.05  # where neither alpha nor contamination is given


class KernelOutlierDetector(ModelFiles, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outlier detection by kernel PCA with a chosen rate of false alarms.

    Three statistics tell how unusual a row is: T2 tells how far from the centre it lies within the subspace of the
    components, SPE how far it lies from this subspace, and the Mahalanobis distance how badly it fits the linear
    relations between the columns. Their limits are set with rows that the scoring models have not seen, so that of
    clean new rows a share `alpha` raises an alarm, whatever their distribution [barber2021]_.

    Rows need no order. For rows that follow each other in time, and for streams that drift, use `ProcessMonitor`.

    Parameters
    ----------
    estimator : estimator, "select" or None, default=None
        Any decomposition of this package; it is cloned. "select": `KernelPCA` with the kernel, the width, the number of
        components and the scaling of columns that `mercer.select` finds for clean training rows; `standardize` and
        `explained` are then not used. None: `KernelPCA` with a Gaussian kernel and at most 4 components, which works
        without tuning on most tables. With "select" and None, for more than 10,000 rows, where exact models take long,
        `LandmarkKernelPCA` with the same settings, whose time is proportional to the number of rows.
    statistic : {"all", "both", "t2", "spe"}, default="all"
        The statistic that decides. "t2": sum of y_j^2 / lambda_j over the components chosen by `explained` (rule 28 of
        [kim2019]_). "spe": squared distance, in feature space, from the subspace of these components [hoffmann2007]_.
        "both": a combination of the two; T2 alone fails with narrow Gaussian kernels, and SPE alone does not see
        extreme rows inside the subspace. "all": the same, and the Mahalanobis distance from the mean of the rows, with
        a covariance as in `sklearn.covariance.LedoitWolf`. It finds rows that break a linear relation between columns,
        which a Gaussian kernel hardly sees, and is used where there are at least twice as many rows as columns.
    explained : float in (0, 1], default=0.8
        Components of largest variance are taken until they hold this share of the variance of all components of the
        estimator.
    alpha : float in (0, 1) or None, default=None
        Share of clean new rows that may raise an alarm. With n rows that set the limits (see `calibration`) the
        smallest p-value is 1 / (n + 1): `fit` warns (`NoAlarmWarning`) if alpha is below that, or if rows far away
        raise no alarm for another reason. A training row that sets the limits counts itself, so its own p-value is at
        least 2 / (n + 1). None: 0.05, unless `contamination` is given.
    contamination : float in (0, 0.5] or None, default=None
        Instead of alpha: the share of the training rows that are outliers. The limit is set so that this share of them
        raises an alarm.
    calibration : {"cv+", "split", "blocked"}, default="cv+"
        "cv+": `n_folds` models, each fitted without one part of the rows, judge new rows together. "split": one model
        is fitted on one half of the rows, and limits are computed from the other half; this is less precise. With
        statistic="both" or "all", up to `n_folds` models of the first half say how statistics are compared. Where the
        models of the folds disagree, as they do for "t2" alone with a narrow kernel on few rows, "cv+" raises fewer
        alarms than asked for, down to a third; "split" keeps the rate. "blocked": as "cv+" for rows in the order of
        time; the parts are contiguous, and between each part and the rows that its model is fitted to, as many rows are
        left out as the dependence lasts. This makes alarms less frequent than "cv+" does on such rows, but still more
        frequent than alpha where rows depend on each other for long; `ProcessMonitor` keeps the rate there.

        With "cv+", a `KernelPCA` and at least 300 rows, all models are computed from one kernel matrix, so that `fit`
        takes two to three times as long as one model (longer with 300 rows, or many components), and scoring hardly
        longer than by one (longer with hundreds of columns, where distances take as long as kernel values). Scaling,
        gamma="median" and landmarks are then learned from a third of the rows, at most 300, or from a sixth, at most
        3000, if that is more; these rows are in every model, and the other rows set the limits. The same holds for a
        `LandmarkKernelPCA` without window and forgetting, if there are six rows per landmark or more. With other
        estimators, with fewer rows, and where `alpha` needs all rows, every model is fitted apart, with its own
        scaling, and all rows set the limits.
    n_folds : int, default=5
        Number of parts of the rows for "cv+" and "blocked", and of the first half for "split"; at least 2.
    standardize : {"auto", "soft", "variance"} or bool, default="auto"
        "variance" or True: features are divided by their standard deviations. "soft": they are divided by the geometric
        mean of standard deviation and half the range, so that features which are nearly constant do not dominate the
        others. "auto": "soft", but one number divides all features if these have one unit already, as pixels and grades
        have: more than half of them reach both the smallest and the largest value of the table (with 16 features and
        more, up to 2 % of its range). A table with a single impossible value, such as -999 among grey values, does not
        look like that. False: rows are taken as they are.
    trim : float in [0, 0.5), default=0.0
        Share of the training rows that models do not learn from: those that are most unusual to a first model with two
        components. Useful where outliers are among the training rows. Every model leaves out rows of its own, so that
        the rate of false alarms stays as promised; for the same reason every model is fitted apart.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for the division of the rows into folds. Pass an int to get the same folds in each call.
    verbose : bool or int, default=False
        Show the models as they are fitted, and the steps of each. False or 0: nothing. True or 1: a progress bar. 2 or
        more: one log line per step.

    Attributes
    ----------
    estimator_ : estimator
        The estimator, fitted to all training rows.
    calibration_ : Calibration
        The statistics of the training rows that set the limits, by models that did not see them.
    offset_ : float
        `decision_function` is `score_samples` minus this.
    n_samples_seen_ : int
        Number of rows seen so far.
    n_features_in_ : int
        Number of features of the rows in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Present only where the rows were given as a table whose column names are all strings.

    See Also
    --------
    ProcessMonitor : Alarms for rows in the order of time.
    RobustKernelPCA : Kernel PCA with small weights for outliers.
    mercer.plots.control_chart : Statistics of rows with their limits and alarms.

    References
    ----------
    .. [kim2019] C. Kim and D. Klabjan, A simple and fast algorithm for L1-norm kernel PCA, IEEE Transactions on Pattern
       Analysis and Machine Intelligence, 2019.
    .. [hoffmann2007] Heiko Hoffmann, Kernel PCA for novelty detection, Pattern Recognition 40, 2007.
    .. [barber2021] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, Predictive inference with the
       jackknife+, Annals of Statistics 49, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelOutlierDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3))
    >>> detector = KernelOutlierDetector(alpha=0.01, random_state=0).fit(X)
    >>> detector.predict([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0]]).tolist()
    [1, -1]
    >>> int(detector.contributions([[6.0, 0.0, 0.0]])[0].argmax())
    0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, StrOptions({SELECT}), None],
        "statistic": [StrOptions({"all", "both", "t2", "spe"})],
        "explained": [Interval(Real, 0, 1, closed="right")],
        "alpha": [Interval(Real, 0, 1, closed="neither"), None],
        "contamination": [Interval(Real, 0, 0.5, closed="right"), None],
        "calibration": [StrOptions({"cv+", "split", "blocked"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "standardize": [StrOptions({"auto", "soft", "variance"}), "boolean"],
        "trim": [Interval(Real, 0, 0.5, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    observers: tuple[Observer, ...] = ()

    def __init__(
        self,
        estimator: Any = None,
        *,
        statistic: str = "all",
        explained: float = 0.8,
        alpha: float | None = None,
        contamination: float | None = None,
        calibration: str = "cv+",
        n_folds: int = 5,
        standardize: str | bool = "auto",
        trim: float = 0.0,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.statistic = statistic
        self.explained = explained
        self.alpha = alpha
        self.contamination = contamination
        self.calibration = calibration
        self.n_folds = n_folds
        self.standardize = standardize
        self.trim = trim
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the models and find the limits.

        Some of the rows may be outliers; the limits are then wider.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, at least 2.
        y : None
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        KernelOutlierDetector
            The detector itself, fitted.

        Raises
        ------
        TypeError
            If X is sparse, or if `estimator` is not a decomposition of this package.
        ValueError
            If both `alpha` and `contamination` are given, if X contains NaN or infinity or fewer than 2 rows, or if the
            kernel is precomputed.

        Warns
        -----
        NoAlarmWarning
            If no row can raise an alarm, however far away it is.
        SerialRowsWarning
            If the scores of neighbouring rows are clearly more alike than those of rows 5 to 20 apart suggest, as in
            a time series: alarms on further rows of the series will be more frequent than `alpha`. A table that is
            sorted by class hardly ever raises it, unless many classes have fewer than 20 rows. There is no such warning
            with calibration="blocked" or with `contamination`.
        UserWarning
            If a single row holds nearly all variation of a column, which then hardly counts.
        """
        if self.alpha is not None and self.contamination is not None:
            raise ValueError("alpha and contamination both set the limit; give one of them.")
        X = self._check(X, reset=True)
        channel = channel_to(self.observers, self.verbose)
        rng = generator(self.random_state)
        settings = self._settings(X, rng, channel)
        if settings.standardize not in (False, "common") and not settings.trim:
            warn_of_dominating_rows(X, self, "Leave these rows out if they are wrong, or pass trim=0.05.")
        found = self._models(X, settings, rng, channel)
        self._adopt(found, settings.explained, len(X))
        if self.contamination is not None:
            self.offset_ = float(np.quantile(self._score(X), self.contamination))
        self._tell_silence(len(X))
        self._tell_order(found.held)
        return self

    def _adopt(self, found: FittedModels, explained: float, n: int) -> None:
        """Take over models of n rows."""
        self._scaling, self.estimator_, self._explained = found.scaling, found.estimator, explained
        self._ellipsoid = found.ellipsoid
        self._judges, self.calibration_, self._known = found.judges, found.calibration, found.known
        self.n_samples_seen_ = n
        self.offset_ = -alarm_level(self._level, self.calibration_.n)

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> IntArray:
        """Fit the detector and return -1 for training rows that raise an alarm and +1 for the others.

        A training row is judged by the model that was not fitted to it, here and in all other methods. Two kinds of
        training rows are judged like new ones: those that occur more than once, and, where all models share one kernel
        matrix (see `calibration`), those that scaling and gamma were learned from, if each of them hardly changes a
        model (fewer than 16 components, and 20 rows per column or more).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows, at least 2.
        y : None
            Ignored; present for scikit-learn's conventions.
        **params : dict
            Ignored; present for scikit-learn's conventions.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 or +1 for each row.

        Warns
        -----
        NoAlarmWarning
            If no row, or no training row, can raise an alarm.
        """
        labels: IntArray = self.fit(X).predict(X)
        if self.contamination is None and self.calibration != "split":
            silence.tell(silence.no_training_row(self._level, self.calibration_.n))
        return labels

    def _tell_silence(self, rows: int) -> None:
        """Warn where no row can raise an alarm, however far away."""
        share = SPLIT if self.calibration == "split" else 1.0
        few = None
        if self.contamination is None:
            few = silence.too_few_rows(self._level, self.calibration_.n, rows, share)
        silence.tell(few or silence.hidden(self))

    def _tell_order(self, held: IntArray) -> None:
        """Warn where rows look like a time series; held are the rows of the scores in `calibration_`."""
        if self.contamination is None and self.calibration != "blocked":
            scores = self.calibration_.combined(np.vstack(self.calibration_.folds))
            silence.tell(looks_serial(scores[np.argsort(held)]), SerialRowsWarning)

    def _check(self, X: Any, *, reset: bool) -> Array:
        if is_sparse(X):
            raise TypeError(
                f"Sparse data was passed for X, but {type(self).__name__} subtracts the mean of each feature and needs "
                f"dense rows. Pass X.toarray() ({8e-6 * X.shape[0] * X.shape[1]:,.3g} MB), or fewer features, for "
                "example TruncatedSVD(50).fit_transform(X)."
            )
        # float64 for all rows: the SPE of rows that a model explains well is smaller than float32 can tell
        rows: Array = np.asarray(check_rows(self, X, reset=reset, sparse=False), np.float64)
        if reset and len(rows) < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 rows to compare; got n_samples = {len(rows)}.")
        return rows

    def _settings(self, X: Array, rng: np.random.RandomState, channel: Channel) -> Settings:
        if isinstance(self.estimator, str):
            return selected(X, self.trim, rng, channel)
        estimator = usual_model(len(X), rng) if self.estimator is None else self.estimator
        check_takes_rows(self, estimator)
        return Settings(estimator, resolved_scaling(self.standardize, X), self.explained, self.trim)

    def _models(self, X: Array, settings: Settings, rng: np.random.RandomState, channel: Channel) -> FittedModels:
        fitting = Fitting(settings, self.estimator is None, self.statistic, channel)
        order = rng.permutation(len(X))
        reference = self._reference(order, settings)
        if reference is None:
            several = self.calibration == "split" and self.statistic in ("both", "all")
            inner = inner_parts(order, self.n_folds) if several else []
            return fitting.apart(X, held_out_parts(X, order, self.n_folds, self.calibration), inner)
        judged = order[len(reference) :]
        held = np.array_split(judged, min(self.n_folds, len(judged)))
        return fitting.together(X, held, reference if len(reference) else order)

    def _reference(self, order: IntArray, settings: Settings) -> IntArray | None:
        """Return the rows for scaling, gamma and landmarks of all models; None if each model has its own."""
        if self.calibration != "cv+" or settings.trim:
            return None
        size = reference_size(settings.estimator, settings.standardize, len(order))
        if size and self.contamination is None and allowed_count(self._level, len(order) - size) < 2:
            return None  # alpha needs all rows
        return None if size is None else order[:size]

    @property
    def _level(self) -> float:
        return _ALPHA if self.alpha is None else float(self.alpha)

    # -- scoring -------------------------------------------------------------------------------------------------

    def _each(self, X: Array) -> Array:
        """Return the statistics by every model, (models, n, 2 or 3); of training rows, by models without them."""
        each = self._judges(X)
        return each if self._known is None else self._known.in_place_of(each, X)

    def _score(self, X: Array) -> Array:
        return -self.calibration_.surprise(self._each(X))

    def statistics(self, X: Any) -> Array:
        """Return the statistics of every row, averaged over the models that judge.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge, with the features of the training rows.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, 3)
            T2 in the first column, SPE in the second, and the squared Mahalanobis distance in the third, if it is used
            (statistic="all" with at least twice as many rows as columns); `limits` returns the limits that belong to
            them.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        TypeError
            If X is sparse.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        check_is_fitted(self)
        return np.asarray(self._each(self._check(X, reset=False)).mean(axis=0))

    def limits(self, alpha: float | None = None) -> Array:
        """Return the limits of all statistics, each taken alone, for control charts.

        Parameters
        ----------
        alpha : float in (0, 1) or None, default=None
            Rate of false alarms. None: the detector's `alpha`.

        Returns
        -------
        ndarray of shape (2,) or (3,)
            Limits of T2, of SPE, and of the squared Mahalanobis distance if it is used; infinite where there are too
            few rows for this rate.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        ValueError
            If alpha is not between 0 and 1.
        """
        check_is_fitted(self)
        if alpha is not None and not 0 < alpha < 1:
            raise ValueError(f"alpha must be a rate between 0 and 1, such as 0.01; got {alpha!r}.")
        return self.calibration_.limits(self._level if alpha is None else alpha)

    def p_values(self, X: Any) -> Array:
        """Return for every row the share of clean rows that are at least as unusual.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge, with the features of the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The p-values, at least 1 / (n + 1) with n calibration rows. Without `contamination`, rows with a p-value of
            at most `alpha` raise an alarm.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        TypeError
            If X is sparse.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        check_is_fitted(self)
        return self.calibration_.p_values(self._each(self._check(X, reset=False)))

    def score_samples(self, X: Any) -> Array:
        """Return how normal each row is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge, with the features of the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The logarithm, to base 10, of the p-value, interpolated between its steps and extrapolated beyond the most
            unusual calibration row. Lower is more unusual.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        TypeError
            If X is sparse.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        check_is_fitted(self)
        return self._score(self._check(X, reset=False))

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` minus `offset_`: negative for an alarm.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge, with the features of the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            One value per row. Negative values raise an alarm.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        TypeError
            If X is sparse.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> IntArray:
        """Return -1 for rows that raise an alarm and +1 for the others.

        An alarm is a p-value of at most `alpha`, or, with `contamination`, a score below `offset_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to judge, with the features of the training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 or +1 for each row.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        TypeError
            If X is sparse.
        ValueError
            If X has another number of features than the training rows, or contains NaN or infinity.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def contributions(self, X: Any, statistic: str = "all") -> Array:
        """Return what each feature contributes to the statistics of each row.

        For T2 and SPE, the gradient of the statistic is integrated along the straight line from the mean row to the
        row, by the model of all training rows, `estimator_`. The contributions of a row sum to its statistic by this
        model minus the statistic of the mean row. This is the mean of the rows from which the scaling was learned. With
        kernel="cosine" both are rows of length 1, or zero. For the squared Mahalanobis distance, the contribution of a
        feature is what the distance would lose if the feature had the value that the other features predict.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to explain, with the features of the training rows.
        statistic : {"all", "spe", "t2", "mahalanobis"}, default="all"
            The statistic to explain. "all": the sum of the contributions to all statistics that the detector computes,
            each in units of the value that one normal row in ten exceeds.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            One contribution per row and feature. Large values mark the features that make a row unusual.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the detector is not fitted yet.
        ValueError
            If the kernel has no derivatives ("linear", "poly", "rbf", "sigmoid" and "cosine" have), if `statistic`
            is none of the above, if it is "mahalanobis" and this distance is not used, or if X does not match the
            training rows.
        """
        check_is_fitted(self)
        return feature_contributions(self, self._check(X, reset=False), statistic)

    # -- files ---------------------------------------------------------------------------------------------------

    def _saved_state(self) -> dict[str, Any]:
        return as_state(self)

    def _restore_state(self, state: dict[str, Any]) -> None:
        from_state(self, state)
