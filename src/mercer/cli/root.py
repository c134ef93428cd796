"""The root of the command line: version, help, and errors that end in one line."""

import warnings
import zlib
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import mercer
from mercer.cli import console, demo, denoise, fit, info, monitor, outliers, project, reproduce, select, track, watch
from mercer.cli.wording import OptionError, in_options
from mercer.errors import DataFileError, MercerError, ModelFileError

# Errors caused by data, files or parameters; any other error is a defect of this program.
_USER_ERRORS = (MercerError, ValueError, TypeError, OSError, MemoryError, EOFError, zlib.error)
_AS_THEY_ARE = (OSError, DataFileError, ModelFileError, OptionError)  # their texts name files, columns or options


class Group(TyperGroup):
    """Commands that show errors as one red line with exit code 2 (1 for a defect), or with --debug as a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept --debug at any place, since users add it to a command that has just failed."""
        if "--debug" in args:
            args = ["--debug", *(arg for arg in args if arg != "--debug")]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, with warnings shown as one yellow line each."""

        def told(message: object) -> str:
            return in_options(str(message), self.commands, ctx.invoked_subcommand)

        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: console.show_warning(told(message))
            # Columns are matched by name when a file is read; what reaches the model is a plain array.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            try:
                return super().invoke(ctx)
            except (BrokenPipeError, typer.Abort):
                raise  # the pipe was closed, as `head` does, or the user stopped the command: no error
            except Exception as error:
                if ctx.params.get("debug") or hasattr(error, "exit_code"):  # typer shows its own message
                    raise
                ours = isinstance(error, _USER_ERRORS)
                console.fail(error if ours else _defect(error), str if isinstance(error, _AS_THEY_ARE) else told)
                raise typer.Exit(2 if ours else 1) from error


def _defect(error: Exception) -> Exception:
    return RuntimeError(
        f"{type(error).__name__}: {error}. This is a defect of mercer; please report it with the output of --debug."
    )


app = typer.Typer(cls=Group, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich")


def _version(wanted: bool) -> None:
    if wanted:
        console.out.print(f"mercer {mercer.__version__}", highlight=False)
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Kernel PCA on files: fit a model and apply it, find unusual rows, watch a process, or clean an image.

    The suffix of a file gives its format: .npy, .npz, .csv, .tsv, .txt, .parquet, .jsonl, texts also with .gz.
    The name - is standard input or output.
    Columns without numbers are left out; a model finds its columns in new files by their names.
    """


app.command("fit")(fit.fit)
app.command("select")(select.select)
app.command("transform")(project.transform)
app.command("score")(project.score)
app.command("outliers")(outliers.outliers)
app.command("monitor")(monitor.monitor)
app.command("denoise")(denoise.denoise)
app.command("info")(info.info)
app.command("demo")(demo.demo)
app.command(
    "reproduce",
    add_help_option=False,  # passed on, as all other arguments
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False},
)(reproduce.reproduce)
app.command("track")(track.track)
app.command("watch")(watch.watch)
