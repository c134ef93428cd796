"""`mercer track`: follow an object through the frames of a file or a folder."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from mercer.cli import console, methods, options, targets, waiting
from mercer.errors import DataFileError
from mercer.events import Channel, Observer, Tally
from mercer.io import videos, writers
from mercer.io.videos import Frame, Video

_USUAL = "incremental-kernel-pca"
_SHOWN = 12  # frames of the strip


def track(
    frames: Annotated[
        Path,
        typer.Argument(
            metavar="FRAMES",
            help="An .npy or .npz file of (frames, height, width), a folder of images in the order of their names, "
            "or a video file (extra `video`).",
        ),
    ],
    box: Annotated[str, typer.Option(metavar="X,Y,W,H", help="Position of the object in the first frame, in pixels.")],
    out: Annotated[str, typer.Option("--out", "-o", help="File for one box per frame, or - for text.")] = "-",
    lost: Annotated[bool, typer.Option("--lost", help="Add a column that is 1 where the object is lost.")] = False,
    video_strip: Annotated[Path | None, typer.Option(help="A picture of some frames with their boxes.")] = None,
    video: Annotated[
        Path | None, typer.Option(help="A video of all frames with their boxes, such as out.mp4 (extra `video`).")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Array in an .npz file. (default: X, frames or the only one)")] = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"Model of appearance: auto ({_USUAL} with a linear kernel), or a method of `mercer fit` that learns "
            "row by row."
        ),
    ] = methods.AUTO,
    rows: Annotated[int | None, typer.Option(min=1, help="Use only this number of frames, from the first one.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same boxes.")] = 0,
    verbose: options.Verbose = False,
) -> None:
    """Follow an object through a video by a model of its appearance that is updated with each frame."""
    targets.check_apart([frames], out=out, video_strip=video_strip, video=video)
    start = read_box(box)
    if out != "-":
        writers.check_target(out)
    targets.check_picture(video_strip, "--video-strip")
    if video is not None:
        targets.check_place(video, "video")
    pictures = videos.open_video(frames, key)
    with ExitStack() as stack:
        add = None if video is None else stack.enter_context(videos.video_writer(video))
        observers = stack.enter_context(waiting.watch(verbose, out))
        boxes, gone = _followed(_counted(pictures, rows, observers), start, _model(method, seed), seed, add)
    columns = np.column_stack([boxes, gone]) if lost else boxes
    writers.write(out, [columns], ["x", "y", "w", "h", "lost"][: columns.shape[1]])
    _report(out, boxes, gone)
    if video is not None:
        console.say(f"The video is {video}.")
    if video_strip is not None:
        _draw_strip(pictures, boxes, video_strip)


def _followed(
    frames: Iterator[Frame],
    start: tuple[float, ...],
    model: Any,
    seed: int,
    add: Callable[[Frame], None] | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the box of each frame and whether the object was lost in it; `add` gets each frame with its box."""
    from mercer.images.tracker import AppearanceTracker  # imports scikit-learn

    tracker = AppearanceTracker(model, random_state=seed)
    boxes, gone = [], []
    for number, frame in enumerate(frames):
        if number == 0:
            tracker.start(frame, start)
        else:
            tracker.update(frame)
        boxes.append(tracker.box_.copy())
        gone.append(tracker.lost_)
        if add is not None:
            add(_with_box(frame, tracker.corners_, tracker.lost_))
    if not boxes:
        raise DataFileError("The video holds no frames; at least one is needed.")
    return np.array(boxes), np.array(gone)


def _with_box(frame: Frame, corners: npt.NDArray[np.floating[Any]], lost: bool) -> Frame:
    """Return a frame in colour with its box: orange, or red where the object is lost."""
    from mercer.io.pictures import outlined

    return outlined(frame, corners, (220, 40, 60) if lost else (255, 159, 28))


def _report(out: str, boxes: npt.NDArray[np.float64], gone: npt.NDArray[np.bool_]) -> None:
    if out != "-":
        console.say(f"Wrote {len(boxes):,} boxes to {out}.")
    if gone.any():
        first, total = int(np.argmax(gone)), int(gone.sum())
        console.say(f"The object was lost in {total:,} of {len(gone):,} frames, in frame {first} for the first time.")


def _draw_strip(pictures: Video, boxes: npt.NDArray[np.float64], path: Path) -> None:
    """Read the video once more, and draw some of its frames."""
    from mercer.plots.tracking import track_strip

    numbers = np.unique(np.linspace(0, len(boxes) - 1, _SHOWN).round().astype(int))
    wanted = set(numbers.tolist())
    shown = [frame for i, frame in enumerate(islice(pictures, len(boxes))) if i in wanted]
    track_strip(_alike(shown), boxes[numbers], numbers=numbers).savefig(path, dpi=160)
    console.say(f"The picture is {path}.")


def _alike(frames: list[Frame]) -> Frame:
    """Return frames as one array, in colour if one of them is."""
    colour = any(frame.ndim == 3 for frame in frames)
    return np.array([np.repeat(f[..., None], 3, axis=2) if colour and f.ndim == 2 else f for f in frames])


def _model(method: str, seed: int) -> Any:
    """Make the model of appearance; None means the tracker's default."""
    if method == methods.AUTO:
        return None
    from mercer.images.appearance import default_model

    usual = default_model().get_params(deep=False)
    like = {name: usual[name] for name in ("n_components", "gamma", "forgetting", "batch_size")}
    return methods.find(method).make({}, **like, random_state=seed)


def _counted(frames: Video, rows: int | None, observers: tuple[Observer, ...]) -> Iterator[Frame]:
    """Iterate over frames, and report each one when the next is asked for: then the object was found in it."""
    known = frames.n_frames
    tally = Tally(Channel(observers), "frames", known if rows is None or known is None else min(rows, known))
    for frame in islice(frames, rows):
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
