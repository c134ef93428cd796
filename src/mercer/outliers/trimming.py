"""Rows that models do not learn from, because they look like outliers."""

import numpy as np

from mercer.arrays import Array
from mercer.engine.scaling import Scaling, resolved_scaling
from mercer.estimators.kernel_pca import KernelPCA
from mercer.outliers.calibration import Calibration
from mercer.outliers.scores import score_model

_COMPONENTS = 2  # few, so that a group of outliers has no component of its own
_MOST = 1000  # rows that the first model learns from


def trimmed(X: Array, share: float) -> Array:
    """Return the rows, in their order, without the share that is most unusual to a model with two components."""
    count = int(share * len(X))
    if not count:
        return X
    rows = Scaling.of(X, resolved_scaling("auto", X))(X)
    some = rows[:: -(-len(rows) // _MOST)]
    first = KernelPCA(min(_COMPONENTS, len(some) - 1), kernel="rbf", gamma="median").fit(some)
    scores = score_model(first.expansion_, 1.0)(rows)
    order = np.argsort(Calibration((scores,), "both").combined(scores), kind="stable")
    return X[np.sort(order[: len(X) - count])]
