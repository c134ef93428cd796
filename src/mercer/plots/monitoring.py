"""Figures of monitoring: a control chart over time with alarms as bands, and contributions as a heat map."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.arrays import Array
from mercer.plots.canvas import ACCENT, INK, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WARM, _COOL = "#d1495b", "#dde3ea"
_MOST = 30  # variables in the heat map: those with the largest contributions
_FIT, _LINE = 14, 0.17  # variables whose names fit into a heat map of usual size, and inches for each one more


def monitor(
    monitor: Any,  # a fitted `ProcessMonitor`
    X: Any,
    *,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw T2 and SPE of rows over time with their limits, alarms as bands, and contributions as a heat map.

    The rows are judged as a stream of their own; that of `judge` is not changed. Statistics are in units of their
    limits; of the slow means of the columns, the furthest is drawn below T2 and SPE. Bands of rows in which only
    sensors raise an alarm, because they are missing or frozen, are grey. Of many variables, the 30 with the largest
    contributions are shown.

    Parameters
    ----------
    monitor : ProcessMonitor
        A fitted monitor.
    X : array-like of shape (n_samples, n_features)
        Rows in the order of time. The index of a data frame tells their times if it is a DatetimeIndex.
    figure : matplotlib.figure.Figure or None, default=None
        The figure to draw in. None: a new one, which needs no display.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; `figure.savefig(path)` writes it to a file.

    See Also
    --------
    mercer.ProcessMonitor : Alarms for rows in the order of time.
    control_chart : Statistics of rows with their limits and alarms.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> process = mercer.ProcessMonitor().fit(X[:200])
    >>> figure = mercer.plots.monitor(process, X[200:])
    >>> [axes.get_ylabel() for axes in figure.axes[:2]]
    ['T2 / limit', 'SPE / limit']
    """
    more = max(min(monitor.n_features_in_, _MOST) - _FIT, 0)  # lines that make the figure higher
    figure = canvas(figure, 9, 7 + _LINE * more)
    verdicts, limits = monitor.verdicts(X), monitor.limits()
    charts = {"T2 / limit": verdicts.t2 / limits[0], "SPE / limit": verdicts.spe / limits[1]}
    if monitor.levels or monitor.drifting_.any():
        charts["slow means / limit"] = monitor.slow_means(X)
    heights = (*(1.0 for _ in charts), 1.6 * (1.0 + more / _FIT))
    rows = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    first = None
    for i, (name, values) in enumerate(charts.items()):
        axes = first = figure.add_subplot(rows[i], sharex=first)
        _chart(axes, verdicts, values, name)
    figure.axes[0].set_title(_title(verdicts), loc="left", fontsize=9, color=INK)
    _heat_map(figure, figure.add_subplot(rows[len(charts)], sharex=first), verdicts.time, monitor, X)
    return figure


def _title(verdicts: Any) -> str:
    alarms, episodes = int(verdicts.alarm.sum()), len(verdicts.episodes())
    return f"{alarms:,} of {len(verdicts):,} rows raise an alarm, in {episodes:,} episode{'' if episodes == 1 else 's'}"


def _chart(axes: Any, verdicts: Any, values: Array, name: str) -> None:
    """Draw one statistic with its limit at 1, and bands where there are alarms."""
    edge = np.median(np.diff(verdicts.time)) / 2 if len(verdicts) > 1 else 0
    for start, end in verdicts.episodes():
        axes.axvspan(start - edge, end + edge, color=_WARM, alpha=0.25, linewidth=0)
    for start, end in verdicts.sensor_episodes():
        axes.axvspan(start - edge, end + edge, color=_COOL, linewidth=0)
    axes.plot(verdicts.time, values, color=ACCENT, linewidth=0.9)
    axes.axhline(1.0, color=INK, linewidth=0.8, linestyle="--")
    axes.set_ylabel(name, fontsize=9)
    axes.set_ylim(0.0, max(1.5, 1.05 * float(np.nanmax(values, initial=0.0))))
    axes.tick_params(labelsize=8, labelbottom=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)


def _name_times(axes: Any, time: Any) -> None:
    """Write hours as 14:00 and days as 03 May, and the first and the last time with their dates below."""
    if time.dtype.kind != "M":
        axes.set_xlabel("row", fontsize=9)
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=5, maxticks=10)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        ConciseDateFormatter(
            locator,
            formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S.%f"],
            zero_formats=["", "%b %Y", "%d %b", "%d %b", "%H:%M", "%H:%M:%S"],
            show_offset=False,
        )
    )
    first, last = (str(np.datetime64(one, "s")).replace("T", " ") for one in (time[0], time[-1]))
    axes.set_xlabel(f"time, from {first} to {last}", fontsize=9)


def _heat_map(figure: Any, axes: Any, time: Any, monitor: Any, X: Any) -> None:
    """Draw the contributions of the variables over time."""
    values = monitor.contributions(X)
    shown = np.sort(np.argsort(-values.max(axis=0), kind="stable")[:_MOST])
    names = getattr(monitor, "feature_names_in_", [f"column {i}" for i in range(values.shape[1])])
    image = axes.pcolormesh(time, np.arange(len(shown)), values[:, shown].T, cmap="Reds", vmin=0.0, shading="nearest")
    axes.set_yticks(np.arange(len(shown)), [str(names[i]) for i in shown], fontsize=7)
    axes.invert_yaxis()
    axes.tick_params(axis="x", labelsize=8)
    _name_times(axes, time)
    figure.colorbar(image, ax=axes, pad=0.01).set_label("contribution", fontsize=8)
