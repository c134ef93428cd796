"""Overlapping square windows of an image as rows, and the image that overlapping windows add up to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.kernels.threads import TILE_BYTES, row_slices

WEIGHTS = ("uniform", "hann")


def window_starts(size: int, window: int, stride: int) -> IntArray:
    """Return where windows begin along an axis: every `stride` pixels, and one that ends at the far edge."""
    starts = np.arange(0, size - window + 1, stride)
    return starts if starts[-1] == size - window else np.append(starts, size - window)


@dataclass(frozen=True)
class WindowGrid:
    """Windows of window x window pixels, all channels together, on a grid that covers every pixel."""

    shape: tuple[int, int, int]  # height, width, channels
    window: int
    stride: int

    @cached_property
    def tops(self) -> IntArray:
        """Return the first image row of each row of windows."""
        return window_starts(self.shape[0], self.window, self.stride)

    @cached_property
    def lefts(self) -> IntArray:
        """Return the first image column of each column of windows."""
        return window_starts(self.shape[1], self.window, self.stride)

    @property
    def n_windows(self) -> int:
        """Return the number of windows."""
        return len(self.tops) * len(self.lefts)

    @property
    def n_values(self) -> int:
        """Return the number of values in a window."""
        return self.window**2 * self.shape[2]

    def bands(self) -> list[slice]:
        """Return slices of `tops`: single ones, or as many as take no more bytes than a kernel tile."""
        return row_slices(len(self.tops), 8 * self.n_values * len(self.lefts), TILE_BYTES)

    def cut(self, image: Array, band: slice = slice(None)) -> Array:
        """Return the windows of a band, one per row: (windows, window * window * channels)."""
        views = np.lib.stride_tricks.sliding_window_view(image, (self.window, self.window), axis=(0, 1))
        chosen = views[self.tops[band, None], self.lefts]  # (tops, lefts, channels, window, window)
        return np.ascontiguousarray(chosen.transpose(0, 1, 3, 4, 2)).reshape(-1, self.n_values)

    def cut_some(self, image: Array, numbers: IntArray) -> Array:
        """Return the windows of these numbers, counted along the rows of the grid."""
        views = np.lib.stride_tricks.sliding_window_view(image, (self.window, self.window), axis=(0, 1))
        i, j = np.divmod(numbers, len(self.lefts))
        return np.ascontiguousarray(views[self.tops[i], self.lefts[j]].transpose(0, 2, 3, 1)).reshape(len(i), -1)


class OverlapAdd:
    """The weighted mean, pixel by pixel, of all windows that cover it."""

    def __init__(self, grid: WindowGrid, weights: str = "uniform") -> None:
        self.grid = grid
        self._profile = window_weights(grid.window, weights)
        self._total = np.zeros(grid.shape)
        self._weight = np.zeros(grid.shape[:2])

    def add(self, windows: Array, band: slice = slice(None)) -> None:
        """Add the windows of a band, in the order of `WindowGrid.cut`."""
        grid = self.grid
        tops, lefts, w = grid.tops[band], grid.lefts, grid.window
        shaped = windows.reshape(len(tops), len(lefts), w, w, grid.shape[2])
        for i in range(w):
            for j in range(w):  # pixel (i, j) of all windows at once: no two of them are the same pixel of the image
                place = np.ix_(tops + i, lefts + j)
                self._total[place] += self._profile[i, j] * shaped[:, :, i, j]
                self._weight[place] += self._profile[i, j]

    def image(self) -> Array:
        """Return the mean, (height, width, channels)."""
        return np.asarray(self._total / self._weight[:, :, None])


def window_weights(window: int, name: str) -> Array:
    """Return how much each pixel of a window counts, all positive, so that every covered pixel has a weight."""
    if name == "uniform":
        return np.ones((window, window))
    along = np.hanning(window + 2)[1:-1]
    return np.outer(along, along)
