"""Known rows with their scores, which all pre-image methods start from."""

from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from mercer.arrays import Array, IntArray, Points, is_sparse, n_rows
from mercer.expansion.model import Expansion
from mercer.kernels.threads import one_thread
from mercer.preimage.target import components, row_dots, scores_and_norms, squared_length

_FEW_PAIRS = 2**20  # of rows and anchors: up to here one thread is as fast, and on a busy machine much faster


@dataclass(frozen=True, eq=False)
class Anchors:
    """Rows whose scores are known, usually the training data."""

    points: Points  # (a, d) dense floats or CSR
    scores: Array  # (a, r)


def dense_rows(points: Points, rows: IntArray) -> Array:
    """Return some rows as a dense array."""
    chosen = points[rows]
    return np.asarray(chosen.toarray() if is_sparse(chosen) else chosen)


def nearest(expansion: Expansion, scores: Array, anchors: Anchors, k: int, candidates: int) -> tuple[IntArray, Array]:
    """Return the k anchors nearest to P in feature space and their squared distances, both (q, k).

    They are searched among the `candidates` anchors with the nearest projections. That needs no kernel values, but
    ignores the part of a row outside the components, which is most of it for narrow kernels.
    """
    near = _nearest_projections(expansion, scores, anchors, candidates)
    squared = squared_distances(expansion, scores, anchors.points, near)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(squared, order, axis=1)


def best_start(expansion: Expansion, scores: Array, anchors: Anchors, candidates: int) -> Array:
    """Return the nearest anchor to each P, (q, d)."""
    near, _ = nearest(expansion, scores, anchors, 1, candidates)
    return dense_rows(anchors.points, near[:, 0])


def _nearest_projections(expansion: Expansion, scores: Array, anchors: Anchors, k: int) -> IntArray:
    """Return the k anchors whose projections are nearest, (q, k), or all anchors if there are fewer.

    Projections differ by (y - y')^T gram^+ (y - y'), which is the plain distance for orthonormal components.
    """
    k = min(k, n_rows(anchors.points))
    if expansion.n_components == 0:  # all rows project to the mean
        return np.tile(np.arange(k), (len(scores), 1))
    values, vectors = np.linalg.eigh(expansion.gram_inverse)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    with one_thread() if len(scores) * len(anchors.scores) <= _FEW_PAIRS else nullcontext():
        index = NearestNeighbors(n_neighbors=k).fit(anchors.scores @ root)
        return np.asarray(index.kneighbors(scores @ root, return_distance=False))


def squared_distances(expansion: Expansion, scores: Array, points: Points, near: IntArray) -> Array:
    """Return |phi(x_j) - P|^2 for each row's own neighbours j, (q, k)."""
    wanted, place = np.unique(near, return_inverse=True)
    own, norms = scores_and_norms(expansion, points[wanted])
    c = components(expansion, scores)
    place = place.reshape(near.shape)
    # one column at a time: all (q, k, r) scores together could need more memory than everything else
    inner = np.stack([row_dots(c, own[column]) for column in place.T], axis=1)
    return np.asarray(norms[place] - 2.0 * inner + squared_length(expansion, c)[:, None])
