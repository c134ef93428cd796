"""Random rows that several objectives use."""

from typing import Any

import numpy as np


def surface(n: int) -> np.ndarray:
    """Points near a curved surface of ten dimensions in 50."""
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n, 10))
    return np.tanh(latent @ rng.standard_normal((10, 50)) / 3) + 0.05 * rng.standard_normal((n, 50))


def mixed(l: int, d: int) -> np.ndarray:
    """Gaussian rows with correlated features."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((l, d)) @ rng.standard_normal((d, d)) / d


def angled(n: int, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Rows around a curved surface: 8 angles, mixed into 50 features, and noise."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(99).standard_normal((16, 50))
    angles = rng.uniform(0, 2, (n, 8))
    signal = np.hstack([np.sin(angles), np.cos(angles)]) @ mixing
    return (signal + 0.3 * rng.standard_normal((n, 50))).astype(dtype)


def parabola(seed: int, n: int = 1000) -> np.ndarray:
    """[chin2007, V-A1]: x uniform in [-1, 1], y = x^2 + noise of standard deviation 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, n)
    return np.column_stack([x, x**2 + 0.2 * rng.standard_normal(n)])
