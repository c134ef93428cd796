"""Interpretation of computed eigenvalues: which are zero, which are wrongly negative; and signs of eigenvectors."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array

_ENTRY, _CENTRING = 4.0, 8.0  # rounding errors of an entry and of a mean, in units of the last place of k(x, x)
_AT_ONCE = 64  # columns whose signs are found together: copies of few take no fresh memory


@dataclass(frozen=True)
class Thresholds:
    """Relative sizes, for one precision, at which an eigenvalue is rounding noise or really negative."""

    zero: float
    negative: float


def thresholds(dtype: Any) -> Thresholds:
    """Return the limits for the precision of the kernel values (those of scikit-learn, so that results agree)."""
    if np.dtype(dtype) == np.float32:
        return Thresholds(zero=2e-7, negative=5e-3)
    return Thresholds(zero=1e-12, negative=1e-5)


def rounding_noise(n: int, largest_entry: float, dtype: Any) -> float:
    """Return the size of eigenvalues that rounding alone can cause: of the entries, and of their centring in float64.

    Errors of entries are independent and add up as sqrt(n). An error of the mean is the same everywhere, and adds up
    as n.
    """
    entries = _ENTRY * float(np.finfo(dtype).eps) * np.sqrt(n)
    return float(largest_entry * (entries + _CENTRING * float(np.finfo(np.float64).eps) * n))


def clean_eigenvalues(values: Array, lowest: float, noise: float, limits: Thresholds) -> Array:
    """Return the eigenvalues with noise set to exact zeros; fail where negative ones are real.

    `lowest` is the smallest eigenvalue found anywhere, `noise` the size of rounding errors. The computed values are
    compared with both, not only with each other.
    """
    largest = float(values.max(initial=0.0))
    reach = max(abs(lowest), float(np.abs(values).max(initial=0.0)))
    significant = max(limits.negative * reach, noise)
    if values.min(initial=0.0) < -significant or lowest < -max(largest, significant):
        worst = min(lowest, float(values.min(initial=0.0)))
        fewer = "Use other parameters of the kernel" if lowest < -largest else "Ask for fewer components"
        raise ValueError(
            f"There are significant negative eigenvalues ({worst:.3g} beside the largest, {largest:.3g}): the kernel "
            f"is not positive semi-definite on these data. {fewer}, or use a positive definite kernel such as 'rbf'."
        )
    return np.where(values <= max(limits.zero * reach, noise), 0.0, values)


def is_indefinite(values: Array, lowest: float, noise: float, limits: Thresholds) -> bool:
    """Tell whether negative eigenvalues outside the computed ones are larger than rounding errors."""
    reach = max(abs(lowest), float(np.abs(values).max(initial=0.0)))
    return lowest < -max(limits.negative * reach, noise)


def inverse_roots(values: Array) -> Array:
    """Return 1 / sqrt(value), and zero where the value is not positive: the pseudo-inverse."""
    positive = values > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, values, 1.0)), 0.0)


def orient(vectors: Array) -> Array:
    """Return the columns, each multiplied by its sign from `orientation`."""
    return np.asarray(vectors * orientation(vectors))


def orientation(vectors: Array) -> Array:
    """Return one sign per column that makes its entry of largest size positive, the first one if there are several."""
    signs = np.ones(vectors.shape[1], vectors.dtype)
    for first in range(0, len(signs) if vectors.size else 0, _AT_ONCE):
        some = vectors[:, first : first + _AT_ONCE]
        largest = some[np.argmax(np.abs(some), axis=0), np.arange(some.shape[1])]
        signs[first : first + _AT_ONCE][largest < 0] = -1.0
    return signs
