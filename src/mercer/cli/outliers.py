"""`mercer outliers`: which rows of a file raise an alarm, and by which column."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.arrays import Array
from mercer.cli import console, methods, options, source, targets, waiting
from mercer.cli.project import Largest, open_kind
from mercer.cli.python_line import written
from mercer.cli.source import Source, labelled
from mercer.criteria.judged import SELECT
from mercer.estimators.chosen import MANY_ROWS
from mercer.events import Channel, Observer
from mercer.io import writers
from mercer.io.readers import Table
from mercer.outliers import silence
from mercer.outliers.detector import KernelOutlierDetector
from mercer.outliers.judgement import causes, judge_rows, used_statistics
from mercer.outliers.settings import MANY_COLUMNS
from mercer.selection.select import compared

_ALPHA = 0.05
_REST = " Not all are shown: --top shows more, and -o FILE writes every row."
_LEARNING = ("train", "statistic", "method", "scale", "rows", "seed")  # parameters without effect on a saved detector
_SELECTED = ("estimator", "standardize", "explained", "trim")
_COMPONENTS = 4  # as many as the detector takes if no method is given

Method = Annotated[
    str,
    typer.Option(
        help=f"auto: exact kernel PCA for up to {MANY_ROWS:,} rows, landmarks for more; select: the kernel, components "
        "and scaling that find pretended outliers best, as in `mercer select` (without --train, rows may be outliers: "
        f"a twentieth of them is left out of each model, and with fewer than {MANY_COLUMNS} columns the default is "
        "taken); or a method of `mercer fit`."
    ),
]


def outliers(
    ctx: typer.Context,
    data: options.Data,
    train: Annotated[str | None, typer.Option(help="File with normal rows to learn from. (default: DATA)")] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            help=f"Share of normal rows that may raise an alarm. (default: {_ALPHA}, or that of the --detector, which "
            "itself stays as it is)"
        ),
    ] = None,
    statistic: Annotated[str, typer.Option(help="all, both (t2 and spe), t2 or spe.")] = "all",
    method: Method = methods.AUTO,
    scale: Annotated[
        options.DetectorScale,
        typer.Option(
            help="Scale columns; soft and variance give all of them the same weight, auto does so unless they have one "
            "unit already, as pixels have."
        ),
    ] = options.DetectorScale.auto,
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="File for the statistics and p of each row, or -.")
    ] = None,
    detector: Annotated[
        Path | None, typer.Option(help="A saved detector to use; options for learning are then refused.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="File for the detector.")] = None,
    top: Annotated[int, typer.Option(min=0, help="Number of most unusual rows to show.")] = 5,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    ids: options.Ids = None,
    times: options.Times = None,
    missing: options.MissingCells = None,
    rows: Annotated[
        int | None, typer.Option(help="Learn from this number of rows, drawn at random; all rows are scored.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for the folds and for drawing rows.")] = 0,
    verbose: options.Verbose = False,
) -> None:
    """Find rows that are unlike the others, or unlike those of another file."""
    targets.check_apart([data, train], out=out, save=save)
    targets.check_apart([detector], out=out)  # --save may write it again
    targets.check_model(save, "--save")
    if out not in (None, "-"):
        writers.check_target(str(out))
    reading = source.Reading(columns, exclude, (ids, times), missing)
    with waiting.watch(verbose, out) as observers:
        if detector is None:
            level, alpha = _ALPHA if alpha is None else alpha, None
            judge = KernelOutlierDetector(statistic=statistic, alpha=level, standardize=scale.kind, random_state=seed)
            of_training = reading if train is None else replace(reading, kept=())
            learning = source.to_learn(train or data, observers, of_training)
            known, means = _learn(judge, method, learning, rows, seed, clean=train is not None)
        else:
            judge, known, means = _saved(detector), None, None
            options.refuse_learning(ctx, "--detector", source.learning_only(judge, _LEARNING))
            _check_level(judge, alpha)
        if save is not None:
            judge.save(save)
        judging = source.to_judge(judge, data, observers, reading, means)
        if known is not None and train is None and rows is None:
            judging.held = known  # standard input can be read only once
            silence.tell(silence.no_training_row(judge._level, judge.calibration_.n))
        seen, alarms = _judge(judge, judging, out, top, alpha)
    if out != "-":
        rest = _REST if out is None and alarms > top else ""
        console.say(f"{alarms:,} of {len(seen.values):,} rows raise an alarm {_limit_in_words(judge, alpha)}.{rest}")
        _show(judge, seen)


def _learn(
    judge: KernelOutlierDetector, method: str, learning: Source, rows: int | None, seed: int, *, clean: bool
) -> tuple[Table, Array | None]:
    """Fit the detector; return the rows that it has learned from, and the means that fill their missing cells."""
    known, means = source.ready(learning.read(rows, seed), learning)
    if method == SELECT:
        _select(judge, known.values, clean, learning.observers, seed)
    else:
        judge.estimator = _estimator(method, len(known), known.values.shape[1], seed)
    source.fit(judge, known, known.values, learning.observers)
    if method == SELECT:
        console.say(f"Selected: {written(judge.estimator_)}.")
    return known, means


def _select(judge: KernelOutlierDetector, X: Array, clean: bool, observers: tuple[Observer, ...], seed: int) -> None:
    """Give the detector the settings that `mercer select` finds for clean rows, or for rows of which nobody knows."""
    contaminated = False if clean else None
    found = compared(X, "outliers", Channel(observers), contaminated=contaminated, random_state=seed).estimator
    judge.set_params(**{name: getattr(found, name) for name in _SELECTED})


def _estimator(method: str, n_rows: int, n_columns: int, seed: int) -> Any:
    """Make the model of a method; None means the detector's default."""
    if method == methods.AUTO and n_rows > MANY_ROWS:
        console.say(methods.choice_of_many(MANY_ROWS))
    exact = method != methods.AUTO and methods.find(method).name == methods.EXACT
    if method == methods.AUTO or (exact and n_rows <= MANY_ROWS):
        return None
    chosen = methods.find(method)
    most = n_columns if chosen.is_linear else _COMPONENTS
    return chosen.make({"n_components": min(_COMPONENTS, most)}, random_state=seed)


