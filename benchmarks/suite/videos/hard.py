"""Harder videos with true boxes: one difficulty each, objects 40 to 200 pixels wide, from two stocks of pictures.

Each function takes a generator and a stock. The same seed and stock give the same video.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage

from benchmarks.suite.videos.scenes import Random, Video, ball, faded, smooth, soft
from benchmarks.suite.videos.stock import Stock

_MARGIN = 0.15  # of the frame, that the camera may move


@dataclass
class Plan:
    """What a video is made of; see `filmed`."""

    back: np.ndarray  # (height, width) of a picture larger than the frame by the margin on each side
    skins: np.ndarray  # (n or 1, rows, columns), what the object looks like
    cover: np.ndarray  # (rows, columns), its opacity
    size: tuple[float, float]  # width and height of its box in pixels, at scale 1
    path: np.ndarray  # (n, 4), centre x, y, scale and turn
    shape: tuple[int, int]  # of a frame
    camera: np.ndarray | None = None  # (n, 2), shift of the background in x and y, in pixels
    gains: np.ndarray | None = None  # (n,), light
    slopes: np.ndarray | None = None  # (n,), change of the light from the left to the right border, relative
    over: list[tuple[int, np.ndarray, np.ndarray, tuple[float, float]]] = field(default_factory=list)
    noise: float = 3.0


def filmed(rng: Random, plan: Plan) -> Video:
    """Return the frames and the true boxes; `over` has frame, picture, state and size of what hides the object."""
    n, (height, width) = len(plan.path), plan.shape
    camera = np.zeros((n, 2)) if plan.camera is None else plan.camera
    gains, slopes = (
        (np.ones(n) if plan.gains is None else plan.gains),
        (plan.slopes if plan.slopes is not None else np.zeros(n)),
    )
    across = np.linspace(-0.5, 0.5, width)
    frames = np.empty((n, height, width), np.uint8)
    for k in range(n):
        frame = _window(plan.back, camera[k], plan.shape)
        _put(frame, plan.skins[k % len(plan.skins)], plan.cover, plan.path[k], plan.size)
        for at, picture, state, size in plan.over:
            if at == k:
                _put(frame, picture, soft(picture.shape), state, size)
        frame = frame * gains[k] * (1 + slopes[k] * across) + plan.noise * rng.standard_normal(plan.shape)
        frames[k] = np.clip(frame, 0, 255)
    extent = plan.path[:, 2:3] * np.array([plan.size])
    return frames, np.column_stack([plan.path[:, :2] - 0.5 * extent, extent])


def _window(back: np.ndarray, shift: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return what the camera sees of the background."""
    start = [0.5 * (a - b) - s for a, b, s in zip(back.shape, shape, shift[::-1], strict=True)]
    if not np.any(shift):
        top, left = (int(s) for s in start)
        return back[top : top + shape[0], left : left + shape[1]].copy()
    affine = ndimage.affine_transform(back, np.ones(2), start, output_shape=shape, order=1, mode="mirror")
    return np.asarray(affine)


def _put(frame: np.ndarray, skin: np.ndarray, cover: np.ndarray, state: np.ndarray, size: tuple[float, float]) -> None:
    """Paint an object into a frame, where it can be; detail too fine for its size in the frame is removed first."""
    reach = 0.5 * state[2] * np.hypot(*size) + 2
    top, left = (int(max(state[i] - reach, 0)) for i in (1, 0))
    bottom, right = (int(min(state[i] + reach, side)) for i, side in ((1, frame.shape[0]), (0, frame.shape[1])))
    if top >= bottom or left >= right:
        return
    step = [a / (state[2] * b) for a, b in zip(skin.shape, size[::-1], strict=True)]
    sigma = [0.4 * s if s > 1 else 0.0 for s in step]
    skin = ndimage.gaussian_filter(skin, sigma) if max(sigma) > 0 else skin
    down, across = np.mgrid[top:bottom, left:right] + 0.5
    dx, dy = (across - state[0]) / state[2], (down - state[1]) / state[2]
    u = (np.cos(state[3]) * dx + np.sin(state[3]) * dy) / size[0]
    v = (np.cos(state[3]) * dy - np.sin(state[3]) * dx) / size[1]
    places = [(v + 0.5) * skin.shape[0] - 0.5, (u + 0.5) * skin.shape[1] - 0.5]
    over = ndimage.map_coordinates(cover, [(v + 0.5) * cover.shape[0] - 0.5, (u + 0.5) * cover.shape[1] - 0.5], order=1)
    part = frame[top:bottom, left:right]
    part += over * (ndimage.map_coordinates(skin, places, order=1, mode="nearest") - part)


