"""Videos with true boxes, to choose and to test a tracker: real objects pasted into real photographs, and moved.

The objects are real: faces of a video (Frey), faces under changing light (Yale B), handwritten digits, and photographs,
flat or on a ball that turns. They move over photographs, grow, shrink, turn, are hidden, blurred or lit differently.
Each function takes a generator and the number of frames; the same seed gives the same video. They need scikit-image for
its photographs and, those with faces or digits, the folder of data sets.
"""

from collections.abc import Callable

import numpy as np
from scipy import ndimage

from benchmarks.suite.videos.scenes import (
    HEIGHT,
    WIDTH,
    Random,
    Video,
    anywhere,
    ball,
    chain,
    crop,
    faded,
    film,
    ground,
    lit_faces,
    paste,
    real,
    smooth,
    soft,
    states,
    texture,
)

_THINGS = {  # photograph, centre (row, column) and radius of something that fills a disc
    "astronaut": (115, 222, 62),
    "camera": (120, 245, 70),
    "chelsea": (120, 215, 95),
    "coffee": (180, 265, 130),
    "coins": (210, 40, 30),
}


def frey(rng: Random, n: int) -> Video:
    """A face of a video, with changing expressions."""
    X = real("frey").X.reshape(-1, 28, 20)
    faces = X[(start := int(rng.integers(len(X) - n))) : start + n].astype(float)
    return film(rng, ground(rng, n, 10), faces, soft((28, 20))[None], states(rng, n, 1.0), (30, 42))


def far(rng: Random, n: int) -> Video:
    """Such a face that comes nearer and moves away, from 0.4 to 1.5 of its size, with noise."""
    X = real("frey").X.reshape(-1, 28, 20)
    faces = X[(start := int(rng.integers(len(X) - n))) : start + n].astype(float)
    path = states(rng, n, 0.6, (0.4, 1.5), 0.15)
    path = path if path[0, 2] > path[-1, 2] else path[::-1]  # the video starts where the face is larger
    return film(rng, ground(rng, n), faces, soft((28, 20))[None], path, (28, 39), noise=6.0)


def light(rng: Random, n: int) -> Video:
    """A face whose light changes strongly."""
    faces = faded(lit_faces(rng, int(rng.integers(1, 39)), 30), n)
    return film(rng, ground(rng, n, 15), faces, soft((32, 32))[None], states(rng, n, 1.2), (36, 36))


def people(rng: Random, n: int) -> Video:
    """A face that turns into those of others."""
    some = [lit_faces(rng, int(one), 4) for one in rng.choice(np.arange(1, 39), 4, replace=False)]
    faces = faded(np.concatenate(some), n)
    return film(rng, ground(rng, n), faces, soft((32, 32))[None], states(rng, n, 0.8, (0.6, 1.3)), (36, 36))


def crowd(rng: Random, n: int) -> Video:
    """A face among other faces that stand still."""
    others, back = rng.permutation(np.arange(1, 39))[:7], ground(rng, n)[0]
    for one in others[1:]:
        at = np.array([rng.uniform(15, WIDTH - 15), rng.uniform(15, HEIGHT - 15), rng.uniform(0.7, 1.2), 0.0])
        back = paste(back, lit_faces(rng, int(one), 1)[0], soft((32, 32)), at, (34, 34))
    faces = faded(lit_faces(rng, int(others[0]), 12), n)
    path = states(rng, n, 0.8, (0.8, 1.2), 0.15)
    return film(rng, np.broadcast_to(back, (n, *back.shape)), faces, soft((32, 32), 3)[None], path, (34, 34))


def digits(rng: Random, n: int) -> Video:
    """A handwritten digit in white that becomes another of its kind; the background is visible between its strokes."""
    mnist = real("mnist")
    kind = mnist.X[mnist.y == rng.integers(10)].reshape(-1, 28, 28)[:400].astype(float)
    strokes = faded(chain(kind, int(rng.integers(len(kind))), 12), n)[:, 2:26, 2:26] / 255
    return film(rng, 0.6 * ground(rng, n), np.full((n, 24, 24), 240.0), strokes, states(rng, n, 0.8), (36, 36))


