"""`mercer watch`: judge rows as they come, and show them on a page."""

from pathlib import Path
from typing import Annotated

import typer

from mercer.cli import console, targets

Address = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="Where rows come from: a file, - (standard input), mqtt://HOST/TOPIC, or redis://HOST/0?stream=NAME.",
        show_default=False,
    ),
]


def watch(
    address: Address = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for further rows of a file.")] = False,
    demo: Annotated[bool, typer.Option("--demo", help="A simulated plant with drift and faults.")] = False,
    model: Annotated[
        Path | None,
        typer.Option(help="A detector of `mercer outliers --save`, or a monitor of `mercer monitor --save`."),
    ] = None,
    learn: Annotated[
        int | None, typer.Option(min=20, help="Without --model: learn from this number of rows. (default: 500)")
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="With --learn: share of normal rows that may raise an alarm. (default: 0.01)"),
    ] = None,
    adapt: Annotated[bool, typer.Option("--adapt", help="Follow slow drift; alarms are never learned from.")] = False,
    persist: Annotated[str, typer.Option(metavar="K,M", help="An alarm opens at K of the last M rows.")] = "2,3",
    clear: Annotated[
        int | None, typer.Option(min=1, help="Quiet rows in a row that close an alarm. (default: M, at least 10)")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="The column that dates the rows. (default: time, timestamp, ...)")
    ] = None,
    state: Annotated[Path | None, typer.Option(help="Folder that keeps alarms, history and model.")] = None,
    host: Annotated[str, typer.Option(help="Address of the page.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0: a free one.")] = 8350,
    token: Annotated[
        str | None,
        typer.Option(envvar="MERCER_WATCH_TOKEN", help="Secret of the page; else one is made if it is needed."),
    ] = None,
    name: Annotated[list[str] | None, typer.Option(help="A further name by which browsers know this machine.")] = None,
    headless: Annotated[bool, typer.Option("--headless", help="No page; stop when there are no more rows.")] = False,
    alarms: Annotated[
        Path | None, typer.Option(help="File to which events of alarms are appended, as JSON lines.")
    ] = None,
    webhook: Annotated[str | None, typer.Option(help="Address to which events of alarms are sent.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page. (default: the source)")] = None,
) -> None:
    """Judge rows as they come, open and close alarms, and show all of it on a page.

    Without --model, what is normal is learned from the first rows.
    """
    from mercer.watch.run import Place, run
    from mercer.watch.settings import LEARN, Settings
    from mercer.watch.sources.resolve import source_of

    if model is not None and (learn is not None or alpha is not None or adapt):
        raise ValueError("--learn, --alpha and --adapt belong to a model that is learned; a saved --model has its own.")
    if alpha is not None and not 0.0 < alpha < 1.0:
        raise ValueError(f"--alpha is {alpha:g}; it is a share of rows, and must lie between 0 and 1.")
    targets.check_apart([address, model], alarms=alarms)
    if state is not None:
        targets.check_folder(state, "--state")
    source = source_of(address, follow=follow, demo=demo)
    settings = Settings(
        title=title or source.name, alpha=0.01 if alpha is None else alpha, learn=LEARN if learn is None else learn,
        adapt=adapt, persist=pair_of(persist), clear=clear, time=time, model=model, durable=state is not None,
    )  # fmt: skip
    place = Place(host, port, token, tuple(name or ()), headless, state, alarms, webhook)
    code = run(source, settings, place, console.say)
    if code:
        raise typer.Exit(code)


def pair_of(text: str) -> tuple[int, int]:
    """Read "k,m" or "k"."""
    parts = [part.strip() for part in text.replace(" of ", ",").split(",")]
    if len(parts) not in (1, 2) or not all(part.isdecimal() for part in parts):
        raise ValueError(f"--persist is {text!r}; give two numbers such as 2,3: two of the last three rows.")
    k, m = int(parts[0]), int(parts[-1])
    if not 1 <= k <= m <= 10_000:
        raise ValueError(f"--persist is {text!r}; K must be at least 1, and M not less than K.")
    return k, m
