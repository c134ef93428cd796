"""The part of `KernelOutlierDetector` for streams: score first, then learn."""

from copy import copy
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.outliers.calibration import Calibration, alarm_level
from mercer.outliers.panel import Judge, Panel
from mercer.outliers.scores import ScoreModel, score_model
from mercer.outliers.silence import short_window, tell
from mercer.tables.scaling import Scaling

_GROSS = 2.0  # a score whose extrapolated p is 100 times below the smallest p of the window does not enter the window


class StreamScoring:
    """The method for streams of a detector whose estimator has `partial_fit`."""

    estimator: Any
    estimator_: Any
    calibration_: Calibration
    contamination: float | None
    explained: float
    learn: str
    window: int
    n_samples_seen_: int
    statistic: str
    _scaling: Scaling
    _judges: Panel
    _check: Any
    _each: Any
    fit: Any
    p_values: Any

    @property
    def _level(self) -> float:
        raise NotImplementedError

    def _full_model(self) -> ScoreModel:
        return score_model(self.estimator_.expansion_, self.explained)

    @all_or_nothing
    def score_then_learn(self, X: Any) -> Array:
        """Return p-values of new rows, then learn from them: one call per chunk of a stream.

        The first call fits. Later rows are scored by the model as it is, before it learns from them (see the parameter
        `learn`). Their scores are added to a window of recent scores, which the next rows are compared with; a score
        far beyond all others of the window is not added. The scaling stays that of the first call. All rows of one call
        are scored by the same model: pass small chunks where the data change fast. A call that raises an error leaves
        the detector as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows of the stream. Later calls need the same features as the first one.

        Returns
        -------
        ndarray of shape (n_samples,)
            The p-values of the rows; alarms are those of at most `alpha`.

        Raises
        ------
        TypeError
            If `estimator` has no `partial_fit`, or if X is sparse.
        ValueError
            If `contamination` is given, or if X contains NaN or infinity or has other features than the first rows.

        Warns
        -----
        NoAlarmWarning
            If no row can raise an alarm because `window` or the first call has too few rows for `alpha`.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelOutlierDetector, LandmarkKernelPCA
        >>> X = np.random.default_rng(0).standard_normal((300, 3))
        >>> model = LandmarkKernelPCA(4, gamma="median", landmarks=50, random_state=0)
        >>> detector = KernelOutlierDetector(model, alpha=0.02, random_state=0)
        >>> first = detector.score_then_learn(X)
        >>> p = detector.score_then_learn([[0.0, 0.0, 0.0], [8.0, 0.0, 0.0]])
        >>> (p <= 0.02).tolist()
        [False, True]
        """
        self._require_learner()
        tell(short_window(self._level, self.window))
        if not hasattr(self, "estimator_"):
            self.fit(X)
            return np.asarray(self.p_values(X))
        X = self._check(X, reset=False)
        self._follow()
        scores = self._each(X)
        p, surprise = self.calibration_.p_values(scores), self.calibration_.surprise(scores)
        quiet = p > self._level if self.learn == "quiet" else np.ones(len(X), bool)
        if quiet.any():
            self.estimator_ = copy(self.estimator_).partial_fit(self._scaling(X[quiet]))
        gross = surprise > np.log10(self.calibration_.n + 1) + _GROSS
        self._remember(scores[0][~gross] if self.learn == "quiet" else scores[0])
        self.n_samples_seen_ += len(X)
        return p

    def _require_learner(self) -> None:
        if self.contamination is not None:
            raise ValueError("A stream needs alpha: contamination is a share of a training set.")
        if not hasattr(self.estimator, "partial_fit"):
            raise TypeError(
                "score_then_learn needs an estimator with partial_fit, such as LandmarkKernelPCA(); got "
                f"estimator={self.estimator!r}."
            )

    def _follow(self) -> None:
        """From now on score by the learning model alone, and compare with the scores so far in one window."""
        self._judges = Panel([Judge(self._scaling, self._full_model())])
        if len(self.calibration_.folds) > 1:
            self._remember(np.empty((0, 2)))

    def _remember(self, scores: Array) -> None:
        recent = np.vstack([*self.calibration_.folds, scores])[-self.window :]
        self.calibration_ = Calibration((recent,), self.statistic)
        self._judges = Panel([Judge(self._scaling, self._full_model())])
        self.offset_ = -alarm_level(self._level, len(recent))
