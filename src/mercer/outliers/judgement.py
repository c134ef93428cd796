"""All results of a detector for some rows, from one pass over its models."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array


@dataclass(frozen=True, eq=False)
class Judgement:
    """Statistics, p-values and scores of rows, as the methods of the detector return them."""

    statistics: Array  # (n, 2): T2 and SPE
    p_values: Array  # (n,)
    scores: Array  # (n,): small for unusual rows


def judge_rows(detector: Any, X: Any) -> Judgement:
    """Return what `statistics`, `p_values` and `score_samples` of a fitted detector return, in a third of the time."""
    each = detector._each(detector._check(X, reset=False))
    calibration = detector.calibration_
    return Judgement(np.asarray(each.mean(axis=0)), calibration.p_values(each), -calibration.surprise(each))
