"""The models that judge: a saved or learned `ProcessMonitor`, or a saved `KernelOutlierDetector`."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.io.persist import load
from mercer.monitoring.monitor import ProcessMonitor
from mercer.outliers.detector import KernelOutlierDetector
from mercer.outliers.judgement import judge_rows
from mercer.tables.prepared import filled, training_means
from mercer.watch.contributions import Explanation, of_detector, of_monitor

_SPARSE = 0.5  # a column that has fewer numbers than this share of the learned rows is left out
_HOLED = 0.2  # so is one that lacks more than this share, if too few rows are complete
_COMPLETE = 0.5  # share of complete rows that is enough
_DRIFT = 1000.0  # value of `drift_` that is a signal
_NO_MEANS = (
    "Rows with missing cells are not judged: the detector was fitted to rows that were not scaled, so it has no means "
    "to take instead."
)
EXPLAINED = 40  # rows before an alarm, that its explanation looks at


@dataclass(frozen=True, eq=False)
class Judged:
    """What a model says about rows."""

    t2: Array  # (n,), NaN for rows that cannot be judged
    spe: Array
    p: Array
    alarm: npt.NDArray[np.bool_]
    which: npt.NDArray[Any]  # (n,), texts: what raised the alarm
    judged: npt.NDArray[np.bool_]
    reason: str | None = None  # why some were not judged, if that is no matter of course


def not_judged(n: int) -> Judged:
    """Return what is said about rows that cannot be judged."""
    unknown = np.full(n, np.nan)
    return Judged(unknown, unknown, np.ones(n), np.zeros(n, bool), np.full(n, "", object), np.zeros(n, bool))


class Judge(Protocol):
    """A model that judges rows in the order of time."""

    columns: tuple[str, ...]
    alpha: float
    remembers: bool  # whether it changes with the rows: then it is saved from time to time

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The limits of T2 and SPE; None where a model cannot reach one."""

    def judge(self, rows: Array) -> Judged:
        """Return what the model says about the rows that follow those judged before."""

    def explain(self, rows: Array, which: str) -> Explanation:
        """Return which variables moved in the last of some rows that follow each other."""

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""

    def drifted(self) -> bool:
        """Tell whether the model itself finds that it no longer fits."""


class MonitorJudge:
    """A `ProcessMonitor`: it knows that rows follow each other, and can follow slow drift."""

    remembers = True

    def __init__(self, model: ProcessMonitor) -> None:
        self.model, self.columns, self.alpha = model, _names(model), float(model.alpha_)

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """The limits of T2 and SPE."""
        return _finite(self.model.limits())

    def judge(self, rows: Array) -> Judged:
        """Return what the monitor says about the rows that follow those judged before."""
        found = self.model.judge(rows)
        return Judged(found.t2, found.spe, found.p, found.alarm, found.which, _has_values(rows))

    def explain(self, rows: Array, which: str) -> Explanation:
        """Return which variables moved in the last of some rows that follow each other."""
        return of_monitor(self.model, self.columns, rows, which)

    def save(self, path: Path) -> None:
        """Write the monitor to a file, atomically."""
        self.model.save(path)

    def drifted(self) -> bool:
        """Tell whether the monitor has evidence that it no longer fits."""
        return self.model.drift_ >= _DRIFT


class DetectorJudge:
    """A `KernelOutlierDetector`: every row for itself; missing values are replaced by means, where it has any."""

    remembers = False

    def __init__(self, model: KernelOutlierDetector) -> None:
        self.model, self.columns, self.alpha = model, _names(model), float(model._level)
        self.limits = _finite(model.limits()[:2])
        self.means = _means(model)

    def judge(self, rows: Array) -> Judged:
        """Return what the detector says about rows; one without any value, or that needs means, is not judged."""
        some = _has_values(rows)
        known = some if self.means is not None else _is_complete(rows)
        t2, spe, p = np.full((3, len(rows)), np.nan)
        p[:], alarm = 1.0, np.zeros(len(rows), bool)
        which = np.full(len(rows), "t2 and spe", object)
        if known.any():
            found = judge_rows(self.model, self._filled(rows[known]))
            t2[known], spe[known] = found.statistics.T[:2]
            p[known], alarm[known] = found.p_values, found.scores < self.model.offset_
            which[known] = np.where(found.by_distance, "mahalanobis", which[known])
        reason = _NO_MEANS if (some & ~known).any() else None
        return Judged(t2, spe, p, alarm, np.where(alarm, which, ""), known, reason)

    def _filled(self, rows: Array) -> Array:
        return rows if self.means is None else filled(rows, self.means)

    def explain(self, rows: Array, which: str) -> Explanation:
        """Return which variables moved in the last row."""
        return of_detector(self.model, self.columns, self._filled(rows[-1:]), self.means)

    def save(self, path: Path) -> None:
        """Write the detector to a file, atomically."""
        self.model.save(path)

    def drifted(self) -> bool:
        """Tell that a detector does not look for drift."""
        return False


def judge_of(path: Path) -> Judge:
    """Read a saved model."""
    model = load(path)
    if isinstance(model, KernelOutlierDetector):
        return DetectorJudge(model)
    if isinstance(model, ProcessMonitor):
        return MonitorJudge(model)
    raise ValueError(
        f"{path} holds a {type(model).__name__}. Give a detector of `mercer outliers --save`, or a monitor of "
        "`mercer monitor --save`."
    )


def learned(rows: Array, columns: list[str], alpha: float, adapt: bool) -> MonitorJudge:
    """Learn from normal rows; columns without enough numbers are left out."""
    used = usable(rows)
    if not len(used):
        raise ValueError("No column holds numbers in enough of these rows, so there is nothing to learn from.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows with missing values are left out, which is documented
        model = ProcessMonitor(alpha=alpha, adapt=adapt).fit(rows[:, used])
    model.feature_names_in_ = np.array([columns[i] for i in used], object)
    return MonitorJudge(model)


def usable(rows: Array) -> npt.NDArray[np.intp]:
    """Return the columns to learn from: those with numbers in most rows, and so that enough rows are complete."""
    missing = np.isnan(rows).mean(axis=0)
    used = np.flatnonzero(missing <= _SPARSE)
    if len(used) and (~np.isnan(rows[:, used]).any(axis=1)).mean() < _COMPLETE:
        used = used[missing[used] <= _HOLED]
    return used


def _has_values(rows: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(~np.isnan(rows).all(axis=1))


def _is_complete(rows: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(~np.isnan(rows).any(axis=1))


def _means(model: KernelOutlierDetector) -> Array | None:
    """Return the means of the columns in the training rows; None for a detector of rows that were not scaled."""
    found, unit = training_means(model), model._scaling.unit
    # zeros and ones stand for no scaling, which is also what estimator="select" may have found to be best
    return None if found is None or not (found.any() or (unit != 1.0).any()) else found


def _names(model: Any) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    return tuple(f"column{i}" for i in range(model.n_features_in_)) if names is None else tuple(map(str, names))


def _finite(limits: Array) -> tuple[float | None, float | None]:
    t2, spe = (float(limit) if np.isfinite(limit) else None for limit in limits)
    return t2, spe
