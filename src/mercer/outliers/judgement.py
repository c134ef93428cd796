"""All results of a detector for some rows, from one pass over its models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.arrays import Array
from mercer.outliers.calibration import STATISTICS


@dataclass(frozen=True, eq=False)
class Judgement:
    """Statistics, p-values and scores of rows, as the methods of the detector return them."""

    statistics: Array  # (n, 2 or 3): T2 and SPE, and the squared Mahalanobis distance if it is used
    p_values: Array  # (n,)
    scores: Array  # (n,): small for unusual rows
    by_distance: npt.NDArray[np.bool_]  # (n,): whether the distance decides, and not T2 and SPE


def judge_rows(detector: Any, X: Any) -> Judgement:
    """Return what `statistics`, `p_values` and `score_samples` of a fitted detector return, in a third of the time."""
    each = detector._each(detector._check(X, reset=False))
    calibration, mean = detector.calibration_, np.asarray(each.mean(axis=0))
    return Judgement(mean, calibration.p_values(each), -calibration.surprise(each), calibration.by_distance(mean))


def used_statistics(detector: Any) -> tuple[str, ...]:
    """Return the names of the statistics that a fitted detector computes, in the order of their columns."""
    return STATISTICS[: len(detector.calibration_.large)]


def causes(detector: Any, X: Any) -> Array:
    """Return how much each column has to do with a row being unusual, (n, d), for every kernel.

    These are the contributions to all statistics. Where the kernel has no derivatives, only those to the Mahalanobis
    distance are known, and without this distance, how far each value lies from the mean.
    """
    try:
        return np.asarray(detector.contributions(X))
    except ValueError:
        if detector._ellipsoid is not None:
            return np.asarray(detector.contributions(X, "mahalanobis"))
        return np.asarray(np.abs(detector._scaling.bounded(detector._check(X, reset=False))))
