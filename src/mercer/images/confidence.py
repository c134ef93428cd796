"""How usual the residual of a found patch is among those of recent frames in which the object was seen."""

import math

import numpy as np
from scipy import special

RECENT = 50  # accepted frames that count
_FEWEST = 8  # accepted frames without which nothing is said
_LEAST_SCALE = 0.35  # of the logarithm: residuals that differ by less than a factor of 1.4 are alike
_MAD = 1.4826  # the standard deviation of a normal distribution, of its median absolute deviation


def can_judge(recent: list[float]) -> bool:
    """Whether there are enough residuals of accepted frames for a p-value."""
    return len(_positive(recent)) >= _FEWEST


def residual_p_value(
    residual: float,
    recent: list[float],  # residuals of recent accepted frames
) -> float:
    """Return how probable such a residual, or a larger one, is where the object is seen.

    Logarithms of residuals are close to normal. Their centre and scale are estimated by medians, which a few bad frames
    do not move, and the tail is that of Student's t distribution, since both are estimated.
    """
    known = _positive(recent)
    if not can_judge(recent) or not residual > 0:
        return 1.0
    logs = np.log(known)
    centre = float(np.median(logs))
    scale = max(_MAD * float(np.median(np.abs(logs - centre))), _LEAST_SCALE)
    score = (math.log(residual) - centre) / (scale * math.sqrt(1.0 + 1.0 / len(known)))
    return float(special.stdtr(len(known) - 1, -score))


def _positive(values: list[float]) -> list[float]:
    return [value for value in values if value > 0]
