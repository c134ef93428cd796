"""What each feature contributes to the statistics of rows, by a fitted detector."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.outliers.calibration import STATISTICS
from mercer.outliers.contributions import contributions
from mercer.outliers.scores import score_model

_ROUNDING = 1e-9  # share of the mean squared distance from the mean; an SPE below that has few digits


def feature_contributions(detector: Any, X: Array, statistic: str) -> Array:
    """Return the contributions to one statistic, or in common units to all that the detector computes, (n, d)."""
    if statistic != "all":
        return _to_one(detector, X, statistic)
    units = _units(detector)
    return np.asarray(sum(_to_one(detector, X, name) / unit for name, unit in zip(STATISTICS, units, strict=False)))


def _units(detector: Any) -> Array:
    """Return for each statistic the value that one normal row in ten exceeds, and no rounding error."""
    units, model = detector.calibration_.large.copy(), detector.estimator_.expansion_
    units[1] = max(units[1], _ROUNDING * (model.trace or 0.0) / max(model.n_seen, 1))
    return np.where(units > 0, units, 1.0)


def _to_one(detector: Any, X: Array, statistic: str) -> Array:
    if statistic not in STATISTICS:
        raise ValueError(f"statistic must be 'all', 't2', 'spe' or 'mahalanobis'; got {statistic!r}.")
    if statistic != "mahalanobis":
        rows, expansion = detector._scaling.bounded(X), detector.estimator_.expansion_
        # without centring, T2 needs the mean scores of the training rows: most models have these as points
        known = expansion.points if expansion.n_points == expansion.n_seen else None
        model = score_model(expansion, detector._explained, known)
        return contributions(model, rows, np.zeros(rows.shape[1]), statistic)
    if detector._ellipsoid is None:
        raise ValueError(
            "This detector does not use the Mahalanobis distance: that needs statistic='all' and at least twice as "
            "many training rows as columns (on a cluster, as many rows of the sample that sets the scaling)."
        )
    return np.asarray(detector._ellipsoid.contributions(X))
