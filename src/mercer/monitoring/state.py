"""The parts of a fitted `ProcessMonitor` as plain data for files, and back."""

from dataclasses import fields
from typing import Any

from mercer.monitoring.charts import Chart
from mercer.monitoring.levels import Levels
from mercer.monitoring.limits import Limits
from mercer.monitoring.stream import Memory
from mercer.outliers.panel import Judge
from mercer.outliers.scores import ScoreModel
from mercer.tables.scaling import Scaling

_PLAIN = (
    "alpha_", "drifting_", "lags_", "gap_", "smoothing_", "n_effective_", "n_components_", "kernel_", "choice_",
    "n_samples_seen_", "n_features_in_", "feature_names_in_", "_step",
)  # fmt: skip
_PARTS = {"_chart": Chart, "_limits": Limits, "_levels": Levels, "_memory": Memory}


def as_state(monitor: Any) -> dict[str, Any]:
    """Return the fitted state as plain values, arrays and expansions."""
    saved = {name: getattr(monitor, name) for name in _PLAIN if hasattr(monitor, name)}
    for name in _PARTS:
        part = getattr(monitor, name)
        saved[name] = [getattr(part, field.name) for field in fields(part)]
    scaling, model = monitor._judge.scaling, monitor._judge.model
    saved["judge"] = [scaling.mean, scaling.unit, model.expansion, model.means, model.variances]
    return saved


def from_state(monitor: Any, saved: dict[str, Any]) -> None:
    """Put a saved state into a monitor with the same parameters."""
    for name in _PLAIN:
        if name in saved:
            setattr(monitor, name, saved[name])
    for name, kind in _PARTS.items():
        setattr(monitor, name, kind(*saved[name]))
    judge = saved["judge"]
    monitor._judge = Judge(Scaling(*judge[:2]), ScoreModel(*judge[2:]))
