"""Image files as arrays, by Pillow, which is installed together with matplotlib."""

import io
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import DataFileError, MissingExtraError
from mercer.io.whole_file import check_folder_of
from mercer.io.writers import complete_or_nothing

Pixels = npt.NDArray[Any]

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_WIDE = 320  # pixels that a picture with a box is wide at least
_MODES = {"1": "L", "P": "RGB", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "LAB": "RGB", "PA": "RGBA", "La": "LA"}
_MODES |= {"RGBa": "RGBA", "RGBX": "RGB", "I;16B": "I;16", "I;16L": "I;16", "I": "I;16"}


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Tell by its suffix whether a file holds an image."""
    return Path(path).suffix.lower() in SUFFIXES


def read_picture(path: str | os.PathLike[str]) -> Pixels:
    """Return an image as (height, width), or (height, width, channels) with colours.

    Values are uint8, or uint16 where the file has 16 bits. A palette becomes its colours. Transparency is the last of
    two or four channels. The image is turned as its EXIF entry says, as viewers show it.
    """
    from_file = _pillow("Reading images")
    try:
        with from_file.open(path) as stored:
            picture = _upright(stored)
            mode = _MODES.get(picture.mode, picture.mode)
            transparent = picture.mode == "P" and "transparency" in picture.info
            converted = picture if mode == picture.mode else picture.convert("RGBA" if transparent else mode)
            return np.array(converted)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist; an image is needed. Check the path.") from None
    except (OSError, ValueError, SyntaxError, from_file.DecompressionBombError) as error:
        raise DataFileError(f"Cannot read {path} as an image: {error}") from error


def _upright(stored: Any) -> Any:
    """Return an image turned as its EXIF entry says; as it is stored where the entries are damaged."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(stored)
    except (SyntaxError, ValueError, struct.error):
        return stored


def write_picture(path: str | os.PathLike[str], pixels: Pixels) -> None:
    """Write an image in the format that the suffix names; after a failure an older file stays as it was."""
    encoded = _encoded(path, pixels)
    with complete_or_nothing(Path(path)) as stream:
        stream.write(encoded)


def check_picture(path: str | os.PathLike[str], pixels: Pixels) -> None:
    """Check whether an image with channels and values like these can be written, before a long computation."""
    check_folder_of(path)
    _encoded(path, pixels[:1, :1])


def _encoded(path: str | os.PathLike[str], pixels: Pixels) -> bytes:
    """Return an image as the bytes of the format that the suffix names."""
    pillow = _pillow("Writing images")
    suffix = Path(path).suffix.lower()
    kind = pillow.registered_extensions().get(suffix)
    if kind is None:
        raise DataFileError(
            f"Cannot write {path}: the format {suffix!r} is not known. Choose a name that ends in one of "
            f"{', '.join(SUFFIXES)}."
        )
    stream = io.BytesIO()
    try:
        pillow.fromarray(pixels).save(stream, kind)
    except (OSError, ValueError, KeyError) as error:
        raise DataFileError(f"Cannot write {path}: {error}. Choose a name that ends in .png or .tif.") from error
    return stream.getvalue()


def outlined(
    frame: Pixels,  # (height, width) or (height, width, 3)
    corners: npt.NDArray[np.floating[Any]],  # (k, 2): x, y; pixel (0, 0) covers 0 to 1
    colour: tuple[int, int, int],
) -> Pixels:
    """Return a picture in colours, enlarged if it is small, with a closed line through the corners."""
    grey = np.asarray(frame, np.float32)
    if frame.dtype != np.uint8:
        low, high = float(grey.min()), float(grey.max())
        grey = grey if low >= 0 and 1 < high <= 255 else 255 * (grey - low) / max(high - low, 1e-12)
    times = max(1, -(-_WIDE // grey.shape[1]))
    pixels = np.clip(grey, 0, 255).astype(np.uint8).repeat(times, axis=0).repeat(times, axis=1)
    coloured = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
    image = _pillow("Drawing boxes").fromarray(coloured)
    from PIL import ImageDraw

    points = [(times * float(x) - 0.5, times * float(y) - 0.5) for x, y in [*corners, corners[0]]]
    ImageDraw.Draw(image).line(points, fill=colour, width=2)
    return np.array(image)


def _pillow(purpose: str) -> Any:
    """Return the module of Pillow, or say how to install it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("Pillow", "cli", purpose) from error
    return Image
