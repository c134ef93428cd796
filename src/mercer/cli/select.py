"""`mercer select`: which kernel, how wide, and how many components suit the rows of a file."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.arrays import Array
from mercer.cli import console, options, source, targets, waiting
from mercer.cli.python_line import imports, written
from mercer.cli.source import Source
from mercer.cli.wording import in_options
from mercer.events import Channel
from mercer.io import writers
from mercer.selection.result import Selection
from mercer.selection.select import compared

_SHOWN = 5  # candidates
_TEXTS, _WHOLES = ("kernel", "standardize"), ("n_components", "chosen")
_NUMBERS = ("gamma", "width", "score", "standard_error")


class Purpose(StrEnum):
    """What the model is for."""

    reconstruction = "reconstruction"
    denoising = "denoising"
    features = "features"
    outliers = "outliers"


def select(
    ctx: typer.Context,
    data: options.Data,
    purpose: Annotated[Purpose, typer.Option(help="What the model is for.")] = Purpose.reconstruction,
    out: Annotated[str | None, typer.Option("--out", "-o", help="File for all candidates, or -.")] = None,
    plot: Annotated[Path | None, typer.Option(help="A picture: scores over the width of the kernel.")] = None,
    columns: options.Columns = None,
    exclude: options.Exclude = None,
    ids: Annotated[
        str | None, typer.Option("--id", metavar="A,B,...", help="Columns that name the rows: left out.")
    ] = None,
    times: Annotated[
        str | None, typer.Option("--time", metavar="A,B,...", help="Columns that date the rows: left out.")
    ] = None,
    missing: options.MissingCells = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Draw this number of rows at random first.")] = None,
    seed: Annotated[int, typer.Option(help="Seed for drawing rows, hidden cells and pretended outliers.")] = 0,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Time after which no further kernel is tried. (default: all are)")
    ] = None,
    contaminated: Annotated[
        bool | None,
        typer.Option(
            "--contaminated/--clean",
            help="Only for outliers: whether there are some among these rows. (default: nobody knows)",
            show_default=False,
        ),
    ] = None,
    verbose: options.Verbose = False,
) -> None:
    """Choose the kernel, its width and the number of components for the rows of a file, without labels.

    Of more than 500 rows, 500 random ones are looked at.
    """
    targets.check_apart([data], out=out, plot=plot)
    _check_targets(out, plot)
    with waiting.watch(verbose, out) as observers:
        learning = source.to_learn(data, observers, source.Reading(columns, exclude, (ids, times), missing))
        X = _rows(learning, rows, seed)
        found = compared(
            X, str(purpose), Channel(observers), contaminated=contaminated, random_state=seed, seconds=seconds
        )
    records = found.table if isinstance(found.table, list) else found.table.to_dict("records")
    if out is not None:
        _write(out, records)
    if plot is not None:
        found.plot().savefig(plot, dpi=120)
        console.say(f"The picture is {plot}.")
    if out != "-":
        why = in_options(found.why, ctx.find_root().command.commands, ctx.info_name)  # type: ignore[attr-defined]
        _show(found, why, records)
        kept = {"--columns": columns, "--exclude": exclude, "--id": ids, "--time": times, "--missing": missing}
        words = _command(found.purpose, _chosen(records)[0], data, contaminated)
        words += [str(word) for option, given in kept.items() if given is not None for word in (option, given)]
        console.say(f"On the command line: {shlex.join(words)}")


def _check_targets(out: str | None, plot: Path | None) -> None:
    """Fail before the work starts if a file cannot be written."""
    if out is not None and out.endswith(".npy"):
        raise ValueError("Candidates hold texts, which an .npy file cannot; write .csv, .parquet or .jsonl.")
    if out not in (None, "-"):
        writers.check_target(str(out))
    targets.check_picture(plot, "--plot")


def _rows(learning: Source, rows: int | None, seed: int) -> Array:
    known, _ = source.ready(learning.read(rows, seed), learning)
    return np.asarray(known.values)


def _write(out: str, records: list[dict[str, Any]]) -> None:
    """Write all candidates, the best first; gamma and width are nan for kernels without them."""
    texts = tuple(np.array([str(record[name]) for record in records]) for name in _TEXTS)
    wholes = tuple(np.array([int(record[name]) for record in records]) for name in _WHOLES)
    numbers = [[np.nan if record[name] is None else record[name] for name in _NUMBERS] for record in records]
    labelled = writers.Labelled((*texts, *wholes), np.array(numbers, float))
    writers.write(out, [labelled], [*_TEXTS, *_WHOLES, *_NUMBERS])


def _show(found: Selection, why: str, records: list[dict[str, Any]]) -> None:
    """Print the reason, the best candidates, and how to use the choice."""
    console.out.print(why, soft_wrap=True, highlight=False)
    scaled = any(record["standardize"] is not False for record in records)
    grid = console.grid("kernel", "gamma", "components", *(["scaling"] if scaled else []), "score", "+-", "")
    best = records[:_SHOWN]
    for record in best if any(record["chosen"] for record in best) else [*best, *_chosen(records)]:
        gamma = record["gamma"]
        scaling = [str(record["standardize"] or "none")] if scaled else []
        grid.add_row(
            record["kernel"],
            "" if gamma is None or np.isnan(gamma) else f"{gamma:.4g}",
            str(record["n_components"]),
            *scaling,
            f"{record['score']:.3f}",
            f"{record['standard_error']:.3f}",
            "chosen" if record["chosen"] else "",
        )
    console.show(f"The best of {len(records)} candidates; score: {found.measured}", grid)
    for line in (*imports(found.estimator), f"model = {written(found.estimator)}"):
        console.out.print(line, soft_wrap=True, highlight=False)


def _chosen(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["chosen"]]


def _command(purpose: str, record: dict[str, Any], data: str, contaminated: bool | None) -> list[str]:
    """Return the words of the command that uses the choice."""
    if purpose == "outliers":
        method = ["--method", "select"]
        known = {None: [data, *method], True: [data], False: ["NEW", "--train", data, *method]}
        return ["mercer", "outliers", *known[contaminated]]
    gamma = [] if record["kernel"] == "linear" else ["--gamma", repr(record["gamma"])]
    scale = ["--scale", str(record["standardize"])] if record["standardize"] else []
    kernel = ["--kernel", record["kernel"], *gamma, "--components", str(record["n_components"])]
    return ["mercer", "fit", data, "-o", "model.mercer", *kernel, *scale]
