"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Missing(StrEnum):
    """What happens to missing cells."""

    error = "error"
    drop = "drop"
    mean = "mean"


class Scale(StrEnum):
    """How columns are scaled."""

    soft = "soft"
    variance = "variance"
    none = "none"

    @property
    def kind(self) -> str | bool:
        """The value of the parameter `standardize` of a detector."""
        return False if self is Scale.none else str(self)


Data = Annotated[str, typer.Argument(metavar="DATA", help="The rows: a file, or - for standard input.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model saved by `mercer fit`.")]
Out = Annotated[str, typer.Option("--out", "-o", help="Where to write, or - for standard output as text.")]
_NAMES = "A,B,..."
_COUNTED = "a file without names has columns 0, 1, ..."
Columns = Annotated[
    str | None,
    typer.Option(metavar=_NAMES, help=f"Use these columns only ({_COUNTED}). (default: all that hold numbers)"),
]
Exclude = Annotated[str | None, typer.Option(metavar=_NAMES, help="Leave these columns out.")]
Ids = Annotated[
    str | None, typer.Option("--id", metavar=_NAMES, help="Columns that name the rows: not used as numbers, kept.")
]
Times = Annotated[
    str | None, typer.Option("--time", metavar=_NAMES, help="Columns that date the rows: not used as numbers, kept.")
]
MissingCells = Annotated[
    Missing | None,
    typer.Option(
        help="Cells without a value: error stops at the first; drop leaves out their rows, and the output then has "
        "the row numbers; mean takes the mean of the column in the training rows. (default: as the model was fitted, "
        "else error)"
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show the progress at once, in a pipe as lines; else after two seconds."),
]
ChunkRows = Annotated[int, typer.Option(min=1, help="How many rows to hold in memory at a time.")]


def split_names(text: str | None) -> tuple[str, ...]:
    """Read the names of columns, separated by commas."""
    return () if text is None else tuple(name.strip() for name in text.split(",") if name.strip())