def _saved(path: Path) -> KernelOutlierDetector:
    found: KernelOutlierDetector = open_kind(path, KernelOutlierDetector, "detector", "mercer outliers --save")
    return found


def _check_level(saved: KernelOutlierDetector, alpha: float | None) -> None:
    """Fail if the level of alarms that is given for a saved detector is none; say if no row can reach it."""
    if alpha is None:
        return
    if not 0 < alpha < 1:
        raise ValueError(f"--alpha is {alpha:g}; give a share between 0 and 1.")
    n, rows = saved.calibration_.n, saved.n_samples_seen_
    silence.tell(silence.too_few_rows(alpha, n, rows, n / rows))


def _limit_in_words(judge: KernelOutlierDetector, alpha: float | None) -> str:
    """Return what decides about alarms: the level that is given, or what the detector was learned with."""
    if alpha is None and judge.contamination is not None:
        return f"at the limit of contamination={judge.contamination:g}"
    return f"at {judge._level if alpha is None else alpha:g}"


def _judge(
    judge: KernelOutlierDetector, judging: Source, out: str | None, top: int, alpha: float | None
) -> tuple[Largest, int]:
    """Score all rows and write the results; return the most unusual rows and the number of alarms.

    Without alpha, rows raise an alarm where `predict` of the detector says so.
    """
    seen, alarms = Largest(top), 0

    def results(table: Table) -> Array:
        nonlocal alarms
        found = judge_rows(judge, table.values)
        seen.noting(table, -found.scores, found.p_values)
        loud = found.scores < judge.offset_ if alpha is None else found.p_values <= alpha
        alarms += int(loud.sum())
        return np.column_stack([found.statistics, found.p_values])

    names, chunks = labelled(judging, judging.chunks(source.CHUNK_ROWS), results, [*used_statistics(judge), "p"])
    if out is None:
        for _ in chunks:
            pass
    else:
        writers.write(out, chunks, names)
    return seen, alarms


def _show(detector: KernelOutlierDetector, seen: Largest) -> None:
    found = list(seen)
    if not found:
        return
    shares = causes(detector, np.array([one.values for one in found]))
    names = getattr(detector, "feature_names_in_", None)
    grid = console.grid("row", *seen.kept_names, "p", "moved most")
    for one, share in zip(found, shares, strict=True):
        most = int(np.argmax(share))
        grid.add_row(str(one.row), *one.kept, f"{one.shown:.4g}", str(most if names is None else names[most]))
    console.show("The most unusual rows, counted from 0", grid)
