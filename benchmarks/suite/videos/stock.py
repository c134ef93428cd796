"""Pictures for videos of trackers in two stocks that share none: one to choose settings with, one to judge them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_sample_image

from benchmarks.suite.peers import need
from benchmarks.suite.videos.scenes import Random, lit_faces, photo

_ELSEWHERE = {"china": "china.jpg", "flower": "flower.jpg"}  # photographs of scikit-learn


@dataclass(frozen=True)
class Stock:
    """Photographs, something round in some of them (row, column, radius), and people of Yale B."""

    photos: tuple[str, ...]
    things: Mapping[str, tuple[int, int, int]]
    people: range

    def piece(self, rng: Random, shape: tuple[int, int], share: tuple[float, float] = (0.35, 0.9)) -> np.ndarray:
        """Return a part of some photograph, `share` of its smaller side high, as a picture of this shape."""
        picture = grey(str(rng.choice(self.photos)))
        height = rng.uniform(*share) * min(picture.shape[0], picture.shape[1] * shape[0] / shape[1])
        width = height * shape[1] / shape[0]
        centre = [rng.uniform(0.5 * b, a - 0.5 * b) for a, b in zip(picture.shape, (height, width), strict=True)]
        return resampled(picture, (centre[0], centre[1]), height, shape)

    def skin(self, rng: Random, shape: tuple[int, int] = (96, 96)) -> np.ndarray:
        """Return a piece of a photograph that is not uniform."""
        while True:
            piece = self.piece(rng, shape, (0.12, 0.3))
            if ndimage.gaussian_filter(piece, 4.0).std() > 18:
                return piece

    def thing(self, rng: Random, shape: tuple[int, int] = (144, 144)) -> np.ndarray:
        """Return something round with what is beside it."""
        name = str(rng.choice(list(self.things)))
        row, column, radius = self.things[name]
        return resampled(grey(name), (row, column), 2.6 * radius, shape)

    def person(self, rng: Random, count: int) -> np.ndarray:
        """Return faces of one person under changing light, (count, 32, 32)."""
        return lit_faces(rng, int(rng.choice(self.people)), count)


@lru_cache
def grey(name: str) -> np.ndarray:
    """Return a photograph of scikit-image, scikit-learn or matplotlib as grey values from 0 to 255."""
    if name in _ELSEWHERE:
        return np.asarray(load_sample_image(_ELSEWHERE[name]).astype(float) @ [0.299, 0.587, 0.114])
    if name == "hopper":
        cbook = need("matplotlib.cbook", "matplotlib")
        with cbook.get_sample_data("grace_hopper.jpg") as file:
            picture = need("PIL.Image", "pillow").open(file).convert("L")
            return np.asarray(picture, float)
    if name == "motorcycle":
        return np.asarray(
            need("skimage.data", "scikit-image").stereo_motorcycle()[0].astype(float) @ [0.299, 0.587, 0.114]
        )
    return photo(name)


def resampled(picture: np.ndarray, centre: tuple[float, float], height: float, shape: tuple[int, int]) -> np.ndarray:
    """Return a part of a picture around a centre (row, column), without detail that the new grid is too coarse for."""
    step = height / shape[0]
    blurred = ndimage.gaussian_filter(picture, 0.4 * step) if step > 1 else picture
    axes = [
        (np.arange(side) + 0.5 - 0.5 * side) * step + middle - 0.5 for side, middle in zip(shape, centre, strict=True)
    ]
    return np.asarray(ndimage.map_coordinates(blurred, np.meshgrid(*axes, indexing="ij"), order=1, mode="mirror"))


CHOOSING = Stock(
    photos=("astronaut", "brick", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "moon", "rocket"),
    things={
        "astronaut": (115, 222, 62),
        "camera": (120, 245, 70),
        "chelsea": (120, 215, 95),
        "coffee": (180, 265, 130),
    },
    people=range(1, 20),
)
JUDGING = Stock(
    photos=("china", "flower", "motorcycle", "hopper", "immunohistochemistry", "retina", "clock"),
    things={"hopper": (170, 275, 110), "flower": (200, 330, 130), "motorcycle": (330, 380, 90)},
    people=range(20, 39),
)
