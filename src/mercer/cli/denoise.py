"""`mercer denoise`: clean an image by its own windows, or rows by a model."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from mercer.cli import console, methods, options, project, waiting
from mercer.cli.source import Reading
from mercer.images.patches import PatchDenoiser
from mercer.io.pictures import SUFFIXES, Pixels, check_picture, is_picture, read_picture, write_picture

Source = Annotated[Path, typer.Argument(metavar="IMAGE|MODEL", help="An image, or a model saved by `mercer fit`.")]
Rows = Annotated[
    str | None, typer.Argument(metavar="DATA", help="With a model: the rows, in a file, or - for standard input.")
]
Out = Annotated[str, typer.Option("--out", "-o", help="File to write; for rows also - (standard output, as text).")]

_WINDOWS = 3000  # as many as the denoiser learns from by default


def denoise(
    source: Source,
    data: Rows = None,
    out: Out = "-",
    window: Annotated[int, typer.Option(min=2, help="Width of the windows of an image, in pixels.")] = 9,
    stride: Annotated[int, typer.Option(min=1, help="Pixels between windows; smaller is better but slower.")] = 2,
    noise: Annotated[
        float | None, typer.Option(min=0.0, help="Standard deviation of the noise in grey values. (default: estimated)")
    ] = None,
    split: Annotated[int, typer.Option(min=1, help="Learn SPLIT x SPLIT parts of the image separately.")] = 1,
    method: Annotated[
        str,
        typer.Option(
            help="Model of an image: auto (exact kernel PCA with as many components as stand out of the noise), or a "
            "method of `mercer fit` with its defaults."
        ),
    ] = methods.AUTO,
    rows: Annotated[
        int | None,
        typer.Option(
            min=2,
            help=f"Image: learn from this number of windows, drawn at random. (default: {_WINDOWS}) With a model: read "
            "only this number of rows, from the start of the file.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for the choice of training windows.")] = 0,
    exclude: options.Exclude = None,
    ids: options.Ids = None,
    times: options.Times = None,
    missing: options.MissingCells = None,
    chunk_rows: options.ChunkRows = 4096,
    verbose: options.Verbose = False,
) -> None:
    """Clean an image, or replace each row by its reconstruction from the components of a model.

    mercer denoise noisy.png -o clean.png

    mercer denoise model.mercer noisy.csv -o clean.csv
    """
    if data is not None:
        if method != methods.AUTO:
            raise ValueError(f"--method {method} is for images; {source} is a model that was fitted before.")
        reading = Reading(None, exclude, (ids, times), missing, rows)
        with waiting.watch(verbose, out) as observers:
            project.denoise(source, data, out, reading, chunk_rows, observers)
        return
    if not is_picture(source):
        raise ValueError(
            f"{source} is not an image ({', '.join(SUFFIXES)}). To clean rows give a model and data: "
            "mercer denoise model.mercer noisy.csv -o clean.csv"
        )
    if not is_picture(out):
        raise ValueError(f"--out must name an image file, for example -o clean.png; got {out!r}.")
    if noise is not None and method != methods.AUTO:
        raise ValueError("--noise sets the number of components of --method auto; leave out one of the two.")
    task = PatchDenoiser(
        window=window,
        stride=stride,
        estimator=None if method == methods.AUTO else methods.find(method).make({}, random_state=seed),
        noise=noise,
        split=split,
        max_windows=rows or _WINDOWS,
        random_state=seed,
    )
    pixels = read_picture(source)
    check_picture(out, pixels)
    with waiting.watch(verbose) as task.observers:
        write_picture(out, _cleaned(task, pixels))
    level = "" if task.noise_ is None else f"noise of {task.noise_:.3g} grey values, "
    console.say(f"Wrote {out}: {level}{_components(task)}.")


def _cleaned(task: PatchDenoiser, pixels: Pixels) -> Pixels:
    """Clean all channels except transparency."""
    if pixels.ndim == 2 or pixels.shape[2] == 3:
        return task.denoise(pixels)
    return np.dstack([task.denoise(pixels[:, :, :-1]), pixels[:, :, -1]])


def _components(task: PatchDenoiser) -> str:
    counts = [model.n_components for model in task.models_]
    return "nothing to remove" if not counts else f"{', '.join(map(str, counts))} components"
