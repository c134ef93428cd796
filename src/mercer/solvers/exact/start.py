"""A start for the Krylov iteration: approximate eigenvectors from a sample of the rows (the Nyström method)."""

import numpy as np

from mercer.arrays import Array, Points
from mercer.engine.dense import leading_pairs
from mercer.kernels.base import Kernel
from mercer.kernels.tiles import PointBlocks

_SAMPLE = 512  # rows; a larger sample saves no pass
_RANDOM = 8  # columns that stay random: the sample may miss a group of rows


def sampled_start(start: Array, kernel: Kernel, X: Points, threads: int) -> Array:
    """Return random columns of which all but a few are replaced by approximate eigenvectors of the centred matrix.

    The eigenvectors of a sample are extended to all rows. Without centring of the kernel they are a good start as well.
    """
    n, width = start.shape
    sample = np.sort(np.random.default_rng(0).choice(n, min(_SAMPLE, n), replace=False))
    blocks = PointBlocks(kernel, X[sample], np.float64)
    K = blocks.against(X[sample])
    if not np.isfinite(K).all():  # which is refused where it matters
        return start
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    vectors = leading_pairs(K, max(0, min(width - _RANDOM, len(sample))))[1]
    extended = np.empty((n, vectors.shape[1]))

    def extend(rows: slice, block: Array) -> None:
        extended[rows] = block @ vectors

    blocks.for_each_chunk(X, extend, threads)
    extended -= extended.mean(axis=0)
    norms = np.linalg.norm(extended, axis=0)
    usable = np.isfinite(norms) & (norms > 0)
    start = start.copy()
    start[:, : int(usable.sum())] = extended[:, usable] * (np.sqrt(n) / norms[usable])
    return start
