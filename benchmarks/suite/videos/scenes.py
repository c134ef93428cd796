"""Parts of videos for trackers: real pictures, paths through a frame, and an object pasted into it."""

from functools import lru_cache

import numpy as np
from scipy import ndimage
from sklearn.metrics import pairwise_distances
from sklearn.utils import Bunch

from benchmarks.suite.data import load
from benchmarks.suite.peers import need

Video = tuple[np.ndarray, np.ndarray]  # frames (n, height, width), boxes (n, 4)
Random = np.random.Generator

HEIGHT, WIDTH = 120, 160
_PHOTOS = ("astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "moon", "rocket")


@lru_cache
def real(name: str) -> Bunch:
    """Return a data set."""
    return load(name)


@lru_cache
def photo(name: str) -> np.ndarray:
    """Return a photograph as grey values from 0 to 255."""
    picture = np.asarray(getattr(need("skimage.data", "scikit-image"), name)(), float)
    return picture if picture.ndim == 2 else picture[..., :3] @ [0.299, 0.587, 0.114]


def crop(name: str, centre: tuple[float, float], side: float, shape: tuple[int, int]) -> np.ndarray:
    """Return a part of a photograph, resampled; `side` is its height in the photograph."""
    picture, step = photo(name), side / shape[0]
    blurred = ndimage.gaussian_filter(picture, 0.4 * step if step > 1 else 0.0)
    down = (np.arange(shape[0]) + 0.5 - 0.5 * shape[0]) * step + centre[0] - 0.5
    across = (np.arange(shape[1]) + 0.5 - 0.5 * shape[1]) * step + centre[1] - 0.5
    return np.asarray(
        ndimage.map_coordinates(blurred, np.meshgrid(down, across, indexing="ij"), order=1, mode="mirror")
    )


def anywhere(rng: Random, side: tuple[float, float], shape: tuple[int, int], without: str = "") -> np.ndarray:
    """Return a part of some photograph."""
    name = str(rng.choice([one for one in _PHOTOS if one != without]))
    height, width = photo(name).shape
    return crop(name, (rng.uniform(0.2, 0.8) * height, rng.uniform(0.2, 0.8) * width), rng.uniform(*side), shape)


def texture(rng: Random) -> np.ndarray:
    """Return a piece of a photograph that is not uniform."""
    while True:
        piece = anywhere(rng, (60, 140), (48, 48))
        if ndimage.gaussian_filter(piece, 2.0).std() > 20:
            return piece


def smooth(rng: Random, n: int, low: float, high: float, pace: float) -> np.ndarray:
    """Return a curve that varies between two values, and turns about every 2 * pace frames."""
    curve = ndimage.gaussian_filter1d(rng.standard_normal(n + 8 * int(pace)), pace)[4 * int(pace) :][:n]
    usual = (2 * np.sqrt(np.pi) * pace) ** -0.5  # standard deviation of white noise after the filter
    return np.asarray(low + (high - low) * (0.5 + 0.5 * np.tanh(curve / usual)))


def walk(rng: Random, n: int, step: float, jumps: int = 0) -> np.ndarray:
    """Return centres (n, 2) that move by `step` pixels per frame on average, and bounce off the borders."""
    speed = ndimage.gaussian_filter1d(rng.standard_normal((n, 2)), 4, axis=0)
    speed *= step / np.linalg.norm(speed, axis=1).mean()
    for at in rng.integers(15, n - 8, jumps):
        speed[at : at + 5] += rng.choice([-1, 1], 2) * rng.uniform(1.5, 2.5) * step
    low, room = np.array([24.0, 24.0]), np.array([WIDTH - 48.0, HEIGHT - 48.0])
    way = rng.uniform(0, room) + np.cumsum(speed, axis=0)
    return np.asarray(low + room - np.abs(np.mod(way, 2 * room) - room))


def states(
    rng: Random, n: int, step: float = 1.0, scale: tuple[float, float] = (0.8, 1.25), turn: float = 0.25, jumps: int = 0
) -> np.ndarray:
    """Return centre x, y, scale and turn of every frame, (n, 4)."""
    sizes = np.exp(smooth(rng, n, *np.log(scale), 25.0))
    return np.column_stack([walk(rng, n, step, jumps), sizes, smooth(rng, n, -turn, turn, 20.0)])


def soft(shape: tuple[int, int], power: float = 8.0, edge: float = 1.5) -> np.ndarray:
    """Return the opacity of an object: 1 within a rounded box (a large power) or an ellipse (2)."""
    v, u = (np.abs(np.linspace(-1, 1, side)) for side in shape)
    radius = (v[:, None] ** power + u[None] ** power) ** (1 / power)
    return np.asarray(np.clip((1 - radius) * min(shape) / 2 / edge + 0.2, 0, 1))


def ground(rng: Random, n: int, pan: float = 0.0, without: str = "") -> np.ndarray:
    """Return a photograph behind the thing, in every frame; the camera pans by this number of pixels in total."""
    wide = anywhere(rng, (150, 380), (HEIGHT + 40, WIDTH + 40), without)
    shift = np.column_stack([smooth(rng, n, 20 - pan, 20 + pan, 30.0) for _ in range(2)])
    corner = np.mgrid[0:HEIGHT, 0:WIDTH]
    if pan == 0:
        return np.broadcast_to(wide[20 : 20 + HEIGHT, 20 : 20 + WIDTH], (n, HEIGHT, WIDTH))
    return np.array([ndimage.map_coordinates(wide, corner + one[:, None, None], order=1) for one in shift])


def paste(
    frame: np.ndarray,
    skin: np.ndarray,
    cover: np.ndarray,
    state: np.ndarray,
    size: tuple[float, float],
    shear: float = 0.0,
) -> np.ndarray:
    """Return a frame with an object of a size (width, height) in it; `shear` narrows and slants the object."""
    down, across = np.mgrid[0 : frame.shape[0], 0 : frame.shape[1]] + 0.5
    dx, dy = (across - state[0]) / state[2], (down - state[1]) / state[2]
    u = (np.cos(state[3]) * dx + np.sin(state[3]) * dy) / size[0]
    v = (np.cos(state[3]) * dy - np.sin(state[3]) * dx) / size[1] + shear * u
    u = u * (1 + np.abs(shear) + 0.8 * shear * v)
    places = [(v + 0.5) * skin.shape[0] - 0.5, (u + 0.5) * skin.shape[1] - 0.5]
    over = ndimage.map_coordinates(cover, places, order=1)
    return np.asarray(frame + over * (ndimage.map_coordinates(skin, places, order=1, mode="nearest") - frame))


def film(
    rng: Random,
    back: np.ndarray,
    skins: np.ndarray,
    covers: np.ndarray,
    path: np.ndarray,
    size: tuple[float, float],
    shears: np.ndarray | None = None,
    noise: float = 3.0,
    light: float = 0.15,
    blur: bool = False,
) -> Video:
    """Return the video of an object on its path; `blur` is motion blur, `light` the change of brightness of all."""
    n = len(path)
    shears, lights = np.zeros(n) if shears is None else shears, 1 + smooth(rng, n, -light, light, 15.0)
    frames = np.empty((n, HEIGHT, WIDTH), np.uint8)
    for k in range(n):
        before = path[max(k - 1, 0)]
        shutter = [path[k] + share * (path[k] - before) for share in ((-0.5, -0.25, 0, 0.25, 0.5) if blur else (0,))]
        shown = [paste(back[k], skins[k], covers[k % len(covers)], at, size, shears[k]) for at in shutter]
        frame = np.mean(shown, axis=0) * lights[k] + noise * rng.standard_normal((HEIGHT, WIDTH))
        frames[k] = np.clip(frame, 0, 255)
    extent = path[:, 2:3] * np.array([size])
    return frames, np.column_stack([path[:, :2] - 0.5 * extent, extent])


def ball(picture: np.ndarray, yaw: np.ndarray, pitch: np.ndarray, side: int = 48) -> np.ndarray:
    """Return a picture that covers half a ball, as the ball turns, (n, side, side)."""
    v, u = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j]
    z = np.sqrt(np.clip(1 - u**2 - v**2, 0, 1))
    shown = []
    for a, b in zip(yaw, pitch, strict=True):
        down, depth = np.cos(b) * v + np.sin(b) * z, np.cos(b) * z - np.sin(b) * v
        longitude, latitude = np.arctan2(u, depth) + a, np.arcsin(np.clip(down, -1, 1))
        places = [(latitude / np.pi + 0.5) * picture.shape[0], (longitude / np.pi + 0.5) * picture.shape[1]]
        shown.append(ndimage.map_coordinates(picture, places, order=1, mode="mirror") * (0.6 + 0.4 * z))
    return np.array(shown)


def chain(pictures: np.ndarray, start: int, length: int) -> np.ndarray:
    """Return pictures in an order in which each is the nearest to the one before of those that are left."""
    distances, order = pairwise_distances(pictures.reshape(len(pictures), -1)), [start]
    while len(order) < min(length, len(pictures)):
        distances[:, order[-1]] = np.inf
        order.append(int(np.argmin(distances[order[-1]])))
    return pictures[order]


def faded(pictures: np.ndarray, n: int) -> np.ndarray:
    """Return n pictures, each of those given fading into the next."""
    at = np.linspace(0, len(pictures) - 1.001, n)
    share = (at % 1)[:, None, None]
    return np.asarray((1 - share) * pictures[at.astype(int)] + share * pictures[at.astype(int) + 1])


def lit_faces(rng: Random, subject: int, length: int) -> np.ndarray:
    """Return the faces of one person of Yale B in an order of changing light; the darkest ones are left out."""
    yale = real("yaleb")
    faces = yale.X[yale.y == subject].astype(float)
    faces = faces[faces.mean(axis=(1, 2)) > 30]
    return chain(faces, int(rng.integers(len(faces))), length)
