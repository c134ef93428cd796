"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[str, typer.Argument(metavar="DATA", help="The rows: a file, or - for standard input.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model saved by `mercer fit`.")]
Out = Annotated[str, typer.Option("--out", "-o", help="Where to write, or - for standard output as text.")]
Columns = Annotated[
    str | None,
    typer.Option(metavar="A,B,...", help="Use these columns only, where the file names its columns."),
]
ChunkRows = Annotated[int, typer.Option(min=1, help="How many rows to hold in memory at a time.")]


def split_names(text: str | None) -> list[str] | None:
    """Read the names of columns, separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]
