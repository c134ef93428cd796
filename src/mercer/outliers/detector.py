"""`KernelOutlierDetector`: alarms with a known rate of false ones, around any of the package's estimators."""

import os
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray, is_sparse
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.validation import Interval, StrOptions, check_rows, generator, validated
from mercer.events import Channel, Observer
from mercer.expansion.model import Expansion
from mercer.io import persist
from mercer.outliers import silence as silence
from mercer.outliers.calibration import Calibration, alarm_level
from mercer.outliers.contributions import contributions
from mercer.outliers.scores import score_model
from mercer.outliers.state import Judge, ScoreParameter, as_state, from_state
from mercer.outliers.stream import StreamScoring
from mercer.progress import observers as progress_observers
from mercer.tables.scaling import Scaling

_ALPHA = 0.05  # where neither alpha nor contamination is given
_STAGE = "models fitted"
_SPLIT = 0.5  # share of the rows that "split" keeps for the limits


class KernelOutlierDetector(StreamScoring, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Outlier detection by kernel PCA: alarms with a chosen rate of false ones on clean data.

    Two statistics tell how unusual a row is: T2, how far out it lies within the subspace of the components, and SPE,
    how far from it. Their limits come from rows that the scoring models have not seen, so that of clean new rows a
    share `alpha` raises an alarm, whatever their distribution.

    Parameters
    ----------
    estimator : estimator or None
        Any decomposition of this package; it is cloned. None: `KernelPCA` with a Gaussian kernel and few components,
        which works without tuning on most tables.
    score : {"both", "t2", "spe"}
        "t2": sum of y_j^2 / lambda_j over the components chosen by `explained` [kim2019, rule (28)]. "spe": squared
        distance, in feature space, from the subspace of these components [Hoffmann 2007]. "both": a combined index; T2
        alone fails with narrow Gaussian kernels, SPE alone sees no extremes inside the subspace.
    explained : float in (0, 1]
        Components of largest variance are taken until they hold this share of the variance of all components of the
        estimator.
    alpha : float in (0, 1) or None
        Share of clean new rows that may raise an alarm. With n rows (half of them for "split") the smallest p-value
        is 1 / (n + 1): `fit` warns (`NoAlarmWarning`) if alpha is below that, or if rows far away raise no alarm for
        another reason. A training row counts itself, so its p-value is at least 2 / (n + 1). None: 0.05, unless
        `contamination` is given.
    contamination : float in (0, 0.5] or None
        Instead of alpha: the share of the training rows that are outliers; the limit is set so that so many of them
        raise an alarm.
    calibration : {"cv+", "split"}
        "cv+": `n_folds` models, each fitted without one part of the rows, judge new rows together. "split": one model
        fitted on one half, limits from the other; `n_folds` times cheaper, and less sharp. Where the models of the
        folds disagree, as they do for "t2" alone with a narrow kernel on few rows, "cv+" alarms more seldom than asked
        for, down to a third; "split" keeps the rate.
    n_folds : int
    standardize : {"soft", "variance", False}
        "variance": features are divided by their standard deviations. "soft": by the geometric mean of standard
        deviation and half the range, so that features which are nearly always the same do not drown the others. False:
        rows are taken as they are.
    learn : {"quiet", "all"}
        What `score_then_learn` learns from: rows without an alarm, or all.
    window : int
        `score_then_learn` compares rows with so many recent scores.
    random_state : int, RandomState or None
        Draws the folds.
    verbose : bool or int
        Shows the models as they are fitted, and the steps of each.

    Attributes
    ----------
    estimator_ : the estimator, fitted to all training rows
    calibration_ : Calibration
        T2 and SPE of the training rows, by models that did not see them.
    offset_ : float
        `decision_function` is `score_samples` - offset_.
    n_features_in_, n_samples_seen_ : int

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

    References
    ----------
    C. Kim, D. Klabjan: A simple and fast algorithm for L1-norm kernel PCA, 2019. H. Hoffmann: Kernel PCA for novelty
    detection, 2007. R. F. Barber et al.: Predictive inference with the jackknife+, 2021.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [BaseEstimator, None],
        "score": [StrOptions({"both", "t2", "spe"})],
        "explained": [Interval(Real, 0, 1, closed="right")],
        "alpha": [Interval(Real, 0, 1, closed="neither"), None],
        "contamination": [Interval(Real, 0, 0.5, closed="right"), None],
        "calibration": [StrOptions({"cv+", "split"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "standardize": [StrOptions({"soft", "variance"}), "boolean"],
        "learn": [StrOptions({"quiet", "all"})],
        "window": [Interval(Integral, 10, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    observers: tuple[Observer, ...] = ()

    score = ScoreParameter()

    def __init__(
        self,
        estimator: Any = None,
        *,
        score: str = "both",
        explained: float = 0.8,
        alpha: float | None = None,
        contamination: float | None = None,
        calibration: str = "cv+",
        n_folds: int = 5,
        standardize: str | bool = "soft",
        learn: str = "quiet",
        window: int = 500,
        random_state: Any = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.explained = explained
        self.alpha = alpha
        self.contamination = contamination
        self.calibration = calibration
        self.n_folds = n_folds
        self.standardize = standardize
        self.learn = learn
        self.window = window
        self.random_state = random_state
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        return {**super().get_params(deep), "score": vars(self)["score"]}

    # -- fitting -------------------------------------------------------------------------------------------------

    @validated
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the models and find the limits. The rows may hold some outliers; the limits are then wider."""
        if self.alpha is not None and self.contamination is not None:
            raise ValueError("alpha and contamination both set the limit; give one of them.")
        X = self._check(X, reset=True)
        channel = Channel((*self.observers, *progress_observers(self.verbose)))
        self._scaling = Scaling.of(X, self.standardize)
        self.estimator_ = self._fitted(self._scaling(X), channel)
        self._calibrate(X, channel)
        self.n_samples_seen_ = len(X)
        self._set_offset(X)
        self._tell_silence(len(X))
        return self

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> IntArray:
        """Fit, and return -1 for training rows that raise an alarm and +1 for the others."""
        labels: IntArray = self.fit(X).predict(X)
        if self.contamination is None and self.calibration == "cv+":
            silence.tell(silence.no_training_row(self._level, self.calibration_.n))
        return labels

    def _tell_silence(self, rows: int) -> None:
        """Warn where no row can raise an alarm, however far away."""
        share = _SPLIT if self.calibration == "split" else 1.0
        few = None
        if self.contamination is None:
            few = silence.too_few_rows(self._level, self.calibration_.n, rows, share)
        silence.tell(few or silence.hidden(self))

    def _check(self, X: Any, *, reset: bool) -> Array:
        if is_sparse(X):
            raise TypeError(
                f"Sparse data was passed for X, but {type(self).__name__} subtracts the mean of each feature and needs "
                f"dense rows. Pass X.toarray() ({8e-6 * X.shape[0] * X.shape[1]:,.3g} MB), or fewer features, for "
                "example TruncatedSVD(50).fit_transform(X)."
            )
        rows: Array = check_rows(self, X, reset=reset, sparse=False)
        if reset and len(rows) < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 rows to compare; n_samples = {len(rows)} came.")
        return rows

    def _fitted(self, X: Array, channel: Channel) -> Any:
        estimator = KernelPCA(**_usual(X)) if self.estimator is None else clone(self.estimator)
        if getattr(estimator, "kernel", None) == "precomputed":
            raise ValueError(f"{type(self).__name__} needs rows, not a precomputed kernel: it fits parts of them.")
        estimator.observers = channel.observers
        try:
            estimator.fit(X)
        finally:
            del estimator.observers  # a display is no part of a model
        if not isinstance(getattr(estimator, "expansion_", None), Expansion):
            name = type(estimator).__name__
            raise TypeError(f"estimator must be a decomposition of this package, such as KernelPCA; got {name}.")
        return estimator

    def _judge(self, X: Array, channel: Channel) -> Judge:
        """Return a model of T2 and SPE, fitted to these rows, scaling included."""
        scaling = Scaling.of(X, self.standardize)
        rows = scaling(X)
        return Judge(scaling, score_model(self._fitted(rows, channel).expansion_, self.explained, rows))

    def _calibrate(self, X: Array, channel: Channel) -> None:
        order = generator(self.random_state).permutation(len(X))
        if self.calibration == "split":
            held = [order[: max(1, int(_SPLIT * len(X)))]]
        else:
            held = np.array_split(order, min(self.n_folds, len(X)))
        judges, folds = [], []
        channel.emit(_STAGE, 1, len(held) + 1)
        for step, rows in enumerate(held, 2):
            judges.append(self._judge(np.delete(X, rows, axis=0), channel))
            folds.append(judges[-1](X[rows]))
            channel.emit(_STAGE, step, len(held) + 1)
        self._judges = judges
        self.calibration_ = Calibration(tuple(folds), str(self.score))

    def _set_offset(self, X: Array) -> None:
        if self.contamination is None:
            self.offset_ = -alarm_level(self._level, self.calibration_.n)
        else:
            self.offset_ = float(np.quantile(self._score(X), self.contamination))

    @property
    def _level(self) -> float:
        return _ALPHA if self.alpha is None else float(self.alpha)

    # -- scoring -------------------------------------------------------------------------------------------------

    def _each(self, X: Array) -> Array:
        """Return T2 and SPE by every model, (models, rows, 2)."""
        return np.stack([judge(X) for judge in self._judges])

    def _score(self, X: Array) -> Array:
        return -self.calibration_.surprise(self._each(X))

    def statistics(self, X: Any) -> Array:
        """Return T2 and SPE of every row, (n, 2), averaged over the models that judge; `limits()` belong to them."""
        check_is_fitted(self)
        return np.asarray(self._each(self._check(X, reset=False)).mean(axis=0))

    def limits(self, alpha: float | None = None) -> Array:
        """Return the limits of T2 and of SPE, each taken alone, at a rate of false alarms; for control charts."""
        check_is_fitted(self)
        return self.calibration_.limits(self._level if alpha is None else alpha)

    def p_values(self, X: Any) -> Array:
        """Return for every row the share of clean rows that are as unusual: at least 1 / (n + 1)."""
        check_is_fitted(self)
        return self.calibration_.p_values(self._each(self._check(X, reset=False)))

    def score_samples(self, X: Any) -> Array:
        """Return how normal each row is: log10 of its p-value, with steps filled in and tails extended."""
        check_is_fitted(self)
        return self._score(self._check(X, reset=False))

    def decision_function(self, X: Any) -> Array:
        """Return score_samples - offset_: negative for an alarm."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> IntArray:
        """Return -1 for rows that raise an alarm, which is those with p <= alpha, and +1 for the others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def contributions(self, X: Any, score: str = "spe") -> Array:
        """Return what each feature contributes to the "spe" or the "t2" of each row, (n, n_features).

        The gradient of the score is integrated on the way from the mean row; contributions sum to the score less the
        score there. For kernels with derivatives.
        """
        check_is_fitted(self)
        if score not in ("spe", "t2"):
            raise ValueError(f"score must be 'spe' or 't2'; got {score!r}.")
        rows = self._scaling(self._check(X, reset=False))
        return contributions(self._full_model(), rows, np.zeros(rows.shape[1]), score)

    # -- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted detector to one file, atomically; `mercer.load(path)` reads it back."""
        check_is_fitted(self)
        persist.save(self, path)

    def _saved_state(self) -> dict[str, Any]:
        return as_state(self)

    def _restore_state(self, state: dict[str, Any]) -> None:
        from_state(self, state)


def _usual(X: Array) -> dict[str, Any]:
    """Return parameters of `KernelPCA` that suit most tables."""
    return {"n_components": max(1, min(4, len(X) - 1)), "kernel": "rbf", "gamma": "median"}
