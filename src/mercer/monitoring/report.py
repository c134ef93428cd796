"""What a monitor has learned and chosen, in words."""

from typing import Any

import numpy as np


def summary_of(monitor: Any) -> str:
    """Return the summary of a fitted monitor, some lines of text."""
    n, d = monitor.n_samples_seen_, monitor.n_features_in_
    lines = [
        f"{n:,} normal rows of {d} variables; they tell as much as {monitor.n_effective_:,.0f} independent ones.",
        f"Model: {monitor.choice_}.",
        _of_smoothing(monitor),
        f"Limits: {_of_limits(monitor)}.",
    ]
    if monitor.lags_:
        lines.insert(2, f"Lags: {monitor.lags_} previous rows stand beside each row.")
    if monitor.drifting_.any():
        lines.append(f"Judged only by their levels, which are hardly known from these rows: {_names_of(monitor)}.")
    return "\n".join(lines)


def _of_smoothing(monitor: Any) -> str:
    if monitor.smoothing_ == 1.0:
        return "Smoothing: none."
    return f"Smoothing: a new row has the weight {monitor.smoothing_:.3g} in the means of T2 and SPE."


def _of_limits(monitor: Any) -> str:
    t2, spe = monitor.limits()
    return (
        f"T2 {t2:.4g}, SPE {spe:.4g}; with probability {monitor.confidence:g}, at most {monitor.alpha_:.3g} of normal "
        "rows raise an alarm"
    )


def _names_of(monitor: Any) -> str:
    names = getattr(monitor, "feature_names_in_", None)
    left_out = np.flatnonzero(monitor.drifting_)
    return ", ".join(f"column {i}" if names is None else str(names[i]) for i in left_out)
