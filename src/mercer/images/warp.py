"""Patches of a frame: many rotated, scaled boxes sampled at once, by bilinear interpolation.

A state is (x, y, scale, angle): the centre of a box in pixels, its size relative to a base box, and its turn in radians
(clockwise where y points down, as in images). Pixel (i, j) covers [j, j + 1) x [i, i + 1), so that its centre, where
it has its value, is at (j + 0.5, i + 0.5).

Frames are not smoothed before, whatever the size of a box. Smoothing that fits one size makes patches of other sizes
look alike, so that the box shrinks and slides. And without it noise counts the same at every size: bilinear
interpolation between pixels leaves four ninths of its variance on average, however far the samples are from each other.
"""

import numpy as np

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


def corners(state: Array, size: tuple[float, float]) -> Array:
    """Return the four corners of a state's box as x, y, in order around it, (4, 2)."""
    half = 0.5 * state[2] * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * size
    cosine, sine = np.cos(state[3]), np.sin(state[3])
    return np.asarray(half @ np.array([[cosine, sine], [-sine, cosine]]) + state[:2])
