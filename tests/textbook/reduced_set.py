"""Textbook twins of reduced sets [chin2007, IV-B]: every step from scratch, with nothing from the package."""

from collections.abc import Callable, Sequence

import numpy as np

KernelOfRows = Callable[[np.ndarray, np.ndarray], float]


def refitted(K_y, K_yx, coef) -> np.ndarray:
    """Coefficients of the projections on the span of the points y, one row a vector (29)."""
    return (np.linalg.pinv(K_y, rcond=1e-12, hermitian=True) @ K_yx @ coef.T).T


def squared_error(K, coef, weights, kept: Sequence[int]) -> float:
    """The weighted sum of squared distances of the vectors from the span of the points kept."""
    kept = list(kept)
    new = refitted(K[np.ix_(kept, kept)], K[kept], coef)
    total = 0.0
    for k in range(len(coef)):
        difference = coef[k].copy()
        for place, i in enumerate(kept):
            difference[i] -= new[k, place]
        total += weights[k] ** 2 * float(difference @ K @ difference)
    return total


def backward(K, coef, weights, size: int) -> list[int]:
    """The points left when always the one goes that costs least, found by trying all."""
    kept = list(range(len(K)))
    while len(kept) > size:
        costs = [squared_error(K, coef, weights, [i for i in kept if i != j]) for j in kept]
        kept.pop(int(np.argmin(costs)))
    return kept


def forward(K, coef, weights, quota: int) -> list[int]:
    """Points taken in turn for every vector, each the one that brings all vectors together closest."""
    kept: list[int] = []
    for _ in range(len(coef) * quota):
        others = [i for i in range(len(K)) if i not in kept]
        kept.append(min(others, key=lambda i: squared_error(K, coef, weights, [*kept, i])))
    return kept


def height(kernel: KernelOfRows, points, alpha, y) -> float:
    """(sum_i alpha_i k(x_i, y))^2 / k(y, y), what a pre-image makes large (27)."""
    inner = sum(a * kernel(x, y) for a, x in zip(alpha, points, strict=True))
    return inner**2 / kernel(y, y)


def slope(function: Callable[[np.ndarray], float], y, step: float) -> np.ndarray:
    """The gradient by central differences."""
    out = np.empty(len(y))
    for j in range(len(y)):
        move = np.zeros(len(y))
        move[j] = step
        out[j] = (function(y + move) - function(y - move)) / (2 * step)
    return out


def mika(points, gamma: float, alpha, y, steps: int) -> np.ndarray:
    """The plain fixed point y <- sum_i alpha_i k_i x_i / sum_i alpha_i k_i for the Gaussian kernel."""
    for _ in range(steps):
        pull = alpha * np.exp(-gamma * ((points - y) ** 2).sum(axis=1))
        y = pull @ points / pull.sum()
    return y
