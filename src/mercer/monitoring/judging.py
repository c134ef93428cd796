"""The part of `ProcessMonitor` that judges rows: the stream, rows on their own, limits and summary."""

from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, IntArray
from mercer.estimators.validation import check_rows
from mercer.monitoring.charts import Chart
from mercer.monitoring.contributions import reductions, smoothed_rows
from mercer.monitoring.lags import complete, with_lags
from mercer.monitoring.levels import SHARE, Levels
from mercer.monitoring.limits import Limits
from mercer.monitoring.report import summary_of
from mercer.monitoring.stream import Course, Memory, follow
from mercer.monitoring.times import starts_of, times_of
from mercer.monitoring.verdicts import Verdicts
from mercer.outliers.panel import Judge

_LONGEST = 5.0  # steps: where two rows are further apart, there is a gap in time


class StreamJudging:
    """What a fitted monitor says about rows."""

    alpha_: float
    drifting_: npt.NDArray[np.bool_]
    lags_: int
    _chart: Chart
    _judge: Judge
    _levels: Levels
    _limits: Limits
    _memory: Memory
    _step: float | None

    def _pair(self) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def _kept(self) -> IntArray:
        """The columns that are used."""
        return np.flatnonzero(~self.drifting_)

    def _course(self) -> Course:
        return Course(
            self._judge, self._chart, self._limits, self._levels, self._kept, np.flatnonzero(self.drifting_),
            self.alpha_, self.lags_, self._pair(),
        )  # fmt: skip

    @property
    def _longest(self) -> float:
        """The longest step, in nanoseconds, that is no gap in time."""
        return _LONGEST * self._step if self._step else np.inf

    def judge(self, X: Any) -> Verdicts:
        """Judge further rows of the stream.

        The rows follow those of the previous call: lags, smoothing and `persist` go on. One call with all rows and one
        call per row give the same verdicts. After a gap in time the stream begins anew.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows, with the features of the training rows. The index of a data frame tells their times if it is a
            DatetimeIndex.

        Returns
        -------
        Verdicts
            A table with one line per row: time, t2, spe, p, alarm and which.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the monitor is not fitted yet.
        ValueError
            If X has another number of features than the training rows, contains NaN or infinity, or has times that are
            not in order or lie before those of earlier rows.
        """
        verdicts, self._memory = self._followed(X, getattr(self, "_memory", None))
        return verdicts

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
        return self._followed(X, None)[0]

    def reset(self) -> Self:
        """Begin a new stream: forget the rows judged so far, and nothing that was learned.

        Returns
        -------
        ProcessMonitor
            The monitor itself.
        """
        check_is_fitted(self)
        self._memory = Memory.fresh(len(self._kept))
        return self

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
            The p-values; 1 for rows that cannot be judged because previous rows are missing.
        """
        return self.verdicts(X).p

    def _checked(self, X: Any) -> tuple[Any, Array]:
        """Return the times of rows, or None, and the rows."""
        check_is_fitted(self)
        times = times_of(X)
        return times, np.asarray(check_rows(self, X, reset=False, sparse=False), np.float64)

    def _followed(self, X: Any, memory: Memory | None) -> tuple[Verdicts, Memory]:
        times, rows = self._checked(X)
        memory = Memory.fresh(len(self._kept)) if memory is None else memory
        if times is not None and memory.time is not None and times[0] < memory.time:
            raise ValueError(
                "The first row of X is older than the last row judged before. Call reset() for a new stream."
            )
        return follow(self._course(), rows, times, self._longest, memory)

    def contributions(self, X: Any) -> Array:
        """Return how much each variable contributes to T2 and SPE of each row, as a stream of their own.

        The index is T2 divided by its limit plus SPE divided by its limit. A contribution is the amount by which the
        index would fall if this variable, at all lags, had the best other value [alcala2009]_. Contributions are
        smoothed as the statistics are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time. The stream of `judge` is not changed.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The contributions, at least 0. Those of columns that drift are squared deviations in units of their limits.

        References
        ----------
        .. [alcala2009] C. F. Alcala and S. J. Qin, Reconstruction-based contribution for process monitoring, Automatica
           45, 2009.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import ProcessMonitor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> monitor = ProcessMonitor().fit(X)
        >>> monitor.contributions(X[:20] + [0.0, 9.0, 0.0])[-1].argmax().item()
        1
        """
        times, rows = self._checked(X)
        starts = starts_of(times, self._longest, len(rows))
        lagged = with_lags(rows[:, self._kept], self.lags_, starts)
        known = complete(lagged)
        found = np.full(rows.shape, np.nan)
        weights = 1.0 / np.maximum(self.limits(), np.finfo(float).tiny)
        used = np.isin(np.arange(2), self._chart.used)
        scaling = self._judge.scaling
        found[np.ix_(known, self._kept)] = reductions(
            lambda some: np.asarray(self._judge(some) @ (weights * used)),
            lagged[known], scaling.mean, scaling.unit, len(self._kept),
        )  # fmt: skip
        edges = [*np.flatnonzero(starts).tolist(), len(rows)]
        found = np.vstack([smoothed_rows(found[a:b], self._chart.weight) for a, b in pairwise(edges)])
        found[:, self.drifting_] = self._levels.contributions(rows[:, self.drifting_], SHARE * self.alpha_)
        return found

    def limits(self, alpha: float | None = None) -> Array:
        """Return the limits of T2 and SPE, as they are shown in verdicts.

        Parameters
        ----------
        alpha : float in (0, 1) or None, default=None
            Rate of false alarms per row. None: that of the monitor.

        Returns
        -------
        ndarray of shape (2,)
            The limit of T2 and the limit of SPE. With persist=1, a row raises an alarm if one of them is reached.
        """
        check_is_fitted(self)
        rate = self._course().model_share * (self.alpha_ if alpha is None else alpha)
        return self._chart.limits(self._limits.at(rate))

    def summary(self) -> str:
        """Return what was learned and chosen, in words.

        Returns
        -------
        str
            A few lines of text.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import ProcessMonitor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> ProcessMonitor().fit(X).summary().splitlines()[0].split(";")[0]
        '300 normal rows of 3 variables'
        """
        check_is_fitted(self)
        return summary_of(self)