# -- what most videos have in common ---------------------------------------------------------------------------------


def usual(
    rng: Random, stock: Stock, n: int, skins: np.ndarray, power: float = 8.0, wide: tuple[float, float] = (40, 200)
) -> Plan:
    """Return a plan with an object of some width in a frame three to five times as wide, that moves slowly."""
    w = float(np.exp(rng.uniform(*np.log(wide))))
    size = (w, w * rng.uniform(0.8, 1.25))
    width = int(np.clip(w * rng.uniform(2.6, 4.2), 120, 480))
    shape = (int(width * rng.uniform(0.7, 0.8)), width)
    room = tuple(int(side * (1 + 2 * _MARGIN)) for side in shape)
    return Plan(
        stock.piece(rng, (room[0], room[1])), skins, soft(skins.shape[1:], power), size, way(rng, n, shape, size), shape
    )


def way(
    rng: Random,
    n: int,
    shape: tuple[int, int],
    size: tuple[float, float],
    speed: float = 0.025,
    scale: tuple[float, float] = (0.85, 1.15),
) -> np.ndarray:
    """Return a path; `speed` is the mean step per frame, relative to the object."""
    step = ndimage.gaussian_filter1d(rng.standard_normal((n, 2)), 5, axis=0)
    step *= speed * size[0] / np.linalg.norm(step, axis=1).mean()
    half = 0.55 * np.array(size) * max(scale)
    room = np.maximum(np.array(shape[::-1]) - 2 * half, 1.0)
    places = rng.uniform(0, room) + np.cumsum(step, axis=0)
    centres = half + room - np.abs(np.mod(places, 2 * room) - room)
    return np.column_stack([centres, np.exp(smooth(rng, n, *np.log(scale), 25.0)), smooth(rng, n, -0.15, 0.15, 25.0)])


# -- the difficulties ------------------------------------------------------------------------------------------------


