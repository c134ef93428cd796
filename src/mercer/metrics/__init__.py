"""Measures of quality: distances between models, reconstruction errors, explained variation, clusterings, images."""

from mercer.metrics.comparisons import snr, variation_of_information
from mercer.metrics.measures import (
    excess_reconstruction_error,
    kernel_reconstruction_error,
    minimal_reconstruction_error,
    subspace_distance,
    total_explained_variation,
)

__all__ = [
    "excess_reconstruction_error",
    "kernel_reconstruction_error",
    "minimal_reconstruction_error",
    "snr",
    "subspace_distance",
    "total_explained_variation",
    "variation_of_information",
]


def __dir__() -> list[str]:
    return sorted(__all__)
