"""The part of `ProcessMonitor` that explains: contributions, limits and summary."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.monitoring.contributions import model_reductions, smoothed_rows
from mercer.monitoring.judging import StreamJudging
from mercer.monitoring.lags import ages, with_lags
from mercer.monitoring.report import summary_of
from mercer.monitoring.sensors import Runs
from mercer.monitoring.stream import filled, in_blocks
from mercer.monitoring.times import starts_of


class Explaining(StreamJudging):
    """What a fitted monitor tells about itself, and why rows are unusual."""

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
            The contributions, at least 0. To them those to slow means are added: the squared deviation of the level in
            units of its limit, and the amount by which the sum of such squares of all relations would fall if the
            column had the best other values. Missing values contribute nothing.

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
        missing = np.isnan(rows)
        lagged = with_lags(rows[:, self._kept], self.lags_, starts)
        known = (ages(starts) >= self.lags_) & ~missing[:, self._kept].all(axis=1)
        found = np.full(rows.shape, np.nan)
        found[np.ix_(known, self._kept)] = self._reductions(filled(lagged[known], self._book))
        found[missing] = 0.0
        edges = [*np.flatnonzero(starts).tolist(), len(rows)]
        found = np.vstack([smoothed_rows(found[a:b], self._chart.weight) for a, b in pairwise(edges)])
        return found + np.vstack([self._slow.contributions(rows[a:b], self.alpha_) for a, b in pairwise(edges)])

    def _reductions(self, lagged: Array) -> Array:
        """Return by how much each variable can lower the index of rows with lags, (n, kept)."""
        used = np.isin(np.arange(2), self._chart.used)
        weights = used / np.maximum(self.limits(), np.finfo(float).tiny)
        rows, model = self._judge.scaling.bounded(lagged), self._judge.model
        return model_reductions(model, weights, rows, len(self._kept))

    def slow_means(self, X: Any) -> Array:
        """Return how far the slow mean nearest to its limit, or furthest beyond it, is from its usual value.

        Slow means are those of the columns (levels) and of what the other columns do not explain of them (relations).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time, as a stream of their own. The stream of `judge` is not changed.

        Returns
        -------
        ndarray of shape (n_samples,)
            The largest distance in units of its limit: with persist=1, a row raises an alarm from 1 on.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import ProcessMonitor
        >>> X = np.random.default_rng(0).normal(size=(400, 3))
        >>> monitor = ProcessMonitor().fit(X[:300])
        >>> usual, moved = monitor.slow_means(X[300:]), monitor.slow_means(X[300:] + 1.0)
        >>> bool(np.median(usual) < 1.0 < np.median(moved))
        True
        """
        times, rows = self._checked(X)
        edges = [*np.flatnonzero(starts_of(times, self._longest, len(rows))).tolist(), len(rows)]
        parts = [self._sensors.watch(rows[a:b], Runs.none(rows.shape[1]))[0] for a, b in pairwise(edges)]
        return np.concatenate([self._slow.largest(part, self.alpha_, in_blocks) for part in parts])

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
