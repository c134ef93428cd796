"""Patches of a frame: many rotated, scaled boxes sampled at once, by bilinear interpolation.

A state is (x, y, scale, angle): the centre of a box in pixels, its size relative to a base box, and its turn in radians
(clockwise where y points down, as in images). Pixel (i, j) covers [j, j + 1) x [i, i + 1), so that its centre, where
it has its value, is at (j + 0.5, i + 0.5).
"""

import numpy as np
from scipy import ndimage

from mercer.arrays import Array
from mercer.images.sampling import sample_turned


def sample_boxes(
    frame: Array,  # (height, width)
    states: Array,  # (n, 4)
    size: tuple[float, float],  # width, height of the base box in pixels
    shape: tuple[int, int],  # rows, columns of a patch
) -> Array:
    """Return the patches under the boxes, (n, rows * columns); outside the frame its border goes on."""
    (rows, columns), (width, height) = shape, size
    across = ((np.arange(columns) + 0.5) / columns - 0.5) * width
    down = ((np.arange(rows) + 0.5) / rows - 0.5) * height
    patches = np.empty((len(states), rows * columns), frame.dtype)
    sample_turned(np.ascontiguousarray(frame), np.ascontiguousarray(states, np.float64), across, down, patches)
    return patches


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
