"""`mercer monitor`: learn from a file of normal rows, and judge the rows of another one as they follow each other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.arrays import Array
from mercer.cli import console, options, source, targets, values, waiting
from mercer.cli.episodes import Episodes
from mercer.cli.project import open_kind
from mercer.cli.source import Source, labels
from mercer.cli.timed import Times, timed, times_of
from mercer.cli.wording import OptionError
from mercer.io import writers
from mercer.io.readers import Table
from mercer.io.selection import distinct
from mercer.io.writers import Labelled
from mercer.monitoring.causes import amounts_of
from mercer.monitoring.monitor import ProcessMonitor

_LEARNING = (  # parameters without effect on a saved monitor
    *("alpha", "false_alarms_per", "confidence", "statistic", "lags", "smoothing", "persist", "settings", "scale"),
    *("rows", "seed"),
)
_COLUMNS = ("alarm", "which", "t2", "spe", "p")

Normal = Annotated[str, typer.Argument(metavar="NORMAL", help="Rows of normal operation, in the order of time.")]
New = Annotated[
    str | None,
    typer.Argument(metavar="NEW", help="Rows to judge, in the order of time: a file, or -.", show_default=False),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="A,B,...",
        help="Columns that date the rows, such as 2024-05-31 12:30:00: copied to the output; gaps in time are seen.",
    ),
]
Missing = Annotated[
    options.MonitorMissing,
    typer.Option(
        help="Missing cells: keep judges a row by its other cells, and learns from complete rows; error stops at the "
        "first one; drop leaves out their rows, and adds row numbers to the output; mean fills in the mean of the "
        "column in NORMAL; a saved monitor has no means."
    ),
]


def monitor(
    ctx: typer.Context,
    normal: Normal,
    new: New = None,
    alpha: Annotated[
        float | None, typer.Option(help="Share of normal rows that may raise an alarm. (default: 0.01)")
    ] = None,
    false_alarms_per: Annotated[
        str | None, typer.Option(metavar="1D,1", help="Instead: a period and its number of rows with a false alarm.")
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Probability that the share of false alarms is at most alpha.")
    ] = 0.9,
    statistic: Annotated[str, typer.Option(help="both, t2 or spe.")] = "both",
    lags: Annotated[str, typer.Option(help="Number of previous rows beside each row, or auto.")] = "0",
    smoothing: Annotated[
        str, typer.Option(help="Weight of a new row in the statistics, or auto; 1: no smoothing.")
    ] = "auto",
    persist: Annotated[str, typer.Option(metavar="K,M", help="An alarm needs K of the last M rows.")] = "1",
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any other parameter of ProcessMonitor.")
    ] = None,
    scale: Annotated[
        options.Scale, typer.Option(help="Scale columns; soft and variance give all of them the same weight.")
    ] = options.Scale.variance,
    out: Annotated[str | None, typer.Option("--out", "-o", help="File for the verdict on each row, or -.")] = None,
    plot: Annotated[Path | None, typer.Option(help="A picture: T2 and SPE with limits, alarms, contributions.")] = None,
    saved: Annotated[
        Path | None,
        typer.Option(
            "--monitor", help="A saved monitor to use: the only file is NEW; options for learning are refused."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="File for the monitor, which goes on after the last row of NEW.")
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="With --monitor: NEW does not follow the rows judged before.")
    ] = False,
    top: Annotated[int, typer.Option(min=0, help="Number of most unusual alarms to show.")] = 5,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    ids: options.Ids = None,
    times: Time = None,
    missing: Missing = options.MonitorMissing.keep,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Learn from this number of rows, the first of NORMAL.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for the choice of the model.")] = 0,
    verbose: options.Verbose = False,
) -> None:
    """Learn what is normal from one file, and find when the rows of another file leave it.

    Rows must be in the order of time. Limits know that rows which follow each other are alike.
    """
    targets.check_apart([normal, new], out=out, plot=plot, save=save)
    targets.check_apart([saved], out=out, plot=plot)  # --save may write it again
    targets.check_model(save, "--save")
    new = _to_judge(normal, new, saved, save, Results(out, plot))
    given = {
        "alpha": alpha, "confidence": confidence, "statistic": statistic, "standardize": scale.kind,
        "random_state": seed, "lags": values.value(lags), "smoothing": values.value(smoothing),
        "persist": values.value(persist), "false_alarms_per": _per(false_alarms_per),
    }  # fmt: skip
    reading = source.Reading(columns, exclude, (ids, times), missing)
    n_times = len(options.split_names(times))
    with waiting.watch(verbose, out) as observers:
        if saved is None:
            process = _unfitted({**given, **values.settings(settings or [])})
            learning = source.to_learn(normal, observers, replace(reading, limit=rows))
            means = _learn(process, learning, n_times)
        else:
            process, means = open_kind(saved, ProcessMonitor, "monitor", "mercer monitor --save"), None
            options.refuse_learning(ctx, "--monitor", source.learning_only(process, _LEARNING))
            process = process.reset() if reset else process
        found = Episodes(process, top)
        if new is not None:
            judging = source.to_judge(process, new, observers, reading, means)
            _judge(process, judging, n_times, found, Results(out, plot))
        if save is not None:
            process.save(save)
    if new is None:
        console.say(process.summary())
    elif out != "-":
        _show(process, found)


@dataclass(frozen=True)
class Results:
    """Where the verdicts go."""

    out: str | None
    plot: Path | None

    def check(self) -> None:
        """Fail before the work starts if a file cannot be written."""
        if self.out is not None and self.out.endswith(".npy"):
            raise ValueError("Verdicts hold texts, which an .npy file cannot; write .csv, .parquet or .jsonl.")
        if self.out not in (None, "-"):
            writers.check_target(str(self.out))
        targets.check_picture(self.plot, "--plot")


def _to_judge(normal: str, new: str | None, saved: Path | None, save: Path | None, results: Results) -> str | None:
    """Return the file to judge, or None if a monitor is only to be learned."""
    results.check()
    if saved is not None and new is not None:
        raise ValueError("With --monitor nothing is learned: give one file, that of the rows to judge.")
    if saved is None and new is None and (save is None or results.out is not None or results.plot is not None):
        raise ValueError(
            "mercer monitor needs two files, normal rows and rows to judge; or one of them with --monitor or --save."
        )
    return normal if saved is not None else new


def _per(text: str | None) -> tuple[Any, ...] | None:
    """Read a period and a number, such as 1D,1; the number may be left out."""
    if text is None:
        return None
    period, comma, number = text.partition(",")
    return (period.strip(), values.value(number) if comma else 1)


def _unfitted(parameters: dict[str, Any]) -> ProcessMonitor:
    known = ProcessMonitor().get_params(deep=False)
    unknown = ", ".join(repr(name) for name in parameters if name not in known)
    if unknown:
        raise OptionError(f"ProcessMonitor has no parameter {unknown}; it has {', '.join(sorted(known))}.")
    return ProcessMonitor(**parameters)


def _learn(process: ProcessMonitor, learning: Source, n_times: int) -> Array | None:
    """Fit the monitor; return the means that fill missing cells."""
    known, means = source.ready(learning.read(), learning)
    source.fit(process, known, timed(known.values, times_of(known, n_times)), learning.observers)
    return means


def _judge(process: ProcessMonitor, judging: Source, n_times: int, found: Episodes, results: Results) -> None:
    """Judge all rows, write the verdicts, and draw them."""
    held: list[tuple[Array, Times | None]] = []
    names: list[str] = []

    def chunks() -> Iterator[Labelled]:
        last = None
        for table in judging.chunks(source.CHUNK_ROWS):
            times, told = times_of(table, n_times, last), _labels(table, n_times)
            if last is None and times is not None:
                _check_follows(process, times, f"The first row of {judging.data} has the time {told[0]}")
            last = told[-1] if n_times else None
            verdicts = process.judge(timed(table.values, times))
            found.noting(table, times, told, verdicts)
            if results.plot is not None:
                held.append((table.values, times))
            before, columns = labels(judging, table)
            names[:] = distinct([*before, *_COLUMNS])
            numbers = np.column_stack([verdicts.t2, verdicts.spe, verdicts.p])
            yield Labelled((*columns, verdicts.alarm.astype(np.int64), verdicts.which), numbers)

    verdicts = chunks()
    first = next(verdicts)
    if results.out is not None:
        writers.write(results.out, chain([first], verdicts), names)
    for _ in verdicts:
        pass
    if results.plot is not None:
        _draw(process, held, results.plot)


def _check_follows(process: ProcessMonitor, times: Times, told: str) -> None:
    """Fail if rows are older than the last one that the monitor has judged."""
    last = process._memory.time
    if last is not None and int(times[0].astype(np.int64)) < last:
        raise ValueError(
            f"{told}, which is older than that of the last row that the monitor has judged. Give the rows that follow; "
            "if these are a stream of their own, add --reset."
        )


def _labels(table: Table, n_times: int) -> list[str]:
    """Return what rows are called: their times, or their numbers."""
    if not n_times or table.kept is None:
        return [str(row) for row in table.rows]
    return [" ".join(cells) for cells in table.kept[:, -n_times:].tolist()]


def _draw(process: ProcessMonitor, held: list[tuple[Array, Times | None]], path: Path) -> None:
    from mercer.plots.monitoring import monitor as draw

    stamps = [times for _, times in held if times is not None]
    rows = timed(np.vstack([rows for rows, _ in held]), np.concatenate(stamps) if stamps else None)
    draw(process, rows).savefig(path, dpi=120)
    console.say(f"The picture is {path}.")


def _show(process: ProcessMonitor, found: Episodes) -> None:
    most_unusual = found.most_unusual()
    often = "once" if found.count == 1 else f"{found.count:,} times"
    begin = f"; an alarm begins {often}" if found.count else ""
    shown = "One is" if len(most_unusual) == 1 else f"{len(most_unusual):,} are"
    rest = f" {shown} shown: --top shows more." if found.count > len(most_unusual) > 0 else ""
    console.say(f"{found.alarms:,} of {found.seen:,} rows raise an alarm at {process.alpha_:.3g}{begin}.{rest}")
    if found.incomplete:
        which = "One row has" if found.incomplete == 1 else f"{found.incomplete:,} rows have"
        console.say(f"{which} missing cells, and the verdict is that of the other cells.")
    names = getattr(process, "feature_names_in_", None)
    grid = console.grid("from", "to", "rows", "p", "which", "moved most")
    for one in most_unusual:
        moved = int(np.argmax(amounts_of(process, one.window, one.which)))
        name = str(moved if names is None else names[moved])
        grid.add_row(one.first, one.last, f"{one.rows:,}", f"{one.p:.4g}", one.which, name)
    if most_unusual:
        console.show("The most unusual alarms" + ("" if found.dated else ", by rows counted from 0"), grid)
