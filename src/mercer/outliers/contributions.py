"""Which features make a row unusual: T2 and SPE as sums of contributions of the features.

The gradient of a score s(x) shows how the score changes at x, not why it is large. So the gradient is integrated along
the straight line from a reference row (the mean of the training rows) to x [integrated gradients,
Sundararajan et al. 2017]:

    c_f = (x_f - r_f) int_0^1 ds/dx_f (r + t (x - r)) dt,        sum_f c_f = s(x) - s(r).

For the linear kernel and a centred T2 this is the classical contribution x_f ds/dx_f / 2.

A Gaussian kernel changes within a few widths of the training rows only. So the line to a row far away is divided into
pieces, each twice as long as the one before, up to where all kernel values are zero; beyond that the score is constant.

The cosine kernel is the linear one of rows of length 1. Its scores do not change along lines from the origin, where the
mean row is, and jump there: the line goes to the row of length 1, and the kernel along it is the linear one.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from mercer.arrays import Array
from mercer.expansion.model import Expansion
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Cosine, Linear, Polynomial
from mercer.outliers.scores import ScoreModel
from mercer.preimage.kernel_gradients import is_smooth, self_value, weighted_sum

_NODES = 16  # nodes of the Gauss-Legendre rule on each piece: exact for polynomials of degree 31
_FIRST_PIECE = 3.0  # length of the first piece, in widths of the kernel
_REACH = 10.0  # widths beyond which a Gaussian is zero, beside a one
_MOST_PIECES = 60


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
    kernel = model.expansion.kernel
    if isinstance(kernel, Cosine):
        X, reference = kernel.prepare(X, np.float64), kernel.prepare(reference[None], np.float64)[0]
        points = kernel.prepare(model.expansion.points, np.float64)
        model = replace(model, expansion=replace(model.expansion, kernel=Linear(), points=points))
    way = np.asarray(X, np.float64) - reference
    lengths, ends = _in_widths(model.expansion, way, reference)
    counts = np.ceil(np.log2(np.maximum(ends * lengths / _FIRST_PIECE, 1.0))).clip(max=_MOST_PIECES).astype(int)
    total = np.zeros_like(way)
    for count in np.unique(counts):  # rows that are about equally far away have equally many pieces
        rows = counts == count
        total[rows] = _integrated(model, way[rows], reference, which, ends[rows], int(count))
    return way * total


def _integrated(model: ScoreModel, way: Array, reference: Array, which: str, ends: Array, doublings: int) -> Array:
    """Return the integrals of the gradient along each way up to its end, (n, d); each piece is twice the one before."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.concatenate([[0.0], 0.5 ** np.arange(doublings, -1, -1)])
    total = np.zeros_like(way)
    for first, last in pairwise(edges):
        for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
            at = ends * (first + node * (last - first))
            share = weight * (last - first) * ends
            total += share[:, None] * score_gradients(model, reference + at[:, None] * way, which)
    return total


def _in_widths(expansion: Expansion, way: Array, reference: Array) -> tuple[Array, Array]:
    """Return the lengths of the ways in kernel widths, and the part of each after which nothing changes, (n,)."""
    lengths, whole = np.linalg.norm(way, axis=1), np.ones(len(way))
    kernel, points = expansion.kernel, np.asarray(expansion.points, np.float64)
    if isinstance(kernel, Linear | Polynomial):  # a polynomial along the way: one piece is exact
        return np.zeros(len(way)), whole
    distances = np.linalg.norm(points - reference, axis=1)
    if not isinstance(kernel, RBF):
        return lengths / max(float(np.median(distances)), np.finfo(float).tiny), whole
    unit = np.sqrt(2.0 * kernel.gamma)
    reach = unit * float(distances.max(initial=0.0)) + _REACH
    return unit * lengths, np.minimum(reach / np.maximum(unit * lengths, reach), 1.0)


def require_smooth(expansion: Expansion) -> None:
    """Fail if the model has no contributions, and say which models have."""
    kernel = expansion.kernel
    if expansion.empirical:
        raise ValueError("Models of the empirical kernel map have no contributions; use feature_map='whitened'.")
    if not is_smooth(kernel):
        raise ValueError(
            "contributions need a kernel with derivatives ('linear', 'poly', 'rbf', 'sigmoid', 'cosine'); this model "
            f"has kernel={kernel.name!r}. A detector has contributions(X, 'mahalanobis') with any kernel."
        )
