"""One table of ratios with their spread, the same as JSON, and a plot."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite import store
from benchmarks.suite.measure import machine
from benchmarks.suite.plan import Objective, Record
from papers.report import markdown_row


def ratios(record: Record, records: Iterable[Record]) -> list[float]:
    """Return how many times faster than the fastest peer a solver was, round by round."""
    peers = [
        r for r in records if r.peer and r.seconds and (r.objective, r.dataset) == (record.objective, record.dataset)
    ]
    if record.peer or record.cold or not peers or not record.seconds:
        return []
    peer = min(peers, key=lambda r: float(np.median(r.seconds)))
    theirs = [*peer.seconds, *[float(np.median(peer.seconds))] * len(record.seconds)]
    return [t / s for t, s in zip(theirs, record.seconds, strict=False)]


def exponents(records: list[Record]) -> dict[str, float]:
    """Return the slope of log time against log size for each solver."""
    found = {}
    for solver in dict.fromkeys(r.solver for r in records):
        points = [(float(r.dataset), float(np.median(r.seconds))) for r in records if r.solver == solver and r.seconds]
        if len(points) > 2:
            sizes, seconds = np.log(points).T
            found[solver] = float(np.polyfit(sizes, seconds, 1)[0])
    return found


def data_name(record: Record) -> str:
    """Return the name of the data that a solver really used."""
    return f"{record.stand_in} (in place of {record.dataset})" if record.stand_in else record.dataset


def lines(objective: Objective, records: list[Record], most: int | None = None) -> list[str]:
    """Return the rows of the table for one objective, in Markdown; where the slowest come first, at most so many."""
    names = list(dict.fromkeys(name for record in records for name in record.qualities))
    text = [f"\n### {objective.name}: {objective.question}\n"]
    if told := store.stamp(records):
        text.append(told)
    if objective.bar:
        text.append(f"Expected: {objective.bar}\n")
    head = ["data", "solver", "seconds", "times the fastest peer", *names, "MB"]
    text += [markdown_row(head), "|---" * len(head) + "|"]
    shown, left_out = _shown(records), 0
    if objective.worst_first:
        shown = sorted(shown, key=lambda r: _ratio(r, records))
        left_out = len(shown[most:]) if most else 0
    for record in shown[: len(shown) - left_out]:
        solver = f"{record.solver} (peer)" if record.peer else record.solver
        text.append(markdown_row([data_name(record), solver, *_cells(record, records, names)]))
    if objective.worst_first:
        text += ["", *_medians(records)]
        text += [f"- not listed: {left_out} rows with larger ratios, and peers"] if left_out else []
    if objective.means:
        text += ["", *(f"- mean of {_mean(records, name)}" for name in names)]
    if objective.growth:
        text.append("")
        text += [f"- {solver}: seconds grow as size^{_two(slope)}" for solver, slope in exponents(records).items()]
    return text


def _shown(records: list[Record]) -> list[Record]:
    """Return the rows of a table: only one for a data set on which all solvers fail for the same reason."""
    shown: list[Record] = []
    for dataset in dict.fromkeys(record.dataset for record in records):
        own = [record for record in records if record.dataset == dataset]
        same = own[0].failure and len({record.failure for record in own}) == 1 < len(own)
        shown += [dataclasses.replace(own[0], solver="none of the solvers", peer=False)] if same else own
    return shown


def _medians(records: list[Record]) -> list[str]:
    """Return one line per solver that is not a peer: the median of its ratios over all data sets, and the least."""
    found: dict[str, list[float]] = {}
    for record in records:
        if (ratio := _ratio(record, records)) < np.inf:
            found.setdefault(record.solver, []).append(ratio)
    return [
        f"- {solver}: median of {len(ratios)} ratios {np.median(ratios):.2f}, least {min(ratios):.2f}, "
        f"{sum(ratio < 1 for ratio in ratios)} below 1"
        for solver, ratios in found.items()
    ]


def _mean(records: list[Record], name: str) -> str:
    """Return the mean of a quality over all data sets that have it, in words."""
    values = [record.qualities[name] for record in records if not np.isnan(record.qualities.get(name, np.nan))]
    return f'"{name}" over {len(values)} data sets: {np.mean(values):.3f} (median {np.median(values):.3f})'


def _ratio(record: Record, records: list[Record]) -> float:
    times = ratios(record, records)
    return float(np.median(times)) if times else np.inf


def _cells(record: Record, records: list[Record], names: list[str]) -> list[str]:
    if record.failure:
        return [record.failure.splitlines()[0], "", *("" for _ in names), ""]
    times = ratios(record, records)
    spread = f"**{np.median(times):.2f}** ({min(times):.2f} to {max(times):.2f})" if times else ""
    qualities = [_number(record.qualities[name]) if name in record.qualities else "" for name in names]
    memory = "" if record.megabytes is None else f"{record.megabytes:.0f}"
    return [f"{np.median(record.seconds):.4g}", spread, *qualities, memory]


def _number(value: float) -> str:
    """Return a number with four digits; a dash for one that does not exist for this solver."""
    return "-" if np.isnan(value) else f"{value:.4g}"


def _two(value: float) -> str:
    """Return a number with two decimals, zero without a sign."""
    return f"{round(value, 2) + 0.0:.2f}"


def write(folder: Path, found: dict[str, tuple[Objective, list[Record]]]) -> None:
    """Write results.json, results.md, ratios.png and growth.png."""
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        "machine": machine(),
        "records": [dataclasses.asdict(record) for _, records in found.values() for record in records],
    }
    (folder / "results.json").write_text(json.dumps(content, indent=1))
    text = [line for objective, records in found.values() for line in lines(objective, records)]
    (folder / "results.md").write_text("\n".join(text) + "\n")
    plain = [record for objective, records in found.values() if not objective.growth for record in records]
    _draw_ratios(folder / "ratios.png", plain)
    _draw_growth(folder / "growth.png", [pair for pair in found.values() if pair[0].growth])


def _draw_ratios(path: Path, records: list[Record]) -> None:
    """Draw one line per solver, median and range, and grey bands that separate objectives."""
    import matplotlib.pyplot as plt

    rows = [(record, times) for record in records if (times := ratios(record, records))]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.2 * len(rows)), layout="constrained")
    names = list(dict.fromkeys(record.objective for record, _ in rows))
    for place, (record, times) in enumerate(rows):
        if names.index(record.objective) % 2:
            axes.axhspan(place - 0.5, place + 0.5, color="0.94", zorder=0)
        axes.plot([min(times), max(times)], [place, place], color="0.6", lw=2, zorder=1)
        axes.scatter(np.median(times), place, s=22, color="C0" if np.median(times) >= 1 else "C3", zorder=2)
    axes.axvline(1, color="0.3", lw=1)
    axes.set_yticks(range(len(rows)), [f"{r.objective}, {data_name(r)}: {r.solver}" for r, _ in rows], fontsize=7)
    axes.set(xscale="log", xlabel="times as fast as the fastest peer (right of 1: faster)")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    figure.savefig(path, dpi=160)
    plt.close(figure)


def _draw_growth(path: Path, found: list[tuple[Objective, list[Record]]]) -> None:
    """Draw seconds against size for every objective of growth, peers dashed, with exponents in the legend."""
    import matplotlib.pyplot as plt

    if not found:
        return
    across = min(2, len(found))
    down = -(-len(found) // across)
    figure, axes = plt.subplots(down, across, figsize=(5 * across, 3.6 * down), layout="constrained", squeeze=False)
    for axis, (objective, records) in zip(axes.flat, found, strict=False):
        slopes = exponents(records)
        for solver in dict.fromkeys(r.solver for r in records):
            own = [r for r in records if r.solver == solver and r.seconds]
            label = f"{solver}, exponent {_two(slopes[solver])}" if solver in slopes else solver
            sizes, seconds = [float(r.dataset) for r in own], [np.median(r.seconds) for r in own]
            axis.loglog(sizes, seconds, "--o" if own and own[0].peer else "-o", markersize=3, label=label)
        every = sorted({float(r.dataset) for r in records})
        axis.set_xticks(every, [f"{size:g}" for size in every])
        axis.set_xticks([], minor=True)
        axis.set_title(objective.name, loc="left", fontsize=10)
        axis.set(xlabel="size", ylabel="seconds")
        axis.legend(fontsize=7, frameon=False)
    for axis in axes.flat[len(found) :]:
        axis.set_axis_off()
    figure.savefig(path, dpi=160)
    plt.close(figure)
