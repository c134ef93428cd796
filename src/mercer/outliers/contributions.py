"""Which features make a row unusual: T2 and SPE as sums of contributions of the features.

The gradient of a score s(x) shows how the score changes at x, not why it is large. So the gradient is integrated along
the straight line from a reference row (the mean of the training rows) to x [integrated gradients,
Sundararajan et al. 2017]:

    c_f = (x_f - r_f) int_0^1 ds/dx_f (r + t (x - r)) dt,        sum_f c_f = s(x) - s(r).

For the linear kernel and a centred T2 this is the classical contribution x_f ds/dx_f / 2.
"""

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.outliers.scores import ScoreModel
from mercer.preimage.kernel_gradients import is_smooth, self_value, weighted_sum

_NODES = 16  # nodes of the Gauss-Legendre rule: exact for polynomials of degree 31


def score_gradients(model: ScoreModel, X: Array, which: str) -> Array:
    """Return the gradient of "t2" or "spe" at every row, (n, d).

    Both are quadratic in y, whose gradient is coef grad k(points, x); so ds/dx is a sum of kernel gradients with one
    weight per point and row.
    """
    expansion = model.expansion
    require_smooth(expansion)
    scores = expansion.combine(expansion.coef, X) - expansion.offset
    points = np.asarray(expansion.points, np.float64)
    if which == "t2":
        pull = 2.0 * (scores - model.means) * model.inverse_variances
        return weighted_sum(expansion.kernel, X, points, pull @ expansion.coef)[1]
    weights = -2.0 * scores @ expansion.gram_inverse @ expansion.coef
    if expansion.nu is not None:
        weights = weights - 2.0 * expansion.nu
    return self_value(expansion.kernel, X)[1] + weighted_sum(expansion.kernel, X, points, weights)[1]


def contributions(model: ScoreModel, X: Array, reference: Array, which: str) -> Array:
    """Return what each feature contributes to a score of each row, (n, d); rows sum to s(x) - s(reference)."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    X = np.asarray(X, np.float64)
    way = X - reference
    total = np.zeros_like(way)
    for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        total += weight * score_gradients(model, reference + node * way, which)
    return way * total


def require_smooth(expansion: Expansion) -> None:
    """Fail if the model has no contributions, and say which models have."""
    kernel = expansion.kernel
    if expansion.empirical:
        raise ValueError("Models of the empirical kernel map have no contributions; use feature_map='whitened'.")
    if not is_smooth(kernel):
        raise ValueError(
            "contributions need a kernel with derivatives ('linear', 'poly', 'rbf', 'sigmoid', 'cosine'); this model "
            f"has kernel={kernel.name!r}."
        )
