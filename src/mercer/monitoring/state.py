"""The parts of a fitted `ProcessMonitor` as plain data for files, and back."""

from dataclasses import fields, is_dataclass
from typing import Any

from mercer.engine.scaling import Scaling
from mercer.monitoring.adaptation import Seen, Waiting
from mercer.monitoring.calibration import Calibration
from mercer.monitoring.candidates import Candidate
from mercer.monitoring.charts import Chart
from mercer.monitoring.choice import Choice
from mercer.monitoring.drift import Evidence
from mercer.monitoring.levels import Levels
from mercer.monitoring.limits import Limits
from mercer.monitoring.reference import PartialJudge, Reference, Rows
from mercer.monitoring.relations import Relations
from mercer.monitoring.sensors import Runs, Sensors
from mercer.monitoring.slow_means import SlowMeans
from mercer.monitoring.split import SplitModel
from mercer.monitoring.stream import Memory
from mercer.monitoring.thin_matrix import ThinMatrix
from mercer.outliers.panel import Judge
from mercer.outliers.scores import ScoreModel

_PLAIN = (
    "alpha_", "drifting_", "lags_", "gap_", "smoothing_", "n_effective_", "n_components_", "kernel_", "choice_",
    "n_samples_seen_", "n_features_in_", "feature_names_in_", "window_", "_step", "_spacing",
)  # fmt: skip
_PARTS = ("_calibration", "_judge", "_memory", "_recipe", "_reference", "_sensors", "_slow", "_waiting")
_KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Calibration, Candidate, Chart, Choice, Evidence, Judge, Levels, Limits, Memory, PartialJudge, Reference,
        Relations, Rows, Runs, Scaling, ScoreModel, Seen, Sensors, SlowMeans, SplitModel, ThinMatrix,
        Waiting,
    )
}  # fmt: skip


def as_state(monitor: Any) -> dict[str, Any]:
    """Return the fitted state as plain values, arrays and expansions."""
    saved = {name: getattr(monitor, name) for name in _PLAIN if hasattr(monitor, name)}
    return saved | {name: _packed(getattr(monitor, name)) for name in _PARTS}


def from_state(monitor: Any, saved: dict[str, Any]) -> None:
    """Put a saved state into a monitor with the same parameters."""
    for name in _PLAIN:
        if name in saved:
            setattr(monitor, name, saved[name])
    for name in _PARTS:
        setattr(monitor, name, _unpacked(saved[name]))
    monitor._open_book()


def _packed(part: Any) -> Any:
    """Return a part as lists that begin with the name of its class."""
    if isinstance(part, tuple):
        return ["tuple", *(_packed(item) for item in part)]
    if is_dataclass(part) and type(part).__name__ in _KINDS:
        return [type(part).__name__, *(_packed(getattr(part, field.name)) for field in fields(part))]
    return part


def _unpacked(saved: Any) -> Any:
    if not isinstance(saved, list):
        return saved
    kind, *items = saved
    found = [_unpacked(item) for item in items]
    return tuple(found) if kind == "tuple" else _KINDS[kind](*found)
