"""`mercer outliers`: which rows of a file raise an alarm, and by which column."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.cli import console
from mercer.cli.options import Columns, Data, split_names
from mercer.cli.project import open_file
from mercer.io import readers, writers
from mercer.tasks.outlier import KernelOutlierDetector


def outliers(
    data: Data,
    train: Annotated[str | None, typer.Option(help="Rows that are normal, to learn from. (default: the data)")] = None,
    alpha: Annotated[float, typer.Option(help="Share of normal rows that may raise an alarm.")] = 0.05,
    score: Annotated[str, typer.Option(help="both, t2 or spe.")] = "both",
    out: Annotated[str | None, typer.Option("--out", "-o", help="Where to write t2, spe and p of each row.")] = None,
    detector: Annotated[
        Path | None, typer.Option(help="A saved detector to judge by; nothing is learned, and --train is not used.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Where to save the detector.")] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the most unusual rows to show.")] = 5,
    columns: Columns = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
) -> None:
    """Find rows that are unlike the others, or unlike those of another file."""
    if detector is None:
        source, names = train or data, split_names(columns)
        judge = _learned(readers.read(source, columns=names), score, alpha, seed)
    else:
        judge, names = _saved(detector), None
        alpha = judge.alpha if judge.alpha is not None else alpha
    table = readers.read(data, columns=names or _columns(judge))
    p = judge.p_values(table.values)
    if out is not None:
        writers.write(out, [np.column_stack([judge.statistics(table.values), p])], ["t2", "spe", "p"])
    if save is not None:
        judge.save(save)
    if out != "-":
        console.say(f"{int((p <= alpha).sum()):,} of {len(p):,} rows raise an alarm at {alpha:g}.")
        _show(judge, table, p, top)


def _learned(known: readers.Table, score: str, alpha: float, seed: int) -> KernelOutlierDetector:
    judge = KernelOutlierDetector(score=score, alpha=alpha, random_state=seed)
    judge.fit(known.values)
    if known.names:
        judge.feature_names_in_ = np.array(known.names, object)  # by which columns of later files are found
    return judge


def _saved(path: Path) -> KernelOutlierDetector:
    found = open_file(path)
    if not isinstance(found, KernelOutlierDetector):
        raise TypeError(f"{path} holds a {type(found).__name__}, not a detector; `mercer outliers --save` makes one.")
    return found


def _columns(judge: KernelOutlierDetector) -> list[str] | None:
    names = getattr(judge, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _show(detector: Any, table: Any, p: Any, top: int) -> None:
    rows = np.argsort(detector.score_samples(table.values))[:top]
    if not len(rows):
        return
    shares = detector.contributions(table.values[rows])
    grid = console.grid("row", "p", "moved most")
    for row, share in zip(rows, shares, strict=True):
        moved = int(np.argmax(share))
        grid.add_row(str(row), f"{p[row]:.4g}", str(table.names[moved] if table.names else moved))
    console.show("The most unusual rows, counted from 0", grid)
