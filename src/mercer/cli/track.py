"""`mercer track`: follow an object through the frames of a file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from mercer.cli import console, methods, options, waiting
from mercer.errors import DataFileError
from mercer.events import Channel, Observer, Tally
from mercer.io import writers

_USUAL = "incremental-kernel-pca"

Frames = npt.NDArray[Any]  # (n, height, width) or (n, height, width, 3)


def track(
    frames: Annotated[Path, typer.Argument(metavar="FRAMES", help="An .npy or .npz file of (frames, height, width).")],
    box: Annotated[str, typer.Option(metavar="X,Y,W,H", help="Position of the object in the first frame, in pixels.")],
    out: Annotated[str, typer.Option("--out", "-o", help="File for one box per frame, or - for text.")] = "-",
    video_strip: Annotated[Path | None, typer.Option(help="A picture of some frames with their boxes.")] = None,
    key: Annotated[str | None, typer.Option(help="Array in an .npz file. (default: X, frames or the only one)")] = None,
    method: Annotated[
        str,
        typer.Option(help=f"Model of appearance: auto ({_USUAL}), or a method of `mercer fit` that learns row by row."),
    ] = methods.AUTO,
    rows: Annotated[int | None, typer.Option(min=1, help="Use only this number of frames, from the first one.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same boxes.")] = 0,
    verbose: options.Verbose = False,
) -> None:
    """Follow an object through a video by a model of its appearance that is updated with each frame."""
    start = read_box(box)
    if out != "-":
        writers.check_target(out)
    if video_strip is not None and not video_strip.parent.is_dir():
        raise FileNotFoundError(f"The folder {video_strip.parent} does not exist; create it first.")
    from mercer.images.tracker import AppearanceTracker  # imports scikit-learn

    pictures = read_frames(frames, key)[:rows]
    tracker = AppearanceTracker(_model(method, seed), random_state=seed)
    with waiting.watch(verbose, out) as observers:
        boxes = tracker.track(_counted(pictures, observers), start)
    writers.write(out, [boxes], ["x", "y", "w", "h"])
    if out != "-":
        console.say(f"Wrote {len(boxes):,} boxes to {out}.")
    if video_strip is not None:
        from mercer.plots.tracking import track_strip

        track_strip(pictures, boxes).savefig(video_strip, dpi=120)
        console.say(f"The picture is {video_strip}.")


def _model(method: str, seed: int) -> Any:
    """Make the model of appearance; None means the tracker's default."""
    if method == methods.AUTO:
        return None
    from mercer.images.appearance import default_model

    usual = default_model().get_params(deep=False)
    like = {name: usual[name] for name in ("n_components", "gamma", "forgetting", "batch_size")}
    return methods.find(method).make({}, **like, random_state=seed)


def _counted(frames: Frames, observers: tuple[Observer, ...]) -> Iterator[Frames]:
    """Iterate over frames, and report each one when the next is asked for: then the object was found in it."""
    tally = Tally(Channel(observers), "frames", len(frames))
    for frame in frames:
        yield frame
        tally.add()


def read_box(text: str) -> tuple[float, ...]:
    """Read four numbers, separated by commas."""
    parts = text.split(",")
    try:
        numbers = tuple(float(part) for part in parts)
    except ValueError:
        numbers = ()
    if len(numbers) != 4:
        raise ValueError(f"--box is {text!r}; give x,y,w,h such as 64,40,32,39.")
    return numbers


def read_frames(path: Path, key: str | None) -> Frames:
    """Read the frames of an .npy file, or of an .npz file with an array called `key`, `X`, `frames`, or only one."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; give an .npy or .npz file of frames.")
    try:
        found = np.load(path, allow_pickle=False)
        frames = found if isinstance(found, np.ndarray) else _chosen(found, path, key)
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(f"{path} cannot be read as an .npy or .npz file: {error}.") from error
    if frames.ndim not in (3, 4) or frames.dtype.kind not in "buif":
        raise DataFileError(
            f"{path} has an array of shape {frames.shape} and dtype {frames.dtype}; numbers of the shape "
            "(frames, height, width), or (frames, height, width, 3) in colour, are needed."
        )
    return frames


def _chosen(archive: Any, path: Path, key: str | None) -> Frames:
    names = list(archive.files)
    wanted = [key] if key is not None else ["X", "frames", *(names if len(names) == 1 else [])]
    name = next((name for name in wanted if name in names), None)
    if name is None:
        raise DataFileError(f"{path} holds {', '.join(names) or 'nothing'}; give the name of the frames with --key.")
    return np.asarray(archive[name])
