"""What a monitor has learned and chosen, in words."""

from typing import Any

import numpy as np

from mercer.monitoring.drift import SIGNAL


def summary_of(monitor: Any) -> str:
    """Return the summary of a fitted monitor, some lines of text."""
    n, d = monitor.n_samples_seen_, monitor.n_features_in_
    lines = [
        f"{n:,} normal rows of {_several(d, 'variable')}; they tell as much as "
        f"{_several(round(monitor.n_effective_), 'independent one')}.",
        f"Model: {monitor.choice_}.",
        _of_smoothing(monitor),
        f"Limits: {_of_limits(monitor)}.",
        *_of_rare_alarms(monitor),
        *_of_slow_means(monitor),
    ]
    if monitor.lags_:
        stand = "stands" if monitor.lags_ == 1 else "stand"
        lines.insert(2, f"Lags: {_several(monitor.lags_, 'previous row')} {stand} beside each row.")
    if monitor.drifting_.any():
        lines.append(f"Judged only by their levels, which are hardly known from these rows: {_names_of(monitor)}.")
    return "\n".join([*lines, *_of_sensors(monitor), *_of_drift(monitor)])


def _of_slow_means(monitor: Any) -> list[str]:
    """Return which slow means are followed, and which are beyond their limits now."""
    slow, found = monitor._slow, []
    if monitor.levels:
        found.append(
            f"Levels: a slow mean of each column raises an alarm, too ({slow.levels.share:.0%} of the false alarms)."
        )
    if slow.relations is not None:
        share = slow.relations.levels.share
        found.append(f"Relations: so does a slow mean of what the other columns do not explain of it ({share:.0%}).")
    away = slow.away(monitor._memory.levels, monitor.alpha_, monitor._names())
    return [*found, f"Beyond the limits of slow means: {away}."] if away else found


def _of_sensors(monitor: Any) -> list[str]:
    """Return what is to be said of sensors of the stream that are missing or frozen."""
    runs, limits, names = monitor._memory.runs, monitor._sensors, monitor._names()
    kinds = (("Missing", runs.absent, runs.absent >= 1), ("Frozen", runs.equal, runs.equal >= limits.frozen))
    return [
        f"{kind}: " + ", ".join(f"{names[j]} for {rows[j]:,} rows" for j in np.flatnonzero(which)) + "."
        for kind, rows, which in kinds
        if which.any()
    ]


def _of_drift(monitor: Any) -> list[str]:
    """Return how the monitor adapts, and whether its model still fits."""
    found = []
    if monitor.adapt:
        found.append(f"Adaptation: model and limits follow the last {monitor.window_:,} rows without alarms.")
    if monitor.drift_since_ is not None:
        now = "the model no longer fits" if monitor.drift_ >= SIGNAL else "the model did not fit for a while"
        found.append(f"Drift: {now} (evidence {monitor.drift_:,.0f}), first noticed at row {monitor.drift_since_:,}.")
    return found


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


def _of_rare_alarms(monitor: Any) -> list[str]:
    """Return what limits beyond all that the training rows show rest on."""
    alpha, independent = monitor.alpha_, monitor.n_effective_
    if alpha * independent >= 1.0:
        return []
    return [
        f"A rate of {alpha:.3g} is rarer than {_several(round(independent), 'independent row')} can show: limits "
        "are continued from the tails of T2 and SPE, as for noise that is nearly normal. Where values are sometimes "
        "far away, or are counts, alarms can be many times as frequent."
    ]


def _names_of(monitor: Any) -> str:
    names = monitor._names()
    return ", ".join(names[i] for i in np.flatnonzero(monitor.drifting_))


def _several(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