def sized(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object that grows to twice its size, or shrinks to half of it."""
    plan = usual(rng, stock, n, stock.skin(rng)[None], wide=(50, 160))
    curve = smooth(rng, n, 0.0, 0.25, 20.0) + 0.75 * np.linspace(0, 1, n)
    sizes = 2.0 ** (curve - curve[0] if rng.random() < 0.5 else curve[0] - curve) * 1.0
    limit = 0.9 * min(plan.shape[1] / plan.size[0], plan.shape[0] / plan.size[1])
    plan.path[:, 2] = np.minimum(sizes, limit)
    half = 0.5 * plan.path[:, 2:3] * np.array([plan.size])
    plan.path[:, :2] = np.clip(plan.path[:, :2], half, np.array(plan.shape[::-1]) - half)
    return filmed(rng, plan)


def lit(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object, or a face, in light that changes in steps and comes from another side."""
    face = rng.random() < 0.5
    skins = faded(stock.person(rng, 14), n) if face else stock.skin(rng)[None]
    plan = usual(rng, stock, n, skins, wide=(40, 120))
    plan.gains, plan.slopes = np.ones(n), smooth(rng, n, -0.9, 0.9, 12.0)
    for at in rng.integers(10, n - 5, 5):
        plan.gains[at:] = rng.uniform(0.4, 1.5)
    plan.gains = ndimage.gaussian_filter1d(plan.gains, 0.7)
    return filmed(rng, plan)


def partly(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object behind things that hide up to half of it."""
    plan = usual(rng, stock, n, stock.skin(rng)[None], wide=(40, 140))
    for start in (np.array([0.2, 0.5, 0.8]) * n).astype(int):
        picture, side = stock.piece(rng, (48, 48), (0.1, 0.3)), rng.choice([-1, 1])
        for k in range(start, min(start + 26, n)):
            share = side * (0.5 + 0.6 * abs(np.cos(np.pi * (k - start) / 26)))  # of the width, beside the centre
            at = plan.path[k] + [plan.size[0] * plan.path[k, 2] * share * 1.0, 0, 0, 0]
            plan.over.append((k, picture, at, (plan.size[0], 1.4 * plan.size[1])))
    return filmed(rng, plan)


def shaken(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object before a camera that shakes."""
    plan = usual(rng, stock, n, stock.skin(rng)[None], wide=(40, 140))
    jitter = np.clip(ndimage.gaussian_filter1d(rng.standard_normal((n, 2)), 0.6, axis=0), -2, 2)
    plan.camera = jitter * min(0.06 * plan.size[0], 0.4 * _MARGIN * min(plan.shape))
    plan.path[:, :2] += plan.camera
    return filmed(rng, plan)


def turning(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object on a ball that turns to the sides and back."""
    picture = stock.thing(rng) if rng.random() < 0.6 else stock.skin(rng, (144, 144))
    skins = ball(picture, smooth(rng, n, -0.8, 0.8, 16.0), smooth(rng, n, -0.3, 0.3, 16.0), 96)
    return filmed(rng, usual(rng, stock, n, skins, 2.5, (40, 120)))


def bending(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object that bends, and slowly becomes another."""
    first, last = stock.skin(rng), stock.skin(rng)
    down, across = np.mgrid[0:96, 0:96].astype(float)
    waves = [[smooth(rng, n, -7, 7, 10.0) for _ in range(4)] for _ in range(2)]
    shapes = [
        np.sin(np.pi * across / 96),
        np.cos(np.pi * across / 96),
        np.sin(np.pi * down / 96),
        np.cos(np.pi * down / 96),
    ]
    skins = []
    for k in range(n):
        dx, dy = (sum(wave[k] * shape for wave, shape in zip(one, shapes, strict=True)) for one in waves)
        share = 0.6 * k / n
        skins.append(
            ndimage.map_coordinates(
                (1 - share) * first + share * last, [down + dy, across + dx], order=1, mode="nearest"
            )
        )
    return filmed(rng, usual(rng, stock, n, np.array(skins), wide=(40, 120)))


def faint(rng: Random, stock: Stock, n: int = 140) -> Video:
    """An object of little contrast in front of a background of little contrast, with noise."""
    skin = stock.skin(rng)
    plan = usual(rng, stock, n, (120 + 0.22 * (skin - skin.mean()) * 40 / skin.std() * 1.5)[None], wide=(40, 140))
    plan.back = 110 + 0.35 * (plan.back - plan.back.mean())
    plan.noise = 4.0
    return filmed(rng, plan)


def driven(rng: Random, stock: Stock, n: int = 300) -> Video:
    """Something in a wide frame, far and near, while the background runs by; the light falls and returns."""
    shape = (int(rng.uniform(80, 130)), int(rng.uniform(170, 240)))
    w = rng.uniform(40, 60)
    size = (w, w * rng.uniform(0.7, 0.9))
    room = (int(shape[0] * 1.6), int(shape[1] * 2.2))
    path = way(rng, n, shape, size, 0.01, (0.6, 1.05))
    path[:, 3] *= 0.2
    plan = Plan(stock.piece(rng, room, (0.5, 0.95)), stock.skin(rng, (64, 80))[None], soft((64, 80)), size, path, shape)
    speed = smooth(rng, n, 0.2, 1.5, 20.0) * rng.choice([-1, 1])
    reach = np.array([0.28 * shape[1], 0.28 * shape[0]])
    run = np.cumsum(speed)
    plan.camera = np.column_stack([reach[0] * np.sin(run / reach[0]), 0.3 * reach[1] * np.sin(run / 17)])
    plan.gains, plan.slopes = np.ones(n), smooth(rng, n, -0.5, 0.5, 15.0)
    start = int(rng.uniform(0.3, 0.5) * n)
    plan.gains[start : start + 40] = rng.uniform(0.35, 0.6)
    plan.gains[start + 60 : start + 75] = rng.uniform(0.5, 0.8)
    return filmed(rng, plan)


KINDS: tuple[Callable[..., Video], ...] = (sized, lit, partly, shaken, turning, bending, faint, driven)


def gone(rng: Random, stock: Stock, n: int = 100) -> tuple[Video, np.ndarray]:
    """An object that is hidden altogether for 20 frames; the video, and whether it is hidden in each frame."""
    plan = usual(rng, stock, n, stock.skin(rng)[None], wide=(40, 100))
    picture, start = stock.piece(rng, (48, 48), (0.1, 0.3)), n // 2
    at = plan.path[start + 10].copy()
    at[2:] = 1.0, 0.0
    drift = np.abs(plan.path[start : start + 20, :2] - at[:2]).max(axis=0)
    size = (1.3 * plan.size[0] + 2 * drift[0], 1.3 * plan.size[1] + 2 * drift[1])
    plan.over = [(k, picture, at, size) for k in range(start, start + 20)]
    hidden = np.zeros(n, bool)
    hidden[start : start + 20] = True
    return filmed(rng, plan), hidden


def made(kind: Callable[..., Video], seed: int, stock: Stock) -> Video:
    """Return a video of a kind."""
    return kind(np.random.default_rng([seed, *kind.__name__.encode()]), stock)


def videos(seeds: list[int], stock: Stock) -> dict[str, list[Video]]:
    """Return a video of every kind for each seed; CannotRunError if the pictures are missing."""
    return {kind.__name__: [made(kind, seed, stock) for seed in seeds] for kind in KINDS}
