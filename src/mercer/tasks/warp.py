"""Patches of a frame: many rotated, scaled boxes sampled at once, by bilinear interpolation.

A state is (x, y, scale, angle): the centre of a box in pixels, its size relative to a base box, and its turn in radians
(clockwise where y points down, as in images). Pixel (i, j) covers [j, j + 1) x [i, i + 1), so that its centre, where
it has its value, is at (j + 0.5, i + 0.5).
"""

import numpy as np
from scipy import ndimage

from mercer.arrays import Array


def sample_boxes(
    frame: Array,  # (height, width)
    states: Array,  # (n, 4)
    size: tuple[float, float],  # width, height of the base box in pixels
    shape: tuple[int, int],  # rows, columns of a patch
) -> Array:
    """Return the patches under the boxes, (n, rows * columns); outside the frame its border goes on."""
    x, y = _grid(states, size, shape)
    return _bilinear(frame, x, y)


def _grid(states: Array, size: tuple[float, float], shape: tuple[int, int]) -> tuple[Array, Array]:
    """Return where the pixels of every patch lie in the frame, as fractional column and row numbers, (n, pixels)."""
    (rows, columns), (width, height) = shape, size
    across = np.tile(((np.arange(columns) + 0.5) / columns - 0.5) * width, rows)
    down = np.repeat(((np.arange(rows) + 0.5) / rows - 0.5) * height, columns)
    cosine = (states[:, 2] * np.cos(states[:, 3]))[:, None]
    sine = (states[:, 2] * np.sin(states[:, 3]))[:, None]
    x = cosine * across - sine * down + (states[:, :1] - 0.5)
    y = sine * across + cosine * down + (states[:, 1:2] - 0.5)
    return x, y


def _bilinear(frame: Array, x: Array, y: Array) -> Array:
    height, width = frame.shape
    x, y = np.clip(x, 0.0, width - 1.0), np.clip(y, 0.0, height - 1.0)
    left, top = x.astype(np.intp), y.astype(np.intp)
    np.minimum(left, max(width - 2, 0), out=left)
    np.minimum(top, max(height - 2, 0), out=top)
    right, below = min(1, width - 1), width * min(1, height - 1)  # steps to the neighbours in the flat frame
    x, y = (x - left).astype(frame.dtype), (y - top).astype(frame.dtype)
    flat, at = np.ascontiguousarray(frame).ravel(), top * width + left
    upper = flat[at] + x * (flat[at + right] - flat[at])
    lower = flat[at + below] + x * (flat[at + below + right] - flat[at + below])
    return np.asarray(upper + y * (lower - upper))


def smoothed_for(frame: Array, size: tuple[float, float], shape: tuple[int, int]) -> Array:
    """Return the frame without the detail that patches are too coarse for, and that would flicker in them."""
    steps = np.array([size[1] / shape[0], size[0] / shape[1]])  # pixels of the frame for one of the patch
    sigma = 0.5 * np.sqrt(np.maximum(steps**2 - 1.0, 0.0))
    return np.asarray(ndimage.gaussian_filter(frame, sigma)) if sigma.any() else frame


def corners(state: Array, size: tuple[float, float]) -> Array:
    """Return the four corners of a state's box as x, y, in order around it, (4, 2)."""
    half = 0.5 * state[2] * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * size
    cosine, sine = np.cos(state[3]), np.sin(state[3])
    return np.asarray(half @ np.array([[cosine, sine], [-sine, cosine]]) + state[:2])
