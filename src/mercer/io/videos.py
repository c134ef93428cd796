"""Videos as frames, one at a time: arrays in a file, folders of images, and video files by imageio with ffmpeg."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import DataFileError, MissingExtraError
from mercer.io.npy import DAMAGED
from mercer.io.pictures import SUFFIXES as PICTURES
from mercer.io.pictures import is_picture, read_picture

Frame = npt.NDArray[Any]  # (height, width) or (height, width, 3)

SUFFIXES = (".mp4", ".avi", ".mov", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".ogv", ".wmv", ".gif")
_ARRAYS = (".npy", ".npz")
_RATE = 25.0  # frames per second of a video that is written


@dataclass(frozen=True)
class Video:
    """Frames that can be read again and again; `n_frames` is None where only reading tells."""

    path: Path
    frames: npt.NDArray[Any] | tuple[Path, ...] | None  # an array, image files, or a video file

    @property
    def n_frames(self) -> int | None:
        """The number of frames, if it is known."""
        return None if self.frames is None else len(self.frames)

    def __iter__(self) -> Iterator[Frame]:
        """Read frame by frame; all have the size of the first one."""
        if isinstance(self.frames, np.ndarray):
            yield from self.frames
            return
        names = self.frames
        first = None
        for number, frame in enumerate(_decoded(self.path) if names is None else map(read_picture, names)):
            first = frame if first is None else first
            if frame.shape[:2] != first.shape[:2]:
                which = f"frame {number} of {self.path}" if names is None else str(names[number])
                (a, b), (c, d) = frame.shape[:2], first.shape[:2]
                raise DataFileError(f"{which} has {a} x {b} pixels, the first frame has {c} x {d}; all must be alike.")
            yield _in_colour(frame)
        if first is None:
            raise DataFileError(f"{self.path} holds no frames; at least one is needed.")


def open_video(path: Path, key: str | None = None) -> Video:
    """Return the video of a file or a folder; `key` names an array of an .npz file."""
    if path.is_dir():
        names = sorted((one for one in path.iterdir() if is_picture(one)), key=_natural)
        if not names:
            raise DataFileError(f"The folder {path} holds no images; their names end in one of {', '.join(PICTURES)}.")
        return Video(path, tuple(names))
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not a file or folder; give frames in an .npy or .npz file, a folder of images, or a video file."
        )
    if path.suffix.lower() in _ARRAYS:
        return Video(path, read_arrays(path, key))
    if path.suffix.lower() not in SUFFIXES:
        known = ", ".join((*_ARRAYS, *SUFFIXES))
        raise DataFileError(f"{path} has the suffix {path.suffix!r}; files of frames end in one of {known}.")
    if not path.stat().st_size:
        raise DataFileError(f"{path} holds no frames: the file is empty.")
    _imageio("Reading video files")
    return Video(path, None)


def read_arrays(path: Path, key: str | None) -> npt.NDArray[Any]:
    """Read the frames of an .npy file, or of an .npz file with an array called `key`, `X`, `frames`, or only one."""
    try:
        found = np.load(path, allow_pickle=False)
        frames = found if isinstance(found, np.ndarray) else _chosen(found, path, key)
    except DAMAGED as error:
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(f"{path} cannot be read as an .npy or .npz file: {error}.") from error
    if frames.ndim not in (3, 4) or frames.dtype.kind not in "buif":
        raise DataFileError(
            f"{path} has an array of shape {frames.shape} and dtype {frames.dtype}; numbers of the shape "
            "(frames, height, width), or (frames, height, width, 3) in colour, are needed."
        )
    if not len(frames):
        raise DataFileError(f"{path} holds no frames; at least one is needed.")
    return frames


@contextmanager
def video_writer(path: Path) -> Iterator[Any]:
    """Give a function that adds a frame of uint8 to a new video file; its sides are made even, as codecs ask.

    After an error there is no new file, and an older one of this name stays as it was.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DataFileError(f"{path} has the suffix {path.suffix!r}; a video ends in one of {', '.join(SUFFIXES)}.")
    imageio = _imageio("Writing video files")
    moving = path.suffix.lower() == ".gif"
    options = {"duration": 1000.0 / _RATE, "loop": 0} if moving else {"fps": _RATE, "macro_block_size": 2}
    unfinished = path.with_name(f".{path.stem}.unfinished{path.suffix}")
    try:
        with imageio.get_writer(unfinished, **options) as writer:
            yield lambda frame: writer.append_data(
                np.pad(frame, ((0, len(frame) % 2), (0, frame.shape[1] % 2), (0, 0)), "edge")
            )
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _decoded(path: Path) -> Iterator[Frame]:
    """Read a video file; what ffmpeg cannot read is an error of its own."""
    imageio = _imageio("Reading video files")
    try:
        with imageio.get_reader(path) as reader:
            yield from map(np.asarray, reader)
    except (OSError, RuntimeError, ValueError, IndexError, StopIteration) as error:
        if isinstance(error, DataFileError):
            raise
        reason = (str(error).strip().splitlines() or ["no frame was found"])[-1]
        raise DataFileError(f"{path} cannot be read as a video: {reason}") from error


def _imageio(purpose: str) -> Any:
    """Return the module imageio if it can use ffmpeg, or say how to install both."""
    try:
        import_module("imageio_ffmpeg")
        return import_module("imageio.v2")
    except ImportError as error:
        raise MissingExtraError("imageio with ffmpeg", "video", purpose) from error


def _natural(path: Path) -> list[tuple[int, str]]:
    """Return a key that puts frame10 after frame9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]


def _in_colour(frame: Frame) -> Frame:
    """Return grey or red, green, blue; transparency is left out."""
    if frame.ndim == 3 and frame.shape[2] in (2, 4):
        frame = frame[..., :-1]
    return frame[..., 0] if frame.ndim == 3 and frame.shape[2] == 1 else frame


def _chosen(archive: Any, path: Path, key: str | None) -> npt.NDArray[Any]:
    names = list(archive.files)
    wanted = [key] if key is not None else ["X", "frames", *(names if len(names) == 1 else [])]
    name = next((name for name in wanted if name in names), None)
    if name is None:
        raise DataFileError(f"{path} holds {', '.join(names) or 'nothing'}; give the name of the frames with --key.")
    return np.asarray(archive[name])
