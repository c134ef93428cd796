"""Mixtures of the channels of an image in which the noise is equally strong and uncorrelated, and the way back."""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.images.noise import estimate_noise, noise_levels, smooth_differences

_EQUAL = 1.35  # largest level of the noise over the smallest, of all directions, up to which channels are not mixed
_NO_NOISE = 0.12  # a direction with less than this part of the largest level is taken to have no noise


@dataclass(frozen=True)
class Mixing:
    """Mixtures of channels that are cleaned in place of the channels themselves.

    The noise has the same level in all mixtures, and no correlation between them. Its level is the root mean square of
    the levels in the channels that are mixed.
    """

    forward: Array  # (channels, mixtures)
    back: Array  # (mixtures, channels)

    def mixtures(self, pixels: Array) -> Array:
        """Return the mixtures of an image, (height, width, mixtures)."""
        return np.asarray(pixels @ self.forward)

    def merge(self, pixels: Array, change: Array) -> Array:
        """Return the image after a change of its mixtures; what is in no mixture stays exactly as it is."""
        return np.asarray(pixels + change @ self.back)


def varying_channels(pixels: Array) -> IntArray:
    """Return the numbers of the channels that are not constant; of all channels if all are constant."""
    return _chosen(pixels.max(axis=(0, 1)) > pixels.min(axis=(0, 1)))


def noisy_channels(pixels: Array) -> IntArray:
    """Return the numbers of the channels in which noise is found; of all channels if it is found in none."""
    return _chosen(np.array([estimate_noise(pixels[:, :, k]) > 0.0 for k in range(pixels.shape[2])]))


def unmixed(n_channels: int, numbers: IntArray) -> Mixing:
    """Return the channels of these numbers as they are."""
    some = np.eye(n_channels)[:, numbers]
    return Mixing(some, some.T)


def is_plain(forward: Array) -> bool:
    """Return whether this matrix of a mixing only chooses channels."""
    return bool(np.isin(forward, (0.0, 1.0)).all() and (forward.sum(axis=0) == 1.0).all())


def whitened(pixels: Array, numbers: IntArray) -> Mixing:
    """Return mixtures of the channels of these numbers in which the noise is white.

    Correlations come from the signs of differences; the levels along their principal directions are then measured
    [Maronna and Zamar 2002]. Only differences in smooth areas are used, because texture is similar in all channels.
    Directions without noise are left out. Channels whose noise is nearly white are not mixed.
    """
    plain = unmixed(pixels.shape[2], numbers)
    if len(numbers) == 1:
        return plain
    differences = smooth_differences(pixels[:, :, numbers])
    levels = noise_levels(differences)
    levels[levels == 0.0] = levels.max() or 1.0
    directions = np.linalg.eigh(_correlations(differences))[1]
    along = noise_levels(differences / levels @ directions)
    kept = along > _NO_NOISE * along.max()
    directions, along = directions[:, kept], along[kept]
    unit = np.sqrt((levels**2).mean())
    back = (directions * along).T * levels / unit
    if not kept.any() or (kept.all() and np.linalg.cond(back) < _EQUAL):
        return plain
    forward = unit * directions / along / levels[:, None]
    return Mixing(plain.forward @ forward, back @ plain.back)


def _chosen(mask: Array) -> IntArray:
    return np.flatnonzero(mask if mask.any() else np.ones_like(mask))


def _correlations(differences: Array) -> Array:
    """Return correlations of the columns of Gaussian differences, found from how often their signs agree."""
    signs = np.sign(differences)
    both = np.abs(signs).T @ np.abs(signs)
    correlations = np.sin(0.5 * np.pi * (signs.T @ signs) / np.maximum(both, 1.0))
    np.fill_diagonal(correlations, 1.0)
    return np.asarray(correlations)
