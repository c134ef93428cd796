"""What to believe of computed eigenvalues: which are zero, which are forbidden, and which way vectors point."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.arrays import Array

_CENTRING = 8.0  # rounding errors, in units of the last place of k(x, x), that centring can leave in an entry


@dataclass(frozen=True)
class Thresholds:
    """Relative sizes, for one precision, at which an eigenvalue is rounding noise or a real negative."""

    zero: float
    negative: float
    eps: float


def thresholds(dtype: Any) -> Thresholds:
    """Return the limits that suit the precision of the kernel values (scikit-learn's, so results agree with it)."""
    if np.dtype(dtype) == np.float32:
        return Thresholds(zero=2e-7, negative=5e-3, eps=float(np.finfo(np.float32).eps))
    return Thresholds(zero=1e-12, negative=1e-5, eps=float(np.finfo(np.float64).eps))


def clean_eigenvalues(values: Array, lowest: float, magnitude: float, limits: Thresholds) -> Array:
    """Return the eigenvalues with noise set to exact zeros; fail where negative ones are real.

    `lowest` is the smallest eigenvalue seen anywhere, `magnitude` the noise level that centring leaves,
    n max k(x, x): against these the computed values are judged, not only against each other.
    """
    largest = float(values.max(initial=0.0))
    reach = max(abs(lowest), float(np.abs(values).max(initial=0.0)))
    noise = _CENTRING * limits.eps * magnitude
    significant = max(limits.negative * reach, noise)
    if values.min(initial=0.0) < -significant or lowest < -max(largest, significant):
        worst = min(lowest, float(values.min(initial=0.0)))
        raise ValueError(
            f"There are significant negative eigenvalues ({worst:.3g} beside the largest, {largest:.3g}): the kernel "
            "is not positive semi-definite on these data. Ask for fewer components, or use a positive definite kernel "
            "such as 'rbf'."
        )
    return np.where(values <= max(limits.zero * reach, noise), 0.0, values)


def is_indefinite(values: Array, lowest: float, magnitude: float, limits: Thresholds) -> bool:
    """Tell whether negative eigenvalues outside the computed ones are more than rounding."""
    reach = max(abs(lowest), float(np.abs(values).max(initial=0.0)))
    return lowest < -max(limits.negative * reach, _CENTRING * limits.eps * magnitude)


def orient(vectors: Array) -> Array:
    """Return the columns with signs such that the entry of largest size is positive, the first one if several."""
    if vectors.size == 0:
        return vectors
    rows = np.argmax(np.abs(vectors), axis=0)
    signs = np.sign(vectors[rows, np.arange(vectors.shape[1])])
    return np.asarray(vectors * np.where(signs == 0, 1.0, signs))
