"""Models of the folds from one kernel matrix: when that is possible, and which rows must then be kept apart.

For limits that hold, the model of a fold may depend on no row of the fold. One kernel matrix for all folds needs one
scaling, one gamma and one set of landmarks. These are therefore learned from a reference part of the rows, which is in
every model and in no fold. (Learned from all rows, they depend on the rows that set the limits: among 300 clean rows of
100 heavy-tailed features a level of 1 % gave 5 to 8 % of false alarms.)
"""

from numbers import Integral
from typing import Any

from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA

_FEWEST = 300  # with fewer rows the reference is too small, and fitting the models one by one takes only milliseconds
# One row in three, up to so many that units are good (those of 50 to 100 rows ranked outliers clearly worse), then one
# in six, but not more rows than scaling, gamma and landmarks can use.
_LARGE_SHARE, _ENOUGH = 3, 300
_SHARE, _MOST = 6, 3000
_ROWS_PER_LANDMARK, _LARGEST_SHARE = 2, 3  # for landmarks up to a third of the rows


def reference_size(estimator: Any, standardize: str | bool, n: int) -> int | None:
    """Return the number of reference rows among n rows; None where each fold needs a kernel matrix of its own."""
    if n < _FEWEST or type(estimator) not in (KernelPCA, LandmarkKernelPCA):
        return None
    size = min(max(n // _SHARE, min(n // _LARGE_SHARE, _ENOUGH)), _MOST)
    if isinstance(estimator, LandmarkKernelPCA):
        weighted = estimator.window is not None or estimator.forgetting != 1.0
        if weighted or estimator.landmarks is None:
            return None
        if isinstance(estimator.landmarks, Integral):
            size = max(size, _ROWS_PER_LANDMARK * int(estimator.landmarks))
            return size if size <= n // _LARGEST_SHARE else None
    learned = bool(standardize) or isinstance(estimator.gamma, str)
    return size if learned else 0
