"""A textured patch that moves over a textured background, grows, turns, changes its light and becomes another patch."""

import numpy as np
from scipy import ndimage

from benchmarks.suite.videos.scenes import Video


def made_up(seed: int, n: int = 200) -> Video:
    """Return a video of a seed."""
    rng = np.random.default_rng(seed)

    def texture(h: int, w: int, *scales: float) -> np.ndarray:
        picture = sum(k * ndimage.gaussian_filter(rng.standard_normal((h, w)), k) for k in scales)
        return np.asarray(30 + 190 * (picture - picture.min()) / np.ptp(picture))

    ground, first, last = texture(120, 160, 2, 5, 10), texture(48, 48, 1.5, 4), texture(48, 48, 1.5, 4)
    t, (a, b, c) = np.arange(n) / n, rng.uniform(0, 2 * np.pi, 3)
    x, y = 80 + 42 * np.sin(8 * t + a), 60 + 26 * np.sin(6 * t + b)
    size, turn, light = 1 + 0.3 * np.sin(5 * t), 0.4 * np.sin(7 * t), 1 + 0.4 * np.sin(9 * t + c)
    down, across = np.mgrid[0:120, 0:160] + 0.5
    frames = np.empty((n, 120, 160))
    for k in range(n):
        dx, dy = across - x[k], down - y[k]
        u = (np.cos(turn[k]) * dx + np.sin(turn[k]) * dy) / size[k]
        v = (np.cos(turn[k]) * dy - np.sin(turn[k]) * dx) / size[k]
        skin = (1 - t[k]) * first + t[k] * last
        painted = ndimage.map_coordinates(skin, [v + 23.5, u + 23.5], order=1) * (1 + 0.8 * np.sin(6 * t[k]) * u / 32)
        inside = (np.abs(u) < 16) & (np.abs(v) < 18)
        frames[k] = np.where(inside, painted, ground) * light[k] + 4 * rng.standard_normal((120, 160))
    boxes = np.column_stack([x - 16 * size, y - 18 * size, 32 * size, 36 * size])
    return np.clip(frames, 0, 255).astype(np.uint8), boxes
