"""How strong the noise of an image is, and how many directions of its windows stand out of it."""

import numpy as np

from mercer.arrays import Array

_GAUSSIAN_MEDIAN = 0.6744897501960817  # median of |z| for z ~ N(0, 1)


def estimate_noise(image: Array) -> float:
    """Return the standard deviation of white noise in an image, (height, width, channels) or (height, width).

    The median size of the finest diagonal Haar coefficients over 0.6745 [Donoho and Johnstone 1994]: smooth areas and
    straight edges have hardly any, and the median does not see what texture adds to the rest.
    """
    even = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
    diagonal = 0.5 * (even[::2, ::2] - even[::2, 1::2] - even[1::2, ::2] + even[1::2, 1::2])
    return float(np.median(np.abs(diagonal))) / _GAUSSIAN_MEDIAN if diagonal.size else 0.0


def signal_dimensions(X: Array, noise: float) -> int:
    """Return how many principal variances of the rows exceed what white noise alone can make, at least one.

    The largest variance of n rows of noise in d dimensions tends to noise^2 (1 + sqrt(d / n))^2 [Marchenko, Pastur].
    """
    n, d = X.shape
    variances = np.linalg.eigvalsh(np.cov(X, rowvar=False).reshape(d, d)) if n > 1 else np.zeros(1)
    edge = noise**2 * (1.0 + np.sqrt(d / n)) ** 2
    return max(1, int(np.count_nonzero(variances > edge)))
