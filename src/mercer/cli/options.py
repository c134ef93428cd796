"""Arguments and options that several commands share."""

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Missing(StrEnum):
    """How missing cells are handled."""

    error = "error"
    drop = "drop"
    mean = "mean"


class MonitorMissing(StrEnum):
    """How missing cells are handled where rows can be judged by their other cells."""

    keep = "keep"
    error = "error"
    drop = "drop"
    mean = "mean"


class _Scaling(StrEnum):
    """Ways to scale columns."""

    @property
    def kind(self) -> str | bool:
        """The value of the parameter `standardize` of a monitor or a detector."""
        return False if self == "none" else str(self)


class Scale(_Scaling):
    """How columns are scaled."""

    soft = "soft"
    variance = "variance"
    none = "none"


class DetectorScale(_Scaling):
    """How a detector scales columns."""

    auto = "auto"
    soft = "soft"
    variance = "variance"
    none = "none"


Data = Annotated[str, typer.Argument(metavar="DATA", help="The rows: a file, or - for standard input.")]
Files = Annotated[
    list[str], typer.Argument(metavar="DATA...", help="The rows: one or more files, or - for standard input.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model saved by `mercer fit`.")]
Out = Annotated[str, typer.Option("--out", "-o", help="File to write, or - for standard output as text.")]
_NAMES = "A,B,..."
_COUNTED = "a file without names has columns 0, 1, ..."
Columns = Annotated[
    str | None,
    typer.Option(metavar=_NAMES, help=f"Use these columns only ({_COUNTED}). (default: all that hold numbers)"),
]
Exclude = Annotated[str | None, typer.Option(metavar=_NAMES, help="Leave these columns out.")]
Ids = Annotated[
    str | None, typer.Option("--id", metavar=_NAMES, help="Columns that name the rows: only copied to the output.")
]
Times = Annotated[
    str | None,
    typer.Option("--time", metavar=_NAMES, help="Columns that date the rows: only copied to the output."),
]
MissingCells = Annotated[
    Missing | None,
    typer.Option(
        help="Missing cells: error stops at the first one; drop leaves out their rows, and adds row numbers to the "
        "output; mean fills in the mean of the column in the training rows, which models of `mercer fit` "
        "with --scale or --missing mean know, and detectors except with --scale none. "
        "(default: mean for a model of `mercer fit --missing mean`, else error)"
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show progress at once, in a pipe as lines. (default: after two seconds)"),
]
FirstRows = Annotated[
    int | None, typer.Option("--rows", min=1, help="Read only this number of rows, from the start of the file.")
]
ChunkRows = Annotated[int, typer.Option(min=1, help="Number of rows to hold in memory at a time.")]


def refuse_learning(ctx: typer.Context, saved: str, learning: Collection[str]) -> None:
    """Fail if parameters that only learning uses are given beside the option that names a saved detector or monitor."""
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name in learning and _is_given(ctx, parameter.name)
    ]
    if given:
        which = " and ".join(filter(None, (", ".join(given[:-1]), given[-1])))
        effect = "has no effect; leave it out" if len(given) == 1 else "have no effect; leave them out"
        raise ValueError(f"With {saved} nothing is learned, so {which} {effect}.")


def _is_given(ctx: typer.Context, name: str) -> bool:
    """Tell whether a parameter is on the command line, even with the value of its default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def split_names(text: str | None) -> tuple[str, ...]:
    """Read the names of columns, separated by commas."""
    return () if text is None else tuple(name.strip() for name in text.split(",") if name.strip())
