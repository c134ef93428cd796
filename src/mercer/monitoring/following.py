"""The part of `ProcessMonitor` that learns after `fit`: adaption to drift, and levels that an operator accepts."""

from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array
from mercer.engine.scaling import Scaling
from mercer.estimators.all_or_nothing import all_or_nothing
from mercer.events import Channel
from mercer.monitoring.adaptation import Pace, Waiting
from mercer.monitoring.calibration import Fitter, calibrated, judge_from
from mercer.monitoring.drift import Evidence
from mercer.monitoring.explaining import Explaining
from mercer.monitoring.levels import Levels
from mercer.monitoring.patterns import Book
from mercer.monitoring.reference import Reference, Rows, folds_of
from mercer.monitoring.relations import Relations
from mercer.monitoring.slow_means import SlowMeans
from mercer.monitoring.stream import follow
from mercer.monitoring.training import LEAST_ROWS, prepared
from mercer.monitoring.verdicts import Verdicts
from mercer.outliers.panel import Judge


class Following(Explaining):
    """How a fitted monitor follows its process."""

    adapt: bool | int
    gap_: int
    levels: bool
    standardize: str | bool
    n_samples_seen_: int
    window_: int
    _waiting: Waiting

    def _fitter(self) -> Fitter:
        raise NotImplementedError

    def reset(self) -> Self:
        """Begin a new stream: forget the rows judged so far, and nothing that was learned.

        Returns
        -------
        ProcessMonitor
            The monitor itself.
        """
        check_is_fitted(self)
        self._memory = self._fresh()
        self._waiting = Waiting.none(self._reference.rows.lagged.shape[1], int(self.drifting_.sum()))
        return self

    @property
    def drift_(self) -> float:
        """The evidence that the model no longer fits; 1000 is a signal."""
        return self._evidence.value

    @property
    def drift_since_(self) -> int | None:
        """The number of the row of the stream at which `drift_` first was a signal; None if it never was."""
        return self._evidence.since

    @property
    def _evidence(self) -> Evidence:
        if not hasattr(self, "_memory"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet: it knows nothing of drift.")
        return self._memory.evidence

    # -- the stream ------------------------------------------------------------------------------------------------

    @all_or_nothing
    def _judged(self, X: Array, times: Any) -> Verdicts:
        if not self.adapt:
            verdicts, _, self._memory = follow(self._course(), X, times, self._longest, self._memory)
            return verdicts
        parts, first, pace = [], 0, self._pace
        while first < len(X):
            last = min(first + pace.refresh - self._waiting.rows, len(X))
            some = None if times is None else times[first:last]
            verdicts, seen, self._memory = follow(self._course(), X[first:last], some, self._longest, self._memory)
            waited = self._waiting.rows + last - first
            self._waiting = replace(self._waiting, seen=self._waiting.seen.followed_by(seen), rows=waited)
            if waited == pace.refresh:
                self._refresh(pace)
            parts.append(verdicts)
            first = last
        return _joined(parts)

    @property
    def _pace(self) -> Pace:
        return Pace.of(self.window_, self._chart.weight, self._plan().persist[1], self._spacing)

    def _refresh(self, pace: Pace) -> None:
        """Learn from the rows that have waited long enough."""
        segment = int(self._reference.rows.segment[-1])
        rows, scores, self._waiting = self._waiting.sorted_out(pace, self.alpha_, segment)
        if not rows.learned.any():
            return
        reference = self._reference.extended(rows, scores, self._judge, pace.window)
        learned = reference.rows.lagged[reference.rows.learned]
        if len(learned) >= LEAST_ROWS:
            self._renew(reference, judge_from(learned, self._fitter(), self.standardize))

    def _renew(self, reference: Reference, judge: Judge) -> None:
        """Take a new model, and limits from the scores of the reference."""
        current = reference.rows.lagged[:, : len(self._kept)]
        scaled = Scaling.of(current, self.standardize)(current)
        self._slow = self._slow_means(reference.rows[reference.rows.learned])
        self._reference, self._judge = reference, judge
        self._calibration = calibrated(reference.scores, scaled, reference.rows.place, judge.model, self._plan())
        self._open_book()

    def _slow_means(self, rows: Rows) -> SlowMeans:
        """Return the levels of all columns, and the relations of those that do not drift."""
        whole, current = np.empty((len(rows), self.n_features_in_)), rows.lagged[:, : len(self._kept)]
        whole[:, self._kept], whole[:, self.drifting_] = current, rows.others
        levels = Levels.of(whole, self.drifting_, bool(self.levels), rows.place)
        if not self.levels or current.shape[1] < 2:
            return SlowMeans(levels, None, self._kept)
        folds = folds_of(rows.segment, min(self._plan().n_folds, len(rows)), self.gap_)
        return SlowMeans(levels, Relations.of(current, folds, rows.place), self._kept)

    def _open_book(self) -> None:
        """Forget the limits for missing columns, after the model or its limits have changed."""
        self._book = Book(self._reference, self._judge, self._calibration, self._plan())

    # -- accepted levels -------------------------------------------------------------------------------------------

    @all_or_nothing
    def accept(self, X: Any) -> Self:
        """Take further rows as normal: the operator knows that the process runs at a new level.

        The model is fitted anew, with the kernel and the number of components as they are, to the rows that it has
        learned from and to these; limits are set anew, too. With `adapt`, the last `window_` of all these rows are
        taken. Smoothed statistics and the evidence of drift begin anew; the stream goes on otherwise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Normal rows in the order of time, at least 10 without NaN and with all their lags; rows with NaN are left
            out. They need not be rows of the stream.

        Returns
        -------
        ProcessMonitor
            The monitor itself.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the monitor is not fitted yet.
        ValueError
            If X has another number of features than the training rows, contains infinity, or has too few rows.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import ProcessMonitor
        >>> X = np.random.default_rng(0).normal(size=(600, 3))
        >>> monitor = ProcessMonitor().fit(X[:300])
        >>> bool(monitor.judge(X[300:400] + 9.0).alarm.all())
        True
        >>> bool(monitor.accept(X[300:400] + 9.0).judge(X[400:] + 9.0).alarm.mean() < 0.02)
        True
        """
        times, given = self._checked(X)
        known, lagged, place = prepared(given, times, self._longest).lagged(self._kept, self.lags_)
        if len(known) < LEAST_ROWS:
            raise ValueError(
                f"accept needs at least {LEAST_ROWS} rows without NaN and with {self.lags_} previous rows; got "
                f"{len(known)} (n_samples = {len(given)}). Wait for more rows."
            )
        old = self._reference.rows
        rows = old[old.learned].followed_by(Rows.of(lagged, known[:, self.drifting_], place, int(old.segment[-1]) + 1))
        self._learn(rows[-self.window_ :] if self.adapt else rows)
        self.n_samples_seen_ += len(known)
        memory = replace(self._memory.unsmoothed(), evidence=Evidence.none(self._spacing))
        self.reset()
        self._memory = memory
        return self

    def _learn(self, rows: Rows) -> None:
        """Fit the model to rows, and set the limits by models of parts of them."""
        fit = self._fitter()
        judge = judge_from(rows.lagged, fit, self.standardize)
        self._renew(Reference.held_out(rows, judge, fit, self._plan(), self._channel()), judge)

    def _channel(self) -> Channel:
        raise NotImplementedError


def _joined(parts: list[Verdicts]) -> Verdicts:
    names = [field.name for field in fields(Verdicts)]
    return Verdicts(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
