"""Convert what a user passes (a name, a function, an object) to a kernel object with its parameters fixed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.metrics import pairwise

from mercer.arrays import Array, Points, is_sparse
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF, Chi2, Laplacian
from mercer.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.user_given import MatrixFunction, PairFunction, Precomputed

_MEDIAN_ROWS = 1000  # a quarter of a million pairs give the median distance to well below a percent
_LEAST_SQUARE = 1e-306  # of squared distances, and of their reciprocals


@dataclass(frozen=True)
class KernelSpec:
    """The parameters of an estimator that determine its kernel."""

    kernel: str | Callable[..., Any] | Kernel
    gamma: float  # already a number
    degree: float
    coef0: float
    params: Mapping[str, Any]


_BY_NAME: dict[str, Callable[[KernelSpec], Kernel]] = {
    "linear": lambda s: Linear(),
    "poly": lambda s: Polynomial(s.gamma, s.coef0, s.degree),
    "polynomial": lambda s: Polynomial(s.gamma, s.coef0, s.degree),
    "rbf": lambda s: RBF(s.gamma),
    "sigmoid": lambda s: Sigmoid(s.gamma, s.coef0),
    "cosine": lambda s: Cosine(),
    "laplacian": lambda s: Laplacian(s.gamma),
    "chi2": lambda s: Chi2(s.gamma),
    "precomputed": lambda s: Precomputed(),
}

KERNEL_NAMES = frozenset(_BY_NAME) | {"wavelet"}


def resolve_kernel(spec: KernelSpec, X: Points) -> Kernel:
    """Return the kernel object; a function is called on a few rows of X to find out which arguments it takes."""
    if isinstance(spec.kernel, Kernel):
        return spec.kernel.bind(X.shape[1])
    if callable(spec.kernel):
        return _wrap_function(spec.kernel, dict(spec.params), X)
    if spec.kernel == "wavelet":
        from mercer.kernels.wavelet import Wavelet  # needs an optional package

        return Wavelet(**spec.params).bind(X.shape[1])
    return _BY_NAME[spec.kernel](spec)


def resolve_gamma(gamma: float | str | None, X: Points, *, kernel: Any = "rbf") -> float:
    """Return gamma as a number: the given one, 1 / n_features for None, or that of the median distance."""
    if gamma == "median":
        distances = _DISTANCES.get(kernel) if isinstance(kernel, str) else None
        return median_gamma(X) if distances is None else _gamma_of(distances, X)
    return 1.0 / X.shape[1] if gamma is None else float(gamma)


def median_gamma(X: Points, seed: int = 0) -> float:
    """Return 1 / (2 median distance^2) over pairs of at most 1,000 random rows.

    Zero distances are left out, because identical rows say nothing about the scale. When all rows are the same, the
    result is 1 / n_features.
    """
    rows = _some_rows(X, seed)
    median = _median_square(rows)
    if _LEAST_SQUARE <= median <= 1.0 / _LEAST_SQUARE:
        return 0.5 / median
    exponent = int(np.frexp(float(abs(rows).max()))[1])  # the squares may be too large or too small for a number
    factor = float(2.0 ** min(max(-exponent, -1000), 1000))
    median = _median_square(rows.astype(np.float64) * factor)
    if median == 0.0:
        return float(1.0 / X.shape[1])
    gamma = factor * (factor / (2.0 * median))
    if not _LEAST_SQUARE <= gamma <= 1.0 / _LEAST_SQUARE:
        raise ValueError(
            f"gamma='median' is impossible: the median distance between rows is {np.sqrt(median) / factor:.1e}, and "
            "its square is too large or too small for a number. Rescale the features, e.g. with StandardScaler."
        )
    return gamma


def _some_rows(X: Points, seed: int = 0) -> Points:
    rng = np.random.default_rng(seed)
    return X[np.sort(rng.permutation(X.shape[0])[:_MEDIAN_ROWS])]


def _gamma_of(distances: Callable[[Points], Array], X: Points) -> float:
    """Return 1 / (2 median), over pairs of different rows, of the distance in the exponent of a kernel."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = distances(_some_rows(X))
    positive = found[found > 0]
    if not positive.size:
        return float(1.0 / X.shape[1])
    median = float(np.median(positive))
    if not _LEAST_SQUARE <= median <= 1.0 / _LEAST_SQUARE:
        raise ValueError(
            f"gamma='median' is impossible: the median distance between rows is {median:.1e}, too large or too small "
            "for a number. Rescale the features, e.g. with StandardScaler."
        )
    return 0.5 / median


def _absolute_differences(rows: Points) -> Array:
    """Return the sums of absolute differences of all pairs of rows."""
    if is_sparse(rows):
        return _upper(pairwise.manhattan_distances(rows.astype(np.float64)))
    differences: Array = pdist(np.asarray(rows, np.float64), "cityblock")
    return differences


def _chi2_distances(rows: Points) -> Array:
    """Return the chi-squared distances of all pairs of rows; none of rows that the kernel refuses later."""
    if is_sparse(rows) or rows.min(initial=0.0) < 0:
        return np.zeros(0)
    return _upper(-pairwise.additive_chi2_kernel(rows.astype(np.float64)))


def _upper(matrix: Array) -> Array:
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])


_DISTANCES: dict[str, Callable[[Points], Array]] = {"laplacian": _absolute_differences, "chi2": _chi2_distances}


def _median_square(rows: Points) -> float:
    """Return the median of the squared distances between different rows; zero where all rows are the same."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squared = _squared_distances(rows)
    positive = squared[squared > 0]
    return float(np.median(positive)) if positive.size else 0.0


def _squared_distances(X: Points) -> Array:
    """Return the squared distances of all pairs of rows."""
    if not is_sparse(X):
        differences: Array = pdist(np.asarray(X, np.float64), "sqeuclidean")
        return differences
    X = X.astype(np.float64)
    norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    rows, columns = np.triu_indices(X.shape[0], 1)
    squared = norms[rows] + norms[columns] - 2.0 * (X @ X.T).toarray()[rows, columns]
    # differences of inner products lose digits: what is below their rounding is a repeated row
    return np.where(squared > 1e-12 * (norms[rows] + norms[columns]), squared, 0.0)


def _wrap_function(function: Callable[..., Any], params: dict[str, Any], X: Points) -> Kernel:
    """Find out whether the function takes two rows or two matrices: call it on a few rows in both ways."""
    count = 4 if X.shape[1] == 3 else 3  # never square, so that a plain x @ y is not mistaken for a matrix function
    few, some = X[np.arange(2) % X.shape[0]], X[np.arange(count) % X.shape[0]]
    matrix, pairs = _attempt(function, few, some, params), PairFunction(function, params)
    if np.shape(matrix) != (2, count):
        return pairs
    out = np.empty((2, count))
    try:
        pairs.block(few, some, out)
    except Exception:
        return MatrixFunction(function, params)
    # a function of two rows can return an array of this shape by accident: then the pairwise values decide
    return MatrixFunction(function, params) if np.allclose(out, matrix, equal_nan=True) else pairs


def _attempt(function: Callable[..., Any], A: Points, B: Points, params: dict[str, Any]) -> Any:
    """Return what the function returns for two matrices; None if it fails."""
    try:
        return np.asarray(function(A, B, **params), np.float64)
    except Exception:  # the user's function may fail in any way on matrices; rows are tried next
        return None
