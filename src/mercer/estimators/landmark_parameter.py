"""The parameter `landmarks`: None, a number of landmarks to choose, or the landmarks themselves."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array

from mercer.arrays import Points
from mercer.kernels.base import Kernel
from mercer.kernels.landmarks import select_landmarks

USUAL_COUNT = 256  # where landmarks=None, for estimators that then choose some
_EXAMPLES, _EXAMPLES_EACH = 3000, 10  # rows from which landmarks are chosen, in all and for each landmark


def are_given(landmarks: Any) -> bool:
    """Tell whether the landmarks themselves are given, not None or their number."""
    return landmarks is not None and not isinstance(landmarks, Integral)


def count_of(landmarks: Any) -> int:
    """Return how many landmarks are to be chosen, where they are not given."""
    return USUAL_COUNT if landmarks is None else int(landmarks)


def rows_to_choose_from(landmarks: Any) -> int:
    """Return by how many rows landmarks are chosen, where there are too many for memory."""
    return max(_EXAMPLES, _EXAMPLES_EACH * (int(landmarks) if isinstance(landmarks, Integral) else 0))


def landmark_points(kernel: Kernel, X: Points, landmarks: Any, selection: str, rng: np.random.RandomState) -> Points:
    """Return the landmarks in float64: the given ones, or rows or means of rows of X that are chosen."""
    if are_given(landmarks):
        return check_landmarks(landmarks, X.shape[1])
    chosen = select_landmarks(kernel, X, count_of(landmarks), selection, rng)
    return chosen.astype(np.float64, copy=False)


def check_landmarks(landmarks: Any, n_features: int) -> Points:
    """Return a copy of landmarks that are given as rows, in float64: expansions on fewer digits lose too much."""
    given: Points = check_array(landmarks, dtype=np.float64, copy=True, input_name="landmarks", accept_sparse="csr")
    if given.shape[1] != n_features:
        raise ValueError(f"landmarks have {given.shape[1]} features; X has {n_features}.")
    return given
