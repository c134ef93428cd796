"""`python -m papers`: the experiments of the papers, run again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mercer.cli import console
from papers import catalogue, runner
from papers.result import Result

_FULL, _QUICK = (
    Path("reproduce-out"),
    Path("reproduce-quick"),
)  # separate folders, so that neither run replaces the other
_INTERRUPTED = 130  # exit code of an interrupted program in shells


app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode="rich")


@app.command()
def papers(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY[:EXPERIMENT]]...", help="What to run. (default: everything)"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller sizes: minutes instead of hours.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Folder with the data sets. (default: MERCER_DATA)"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", file_okay=False, help=f"Where to write; {_FULL}, or {_QUICK}.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Run finished experiments again.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List what is covered, and run nothing.")] = False,
) -> None:
    """Run the papers' experiments again, and compare figures and numbers.

    Finished experiments are not run again. You can interrupt the run at any time; the same command continues it.
    """
    try:
        chosen = catalogue.find(what or ())
    except ValueError as unknown:
        raise typer.BadParameter(str(unknown)) from unknown
    if show:
        _list(sorted({name.partition(":")[0] for name in what or catalogue.KEYS}, key=catalogue.KEYS.index))
        return
    folder = out or (_QUICK if quick else _FULL)
    results: list[Result] = []
    try:
        with _watching(len(chosen)) as (tell, finished):
            scale = "quick" if quick else "full"
            results = runner.run_all(chosen, folder, scale=scale, home=data, again=again, tell=tell, finished=finished)
    except KeyboardInterrupt as error:
        console.say("Interrupted. Give the same command again to continue.")
        raise typer.Exit(_INTERRUPTED) from error
    _report(results, folder)


@contextmanager
def _watching(total: int) -> Iterator[tuple[Any, Any]]:
    """Show a progress bar of the experiments and the current step; print a line per finished experiment."""
    columns = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=console.err, transient=True) as bar:
        task = bar.add_task("", total=total)

        def finished(result: Result, fresh: bool) -> None:
            bar.advance(task)
            when = f"{result.seconds:.1f} s" if fresh else "done before"
            line = f"{result.key}:{result.experiment} ({when}) {result.summary}"
            bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield lambda text: bar.update(task, description=text), finished


def _report(results: list[Result], folder: Path) -> None:
    """Print the table of all runs and where the page is; exit with 1 if an experiment failed."""
    table = console.grid("experiment", "seconds", "verdicts")
    table.columns[2].justify = "left"
    for result in results:
        table.add_row(f"{result.key}:{result.experiment}", f"{result.seconds:.1f}", result.summary)
    console.show(f"{len(results)} experiments, {sum(result.seconds for result in results):.0f} s", table)
    console.out.print(f"Open {folder / 'summary.html'} in a browser.", soft_wrap=True, highlight=False, markup=False)
    if any(result.state == "failed" for result in results):
        raise typer.Exit(1)


def _list(keys: list[str]) -> None:
    for key in keys:
        table = console.grid("item", "what it shows", "experiment", "status")
        for column in table.columns:
            column.justify = "left"
        for row in catalogue.coverage(key):
            table.add_row(row.item, row.what, row.experiment or "-", row.status)
        console.show(f"{key}: {catalogue.paper(key).title}", table)


if __name__ == "__main__":
    app(prog_name="python -m papers")
