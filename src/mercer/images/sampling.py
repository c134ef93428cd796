"""Values of an image under many turned and scaled grids, compiled."""

import math

from mercer.arrays import Array
from mercer.kernels.compiled import compiled


@compiled()
def sample_turned(
    frame: Array,  # (height, width)
    states: Array,  # (n, 4), centre x and y, scale, angle
    across: Array,  # (columns,), places of a grid's columns beside its centre, at scale 1
    down: Array,  # (rows,), those of its rows
    patches: Array,  # (n, rows * columns), filled
) -> None:
    """Interpolate bilinearly between the centres of pixels; outside the frame its border goes on."""
    height, width = frame.shape
    for i in range(len(states)):
        cosine, sine = states[i, 2] * math.cos(states[i, 3]), states[i, 2] * math.sin(states[i, 3])
        pixel = 0
        for v in down:
            for u in across:
                x = min(max(cosine * u - sine * v + states[i, 0] - 0.5, 0.0), width - 1.0)
                y = min(max(sine * u + cosine * v + states[i, 1] - 0.5, 0.0), height - 1.0)
                left, top = min(int(x), max(width - 2, 0)), min(int(y), max(height - 2, 0))
                right, below = min(left + 1, width - 1), min(top + 1, height - 1)
                upper = frame[top, left] + (x - left) * (frame[top, right] - frame[top, left])
                lower = frame[below, left] + (x - left) * (frame[below, right] - frame[below, left])
                patches[i, pixel] = upper + (y - top) * (lower - upper)
                pixel += 1
