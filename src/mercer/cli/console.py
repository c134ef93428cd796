"""Where the command line writes: results to standard output, messages to standard error."""

from collections.abc import Callable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer.errors import MissingCellError

# Names and ids of users may look like markup, and are shown as they are.
out = Console(markup=False, emoji=False)
err = Console(stderr=True, markup=False, emoji=False)


def say(message: str) -> None:
    """Write a message to standard error, because the output may be piped."""
    err.print(Text(message), soft_wrap=True)


def fail(error: BaseException, worded: Callable[[str], str] = str) -> None:
    """Show an error as one red line: the first line of its text, as `worded` says it."""
    lines = [worded(line) for line in _text(error).strip().splitlines()] or [type(error).__name__]
    if isinstance(error, MemoryError):
        lines = [f"Out of memory. {lines[0]} Fit on fewer rows, for example with --rows 20000."]
    if isinstance(error, MissingCellError):
        lines = [f"{lines[0]} Correct it, or use --missing drop (leaves out such rows) or --missing mean."]
    err.print(Text(f"Error: {lines[0]}", style="bold red"), soft_wrap=True)


def _text(error: BaseException) -> str:
    """Return the text of an error; of one of the system, the file and the reason as other commands say them."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename is not None else f"{error.strerror}."
    return str(error)


def show_warning(message: str) -> None:
    """Show a warning as one yellow line, without the place in the code."""
    text = " ".join(message.split())
    err.print(Text(f"Warning: {text}", style="yellow"), soft_wrap=True)


def show(title: str, table: Table) -> None:
    """Print a table below its title; the title may be wider."""
    out.print(Text(title, style="bold"), soft_wrap=True)
    out.print(table)


def grid(*columns: str) -> Table:
    """Make an empty table; numbers go into all columns but the first."""
    table = Table()
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", overflow="fold")
    return table
