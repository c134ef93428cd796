"""Alarms that need several rows: the k-th largest of the last m values exceeds a limit where k of them do."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mercer.arrays import Array


def kth_largest(values: Array, k: int, m: int, before: Array) -> Array:
    """Return the k-th largest of each value and the m - 1 values before it; -inf stands for those before the start."""
    if m == 1:
        return values
    joined = np.concatenate([before[-(m - 1) :], values])
    joined = np.concatenate([np.full(max(len(values) + m - 1 - len(joined), 0), -np.inf), joined])
    return np.asarray(np.sort(sliding_window_view(joined, m), axis=1)[:, m - k])
