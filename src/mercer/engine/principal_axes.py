"""Principal axes within the span of given weights, from the second moment of their outputs."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mercer.arrays import Array
from mercer.engine.spectrum import orientation

_ABSENT = 1e-6  # share of the largest singular value of W; smaller directions are not in the span of its rows


@dataclass(frozen=True)
class Axes:
    """An orthonormal basis of the span of the weights, along which the outputs are uncorrelated."""

    components: Array  # (r, p), by falling variance; zero rows where the weights depend on each other
    variances: Array  # (r,)
    mixing: Array  # (r, r), components = mixing W


def principal_axes(W: Array, second_moment: Array) -> Axes:
    """Return the principal axes within the span of W, given the second moment of y = W x.

    W = U S V^T and y = U S (V^T x), so V^T x has the moment S^-1 U^T E[y y^T] U S^-1; its eigenvectors turn V into the
    axes. The subspace rule alone leaves the rotation open; for the other rules this removes the remaining
    correlations between components. The basis does not depend on the rotation of W.
    """
    U, s, _ = scipy.linalg.svd(W, full_matrices=False)
    present = s > _ABSENT * s.max(initial=0.0)
    whiten = (U[:, present] / s[present]).T
    values, vectors = np.linalg.eigh(whiten @ second_moment @ whiten.T)
    mixing, variances = np.zeros((len(W), len(W))), np.zeros(len(W))
    mixing[: len(values)] = vectors[:, ::-1].T @ whiten
    variances[: len(values)] = np.maximum(values[::-1], 0.0)
    mixing *= orientation((mixing @ W).T)[:, None]
    return Axes(mixing @ W, variances, mixing)