def card(rng: Random, n: int) -> Video:
    """A piece of a photograph that tilts out of its plane."""
    skin = np.broadcast_to(texture(rng), (n, 48, 48))
    path, shears = states(rng, n, 1.2, turn=0.5), smooth(rng, n, -0.35, 0.35, 12.0)
    return film(rng, ground(rng, n, 10), skin, soft((48, 48))[None], path, (36, 40), shears, light=0.3)


def head(rng: Random, n: int) -> Video:
    """An object on a ball that turns to the sides and back."""
    name = str(rng.choice(list(_THINGS)))
    row, column, radius = _THINGS[name]
    picture = crop(name, (row, column), 2.6 * radius, (72, 72))
    yaw, pitch = smooth(rng, n, -0.8, 0.8, 14.0), smooth(rng, n, -0.35, 0.35, 14.0)
    skins = ball(picture, yaw, pitch)
    return film(rng, ground(rng, n, 10, name), skins, soft((48, 48), 2.5)[None], states(rng, n, 1.0), (36, 36))


def globe(rng: Random, n: int) -> Video:
    """A ball covered with a photograph that rolls on, so that nothing of its first appearance remains."""
    yaw = np.cumsum(smooth(rng, n, 0.005, 0.03, 20.0)) * rng.choice([-1, 1])
    skins = ball(np.kron(texture(rng), np.ones((2, 2))), yaw, smooth(rng, n, -0.3, 0.3, 20.0))
    return film(rng, ground(rng, n), skins, soft((48, 48), 2)[None], states(rng, n, 0.8, (0.6, 1.4)), (38, 38))


def hidden(rng: Random, n: int) -> Video:
    """A face or a piece of a photograph that passes behind something, four times, half of it or more."""
    skin = texture(rng)
    if rng.random() < 0.5:
        skin = ndimage.zoom(lit_faces(rng, int(rng.integers(1, 39)), 1)[0], 1.5, order=1)
    path, over = states(rng, n, 0.8), anywhere(rng, (80, 200), (48, 48))
    frames, boxes = film(rng, ground(rng, n), np.broadcast_to(skin, (n, 48, 48)), soft((48, 48))[None], path, (36, 38))
    for start in (np.linspace(0.15, 0.85, 4) * n).astype(int):
        way = np.linspace(-1.2, 1.2, 24) * rng.choice([-1, 1])
        for k, share in enumerate(way, start):
            if k < n:
                at = path[k] + [36 * path[k, 2] * share, 4.0, 0, 0]
                frames[k] = np.clip(paste(frames[k].astype(float), over, soft((48, 48)), at, (22, 50)), 0, 255)
    return frames, boxes


def quick(rng: Random, n: int) -> Video:
    """A piece of a photograph that moves fast, sometimes with a jerk, and is blurred by the motion."""
    skin = np.broadcast_to(texture(rng), (n, 48, 48))
    path = states(rng, n, 2.0, (0.8, 1.2), 0.3, jumps=5)
    return film(rng, ground(rng, n), skin, soft((48, 48), 4)[None], path, (36, 36), blur=True)


KINDS: tuple[Callable[[Random, int], Video], ...] = (
    frey,
    far,
    light,
    people,
    crowd,
    digits,
    card,
    head,
    globe,
    hidden,
    quick,
)


def made(kind: Callable[[Random, int], Video], seed: int, n: int = 160) -> Video:
    """Return a video of a kind."""
    return kind(np.random.default_rng([seed, *kind.__name__.encode()]), n)


def videos(seeds: list[int], n: int = 160) -> dict[str, list[Video]]:
    """Return a video of every kind for each seed; CannotRunError if the pictures are missing."""
    return {kind.__name__: [made(kind, seed, n) for seed in seeds] for kind in KINDS}
