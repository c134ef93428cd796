"""`mercer outliers`: which rows of a file raise an alarm, and by which column."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.cli import console
from mercer.cli.options import Columns, Data, split_names
from mercer.io import readers, writers
from mercer.tasks.outlier import KernelOutlierDetector


def outliers(
    data: Data,
    train: Annotated[str | None, typer.Option(help="Rows that are normal, to learn from. (default: the data)")] = None,
    alpha: Annotated[float, typer.Option(help="Share of normal rows that may raise an alarm.")] = 0.05,
    score: Annotated[str, typer.Option(help="both, t2 or spe.")] = "both",
    out: Annotated[str | None, typer.Option("--out", "-o", help="Where to write t2, spe and p of each row.")] = None,
    save: Annotated[Path | None, typer.Option(help="Where to save the detector.")] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the most unusual rows to show.")] = 5,
    columns: Columns = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
) -> None:
    """Find rows that are unlike the others, or unlike those of another file."""
    table = readers.read(data, columns=split_names(columns))
    known = table if train is None else readers.read(train, columns=split_names(columns))
    detector = KernelOutlierDetector(score=score, alpha=alpha, random_state=seed).fit(known.values)
    p = detector.p_values(table.values)
    if out is not None:
        writers.write(out, [np.column_stack([detector.statistics(table.values), p])], ["t2", "spe", "p"])
    if save is not None:
        detector.save(save)
    if out != "-":
        console.say(f"{int((p <= alpha).sum()):,} of {len(p):,} rows raise an alarm at {alpha:g}.")
        _show(detector, table, p, top)


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
