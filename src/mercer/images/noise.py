"""How strong the noise of an image and of its channels is, and how many directions of its windows stand out of it."""

import numpy as np

from mercer.arrays import Array

_GAUSSIAN_MEDIAN = 0.6744897501960817  # median of |z| for z ~ N(0, 1)
_BLOCKS = 1000  # blocks of 2 x 2 pixels that suffice to compare the noise of channels


def estimate_noise(image: Array) -> float:
    """Return the standard deviation of white noise in an image, (height, width, channels) or (height, width).

    The median size of the finest diagonal Haar coefficients over 0.6745 [Donoho and Johnstone 1994]: smooth areas and
    straight edges have hardly any, and the median does not see what texture adds to the rest.
    """
    diagonal = _haar(image)[0]
    return float(np.median(np.abs(diagonal))) / _GAUSSIAN_MEDIAN if diagonal.size else 0.0


def noise_levels(differences: Array) -> Array:
    """Return the standard deviation of the noise in each column of diagonal Haar coefficients."""
    return np.asarray(np.median(np.abs(differences), axis=0) / _GAUSSIAN_MEDIAN)


def smooth_differences(image: Array) -> Array:
    """Return the diagonal Haar coefficients of the smoothest blocks of an image, (blocks, channels).

    A quarter of the blocks of 2 x 2 pixels, or 1000 if that is more, with the smallest horizontal and vertical
    coefficients around them. For white noise these are independent of the diagonal ones. Blocks without any difference,
    and blocks with the smallest or largest value of a channel, come last: there the noise may have been cut off.
    """
    diagonal, vertical, horizontal = _haar(image / _contrast(image))
    activity = _sum_around((vertical**2 + horizontal**2).sum(axis=2))
    doubtful = _cut_off(image) | (diagonal == 0.0).all(axis=2)
    order = np.lexsort((activity.ravel(), doubtful.ravel()))
    count = max(_BLOCKS, np.count_nonzero(~doubtful) // 4)
    return np.asarray(_haar(image)[0].reshape(len(order), -1)[order[:count]])


def signal_dimensions(X: Array, noise: float) -> int:
    """Return how many principal variances of the rows exceed what white noise alone can make, at least one.

    The largest variance of n rows of noise in d dimensions tends to noise^2 (1 + sqrt(d / n))^2 [Marchenko, Pastur].
    """
    n, d = X.shape
    variances = np.linalg.eigvalsh(np.cov(X, rowvar=False).reshape(d, d)) if n > 1 else np.zeros(1)
    edge = noise * (1.0 + np.sqrt(d / n))  # not its square, which of a large number is none
    return max(1, int(np.count_nonzero(np.sqrt(np.maximum(variances, 0.0)) > edge)))


def _blocks(image: Array) -> Array:
    """Return the four pixels of each block of 2 x 2 pixels: top left, top right, bottom left, bottom right."""
    even = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
    return np.stack([even[::2, ::2], even[::2, 1::2], even[1::2, ::2], even[1::2, 1::2]])


def _haar(image: Array) -> tuple[Array, Array, Array]:
    """Return the finest diagonal, vertical and horizontal Haar coefficients."""
    a, b, c, d = _blocks(image)
    return 0.5 * (a - b - c + d), 0.5 * (a + b - c - d), 0.5 * (a - b + c - d)


def _contrast(image: Array) -> Array:
    """Return the largest minus the smallest value of each channel; 1 for constant channels."""
    contrast = np.ptp(image, axis=(0, 1))
    return np.asarray(np.where(contrast > 0.0, contrast, 1.0))


def _cut_off(image: Array) -> Array:
    """Return which blocks have a pixel with the smallest or the largest value of a channel."""
    extreme = (image == image.min(axis=(0, 1))) | (image == image.max(axis=(0, 1)))
    return np.asarray(_blocks(extreme.any(axis=2)).any(axis=0))


def _sum_around(values: Array) -> Array:
    """Return the sum over 3 x 3 neighbours of each value; values beyond the edge are those at the edge."""
    padded = np.pad(values, 1, mode="edge")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, (3, 3)).sum(axis=(2, 3)))
