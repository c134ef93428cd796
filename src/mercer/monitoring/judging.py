"""The part of `ProcessMonitor` that judges rows: the stream, and rows on their own."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray
from mercer.estimators.validation import check_rows
from mercer.monitoring.calibration import Calibration, Plan
from mercer.monitoring.charts import Chart
from mercer.monitoring.limits import Limits
from mercer.monitoring.patterns import Book
from mercer.monitoring.reference import Reference
from mercer.monitoring.sensors import Sensors
from mercer.monitoring.slow_means import SlowMeans
from mercer.monitoring.stream import Course, Memory, follow
from mercer.monitoring.times import times_of
from mercer.monitoring.verdicts import Verdicts
from mercer.outliers.panel import Judge

_LONGEST = 5.0  # steps: where two rows are further apart, there is a gap in time


class StreamJudging:
    """What a fitted monitor says about rows."""

    alpha_: float
    drifting_: npt.NDArray[np.bool_]
    lags_: int
    n_features_in_: int
    _book: Book  # the model with its limits, and those for missing columns
    _calibration: Calibration
    _judge: Judge
    _memory: Memory
    _reference: Reference
    _sensors: Sensors
    _slow: SlowMeans
    _spacing: int
    _step: float | None

    def _plan(self) -> Plan:
        raise NotImplementedError

    @property
    def _kept(self) -> IntArray:
        """The columns that are used."""
        return np.flatnonzero(~self.drifting_)

    @property
    def _chart(self) -> Chart:
        return self._calibration.chart

    @property
    def _limits(self) -> Limits:
        return self._calibration.limits

    def _names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", getattr(self, "names_in_messages", None))
        return [f"column {i}" for i in range(self.n_features_in_)] if given is None else [str(name) for name in given]

    def _course(self) -> Course:
        return Course(
            self._book, self._slow, self._sensors, self._names(), self._kept, np.flatnonzero(self.drifting_),
            self.alpha_, self.lags_, self._spacing,
        )  # fmt: skip

    def _fresh(self) -> Memory:
        return Memory.fresh(self.n_features_in_, len(self._kept), self._spacing, self._slow.width)

    @property
    def _longest(self) -> float:
        """The longest step, in nanoseconds, that is no gap in time."""
        return _LONGEST * self._step if self._step else np.inf

    def judge(self, X: Any) -> Verdicts:
        """Judge further rows of the stream.

        The rows follow those of the previous call: lags, smoothing and `persist` go on. One call with all rows and one
        call per row give the same verdicts. After a gap in time the stream begins anew.

        Missing values (NaN) are replaced by what is expected given the other values of the row, and limits are those of
        normal rows that were treated in the same way. A row without any value is not judged. A column that is missing
        for longer than the training rows explain, or has the same value for so long, raises an alarm of its own kind;
        a frozen value counts as missing from then on. With `adapt`, the model learns from rows without alarms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows, with the features of the training rows; there may be none. The index of a data frame tells
            their times if it is a DatetimeIndex; times with a zone come back in UTC.

        Returns
        -------
        Verdicts
            A table with one line per row: time, t2, spe, p, alarm and which.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the monitor is not fitted yet.
        ValueError
            If X has another number of features than the training rows, contains infinity, or has times that are not in
            order or lie before those of earlier rows.
        """
        check_is_fitted(self)
        times, rows = self._checked(X, self._memory.time, least=0)
        return self._judged(rows, times) if len(rows) else Verdicts.none(times is not None)

    def _judged(self, X: Array, times: Any) -> Verdicts:
        """Judge further rows of the stream that were checked."""
        raise NotImplementedError

    def verdicts(self, X: Any) -> Verdicts:
        """Judge rows as a stream of their own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time. The stream of `judge` is not changed.

        Returns
        -------
        Verdicts
            A table with one line per row: time, t2, spe, p, alarm and which.
        """
        times, rows = self._checked(X)
        return follow(self._course(), rows, times, self._longest, self._fresh())[0]

    def predict(self, X: Any) -> IntArray:
        """Return -1 for rows that raise an alarm and +1 for the others, as a stream of their own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time. The stream of `judge` is not changed.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 or +1 for each row.
        """
        return np.where(self.verdicts(X).alarm, -1, 1)

    def p_values(self, X: Any) -> Array:
        """Return the smallest rate of false alarms at which each row raises an alarm, as a stream of their own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time. The stream of `judge` is not changed.

        Returns
        -------
        ndarray of shape (n_samples,)
            The p-values; 1 for rows that cannot be judged because previous rows or all values are missing. Alarms of
            sensors that are missing or frozen are not among them.
        """
        return self.verdicts(X).p

    def _checked(self, X: Any, after: int | None = None, least: int = 1) -> tuple[Any, Array]:
        """Return the times of rows, or None, and the rows; their times must not lie before a given one."""
        check_is_fitted(self)
        times = times_of(X)
        checked = check_rows(self, X, reset=False, sparse=False, missing=True, least=least)
        rows = np.asarray(checked, np.float64)
        if times is not None and after is not None and len(times) and times[0] < after:
            raise ValueError(
                "The first row of X is older than the last row judged before. Call reset() for a new stream."
            )
        return times, rows
