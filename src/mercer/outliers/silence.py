"""Warnings for detectors that cannot raise an alarm, however far away a row is.

A p-value is (1 + c) / (n + 1), where c of n calibration rows score at least as high: it is at least 1 / (n + 1). So

- no row can raise an alarm if alpha < 1 / (n + 1). n is the number of training rows for "cv+" and "blocked", that of
  the held-out rows for "split".
- no training row can if alpha < 2 / (n + 1) except with "split": each is compared with its own score too.
- rows far away can still raise none if c training rows score as high as they do. The kernels that vanish with distance
  have a largest distance in feature space, which outliers among the training rows reach. Not so where Mahalanobis
  distances count, which have no largest value.

With `contamination` the limit is a score of the training rows, so only the last case can occur.
"""

import math
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.errors import NoAlarmWarning, warn_user
from mercer.outliers.calibration import allowed_count, rows_needed

_EQUAL = 1e-9  # scores that differ by less are equal up to rounding


def too_few_rows(alpha: float, n: int, rows: int, share: float) -> str | None:
    """Return a warning where no p-value reaches alpha; rows are compared with n of all rows."""
    if allowed_count(alpha, n):
        return None
    needed = math.ceil(rows_needed(alpha) / share)
    return (
        f"No row can raise an alarm, however far away: alpha={alpha:g} needs at least {needed} rows; got {rows}. "
        f"Pass more rows, or alpha={_rounded_up(1 / (n + 1))}."
    )


def no_training_row(alpha: float, n: int) -> str | None:
    """Return a warning where new rows can raise an alarm, but no training row can, as each counts itself."""
    if allowed_count(alpha, n) != 1:
        return None
    return (
        f"No training row can raise an alarm: among {n} rows, itself included, its p-value is at least 2 / {n + 1}. "
        f"alpha={alpha:g} needs at least {rows_needed(alpha, 2)} rows; pass more, or alpha={_rounded_up(2 / (n + 1))}."
    )


def hidden(detector: Any) -> str | None:
    """Return a warning if a row infinitely far from all others raises no alarm, as training rows score as high."""
    if detector._ellipsoid is not None:
        return None  # distances grow without end
    scores = [judge.model.far_away() for judge in detector._judges]
    if any(one is None for one in scores):
        return None
    far: Array = np.stack(scores)[:, None, :]
    calibration = detector.calibration_
    if -calibration.surprise(far)[0] < detector.offset_ - _EQUAL:
        return None
    count = round(float(calibration.p_values(far)[0]) * (calibration.n + 1)) - 1
    higher = f"Rows far away from all others raise no alarm: {count} of {calibration.n} rows score as high"
    if detector.statistic == "t2":
        return f"{higher}, as T2 does not grow with distance for this kernel. Use statistic='all' or statistic='spe'."
    by_share = detector.contamination is not None
    limit, value = ("contamination", detector.contamination) if by_share else ("alpha", detector._level)
    return f"{higher}, more than {limit}={value:g} allows. If these are outliers, drop them, or raise {limit}."


def tell(text: str | None, category: type[Warning] = NoAlarmWarning) -> bool:
    """Warn the user if there is a text, and return whether there was one."""
    if text is not None:
        warn_user(text, category)
    return text is not None


def _rounded_up(value: float) -> str:
    """Return a number of three digits that is not below the value."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit) * unit:.3g}"
