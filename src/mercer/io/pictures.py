"""Image files as arrays, by Pillow, which is installed together with matplotlib."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import DataFileError, MissingExtraError

Pixels = npt.NDArray[Any]

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_MODES = {"1": "L", "P": "RGB", "CMYK": "RGB", "YCbCr": "RGB", "HSV": "RGB", "LAB": "RGB", "PA": "RGBA", "La": "LA"}
_MODES |= {"RGBa": "RGBA", "RGBX": "RGB", "I;16B": "I;16", "I;16L": "I;16", "I": "I;16"}


def is_picture(path: str | os.PathLike[str]) -> bool:
    """Tell by its suffix whether a file holds an image."""
    return Path(path).suffix.lower() in SUFFIXES


def read_picture(path: str | os.PathLike[str]) -> Pixels:
    """Return an image as (height, width), or (height, width, channels) with colours.

    Values are uint8, or uint16 where the file has 16 bits. A palette becomes its colours. Transparency is the last of
    two or four channels.
    """
    from_file = _pillow("Reading images")
    try:
        with from_file.open(path) as picture:
            mode = _MODES.get(picture.mode, picture.mode)
            transparent = picture.mode == "P" and "transparency" in picture.info
            converted = picture if mode == picture.mode else picture.convert("RGBA" if transparent else mode)
            return np.array(converted)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, SyntaxError, from_file.DecompressionBombError) as error:
        raise DataFileError(f"Cannot read {path} as an image: {error}") from error


def write_picture(path: str | os.PathLike[str], pixels: Pixels) -> None:
    """Write an image in the format that the suffix names."""
    image = _pillow("Writing images").fromarray(pixels)
    try:
        image.save(path)
    except (OSError, ValueError, KeyError) as error:
        raise DataFileError(
            f"Cannot write {path}: {error}. Choose a name that ends in one of {', '.join(SUFFIXES)}."
        ) from error


def _pillow(purpose: str) -> Any:
    """Return the module of Pillow, or say how to install it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("Pillow", "cli", purpose) from error
    return Image
