"""Substitutes for the data of the papers at small sizes: from scikit-learn's own data, or computed by a formula.

They have the shapes and ranges of the real sets, so that every experiment can run. Their results are not compared with
a paper.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import affine_transform, zoom
from sklearn import datasets as bundled
from sklearn.utils import Bunch

_FRAMES = 471


@dataclass(frozen=True)
class StandIn:
    """A substitute for a data set: its description, and the function that makes it."""

    what: str
    make: Callable[[], Mapping[str, Any]]

    def load(self) -> Bunch:
        """Return it in the form of `mercer.datasets.load`."""
        return Bunch(source=self.what, substitute=True, **self.make())


def _photograph(name: str, shape: tuple[int, int]) -> Any:
    """Return a photograph of scikit-learn's in grey, its middle stretched to a shape."""
    grey = bundled.load_sample_image(name).astype(np.float64).mean(axis=2)
    rows, columns = grey.shape
    across = min(columns, round(rows * shape[1] / shape[0]))
    part = grey[:, (columns - across) // 2 :][:, :across]
    larger = zoom(part, (shape[0] / part.shape[0], shape[1] / part.shape[1]), order=1)
    return np.clip(larger, 0, 255).astype(np.uint8)


def _threes(n: int = 2000) -> Mapping[str, Any]:
    digits = bundled.load_digits()
    large = [zoom(one, 3.5, order=1) * (255 / 16) for one in digits.images[digits.target == 3]]
    rng = np.random.default_rng(0)

    def moved(image: Any) -> Any:
        angle, shift = 0.15 * rng.standard_normal(), 1.2 * rng.standard_normal(2)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return affine_transform(image, turn, 13.5 - turn @ (13.5 + shift), order=1)

    X = np.array([moved(large[k % len(large)]) for k in range(n)]).astype(np.uint8)
    return {"X": X, "y": np.full(n, 3)}


def _wandering(rng: np.random.Generator, n: int, count: int, pace: float = 0.1) -> Any:
    """Return `count` smooth random paths of n steps with variance one, (n, count)."""
    paths = np.zeros((n, count))
    for step in range(1, n):
        paths[step] = (1 - pace) * paths[step - 1] + rng.standard_normal(count)
    return paths / paths.std(axis=0)


def _faces_that_move(n: int = 1965) -> Mapping[str, Any]:
    rng = np.random.default_rng(0)
    v, u = np.mgrid[-1.0:1.0:28j, -0.75:0.75:20j]
    X = np.empty((n, 560))
    for row, (across, up, mouth, smile, gaze) in zip(X, _wandering(rng, n, 5), strict=True):
        x, y = u - 0.06 * across, v - 0.06 * up
        face = 190 * np.exp(-((x / 0.75) ** 4) - (y / 1.05) ** 4)
        for side in (-1, 1):
            face -= 90 * np.exp(-(((x - 0.3 * side) / 0.13) ** 2) - ((y + 0.25) / 0.08) ** 2)
            face += 60 * np.exp(-(((x - 0.3 * side - 0.04 * gaze) / 0.04) ** 2) - ((y + 0.25) / 0.05) ** 2)
        line = y - 0.5 + 0.4 * smile * (x**2 - 0.05)
        face -= 100 * np.exp(-((x / 0.3) ** 4) - (line / (0.07 + 0.03 * abs(mouth))) ** 2)
        row[:] = (face + 30 + 3 * rng.standard_normal(face.shape)).ravel()
    return {"X": np.clip(X, 0, 255).astype(np.uint8)}


def _reliefs_under_lights(people: int = 38, lights: int = 64) -> Mapping[str, Any]:
    """Return images of bumpy balls, lit by Lambert's law from directions on a grid."""
    rng = np.random.default_rng(0)
    v, u = np.mgrid[-1.0:1.0:32j, -1.0:1.0:32j]
    across, up = np.meshgrid(np.linspace(-1.6, 1.6, 8), np.linspace(-1.0, 1.0, 8))
    directions = np.stack([across.ravel(), up.ravel(), np.ones(lights)])
    directions /= np.linalg.norm(directions, axis=0)
    images = []
    for _ in range(people):
        height = np.sqrt(np.maximum(0.0, 1.6 - u**2 - v**2))
        for x, y, size in zip(*rng.uniform(-0.7, 0.7, (2, 12)), rng.normal(0, 0.25, 12), strict=True):
            height = height + size * np.exp(-((u - x) ** 2 + (v - y) ** 2) / 0.05)
        down, right = np.gradient(height, 2 / 31)
        normals = np.stack([-right, -down, np.ones_like(height)])
        normals /= np.linalg.norm(normals, axis=0)
        light = np.maximum(0.0, np.einsum("kij,kl->lij", normals, directions))
        images.append(220 * light + 3 * rng.standard_normal(light.shape))
    X = np.clip(np.concatenate(images), 0, 255).astype(np.uint8)
    return {"X": X, "y": np.repeat(np.arange(1, people + 1), lights)}


def _curves(each: int = 400, points: int = 150) -> Mapping[str, Any]:
    rng = np.random.default_rng(0)
    place = np.linspace(0.0, 1.0, points)
    waves = np.sin(np.pi * np.outer(np.arange(1, 9), place)) / np.arange(1, 9)[:, None]
    means = 11 + 4 * rng.standard_normal((5, 8)) @ waves
    X = np.repeat(means, each, axis=0) + 1.5 * rng.standard_normal((5 * each, 8)) @ waves
    return {"X": X + 1.5 * rng.standard_normal(X.shape), "y": np.repeat(np.arange(1, 6), each)}


# a walking figure: joint, the joint it is attached to, length of the bone, angle at rest, swing, phase
_LIMBS = (
    ("spine", 0, 8.0, np.pi, 0.03, 0.0),
    ("neck", 1, 5.0, np.pi, 0.03, 0.0),
    ("head", 2, 3.0, np.pi, 0.05, 0.0),
    ("left thigh", 0, 7.0, 0.05, 0.45, 0.0),
    ("left shin", 4, 7.0, -0.35, 0.50, -0.9),
    ("left foot", 5, 2.5, 1.4, 0.35, -0.5),
    ("right thigh", 0, 7.0, 0.05, 0.45, np.pi),
    ("right shin", 7, 7.0, -0.35, 0.50, np.pi - 0.9),
    ("right foot", 8, 2.5, 1.4, 0.35, np.pi - 0.5),
    ("left arm", 2, 5.0, 0.0, 0.40, np.pi),
    ("left hand", 10, 4.5, 0.3, 0.50, np.pi - 0.4),
    ("right arm", 2, 5.0, 0.0, 0.40, 0.0),
    ("right hand", 12, 4.5, 0.3, 0.50, -0.4),
)


def _walk(n: int = 358) -> Mapping[str, Any]:
    rng = np.random.default_rng(0)
    step = 2 * np.pi * np.arange(n) / 130 + 0.1 * np.cumsum(rng.standard_normal(n)) / np.sqrt(n)
    joints = [np.stack([0.3 * np.sin(step), 17 + 0.4 * np.cos(2 * step), 4.0 * step], axis=1)]
    for name, parent, length, rest, swing, phase in _LIMBS:
        angle = rest + swing * np.sin(step + phase)
        side = {"left": 1.0, "right": -1.0}.get(name.split()[0], 0.0) * 0.3 * length
        tied = name.split()[-1] in ("thigh", "arm")
        bone = np.stack([np.full(n, side if tied else 0.0), -length * np.cos(angle), length * np.sin(angle)], axis=1)
        joints.append(joints[parent] + bone)
    names = np.array(["root", *(limb[0] for limb in _LIMBS)])
    return {
        "X": np.concatenate(joints, axis=1),
        "joint_names": names,
        "parents": np.array([-1, *(limb[1] for limb in _LIMBS)]),
    }


def _video(n: int = _FRAMES) -> Mapping[str, Any]:
    ground, thing = _photograph("china.jpg", (120, 160)), _photograph("flower.jpg", (39, 32))
    step = np.arange(n)
    x = (64 + 40 * np.sin(step / 60)).round().astype(int)
    y = (40 + 20 * np.sin(step / 43)).round().astype(int)
    frames = np.repeat(ground[None], n, axis=0)
    for frame, left, top, light in zip(frames, x, y, 0.75 + 0.25 * np.cos(step / 80), strict=True):
        frame[top : top + 39, left : left + 32] = light * thing
    return {"X": frames, "boxes": np.stack([x, y, np.full(n, 32), np.full(n, 39)], axis=1).astype(np.float64)}


STAND_INS: dict[str, StandIn] = {
    "mnist3": StandIn('scikit-learn\'s digit "3", enlarged to 28 x 28, turned and shifted at random', _threes),
    "camera": StandIn(
        "scikit-learn's photograph china.jpg in grey, 512 x 512", lambda: {"X": _photograph("china.jpg", (512, 512))}
    ),
    "frey": StandIn("drawn faces that move, 28 x 20", _faces_that_move),
    "yaleb": StandIn("38 made reliefs under 64 lights, 32 x 32", _reliefs_under_lights),
    "phoneme": StandIn("made curves, five classes of 400", _curves),
    "mocap": StandIn("a made walk of 14 joints", _walk),
    "david": StandIn("a photograph of a flower that moves over another photograph", _video),
}
