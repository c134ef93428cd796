"""Rows for tests of selections: a noisy curve, which needs a kernel, and rows near a plane, which need none."""

import numpy as np


def curve(n: int = 200, noise: float = 0.1, seed: int = 0) -> np.ndarray:
    """A closed curve in eight dimensions that no plane is near to, with noise."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    clean = np.column_stack([np.sin(k * angle + k) for k in range(1, 9)])
    return clean + noise * rng.standard_normal(clean.shape)


def low_rank(n: int = 200, rank: int = 3, d: int = 12, noise: float = 0.1, seed: int = 0) -> np.ndarray:
    """Rows near a plane of this rank."""
    rng = np.random.default_rng(seed)
    clean = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return clean + noise * rng.standard_normal(clean.shape)
