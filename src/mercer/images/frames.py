"""What a tracker is given, checked: frames of a video, and boxes in them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.images.checks import refuse_masked

_LUMINANCE = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601: red, green, blue
_LEAST = 2.0  # pixels


def as_grey(frame: Any) -> Array:
    """Return a frame, (height, width) or (height, width, 1, 3 or 4), as a grey picture of finite floats."""
    refuse_masked(frame, "The frame")
    picture = np.asarray(frame)
    if picture.dtype.kind not in "buif":
        raise TypeError(f"A frame holds numbers; got one of dtype {picture.dtype}.")
    picture = picture if picture.dtype == np.float64 else picture.astype(np.float32)
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[..., 0]
    elif picture.ndim == 3 and picture.shape[2] in (3, 4):
        picture = picture[..., :3] @ _LUMINANCE.astype(picture.dtype)
    if picture.ndim != 2 or min(picture.shape) < _LEAST:
        raise ValueError(
            f"A frame has the shape (height, width), or (height, width, 3) in colour, with channels last; got "
            f"{np.shape(frame)}."
        )
    if not np.isfinite(picture).all():
        raise ValueError("The frame contains NaN or infinity; fill the gaps, or leave the frame out.")
    return picture


def check_box(box: npt.ArrayLike, shape: tuple[int, ...]) -> tuple[float, float, float, float]:
    """Return x, y, w, h as floats, or say why they are no box in a frame of this shape."""
    try:
        values = np.asarray(box, np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (4,) or not np.isfinite(values).all():
        raise ValueError(f"A box is four finite numbers, x, y, w, h; got {box!r}.")
    x, y, w, h = (float(value) for value in values)
    if w < _LEAST or h < _LEAST:
        raise ValueError(f"The box {w:g} x {h:g} is too small: it needs at least {_LEAST:g} pixels each way.")
    height, width = shape
    seen = max(0.0, min(x + w, width) - max(x, 0.0)) * max(0.0, min(y + h, height) - max(y, 0.0))
    if seen < 0.5 * w * h:
        raise ValueError(
            f"The box x={x:g}, y={y:g}, w={w:g}, h={h:g} lies outside the frame with more than half of its area; the "
            f"frame is {width} wide and {height} high. Boxes are x, y, w, h with x to the right and y down."
        )
    return x, y, w, h


def check_same_size(shape: tuple[int, ...], first: tuple[int, ...]) -> None:
    """Refuse a frame that is not as large as the first one."""
    if shape != first:
        raise ValueError(
            f"This frame has {shape[0]} x {shape[1]} pixels, the first one had {first[0]} x {first[1]}. Frames of one "
            "video must be of one size; start again for another video."
        )
