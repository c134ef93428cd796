"""Sets of one turning face each, which lie on a curve and not near a plane, against sets under changing light."""

from functools import partial
from typing import Any

import numpy as np
from scipy import ndimage

from benchmarks.suite.data import load
from benchmarks.suite.objectives.mutual_subspace import BATCH, SEEDS, Sets, by, drawn, means
from benchmarks.suite.plan import Objective, Solver


def turning_sets(parts: int, seed: int, size: int = 16) -> Sets:
    """Return sets of one face each, turned by any angle, and cut so that the corners do not show."""
    faces, rng = load("yaleb"), np.random.default_rng(seed)
    people, first = np.unique(faces.y, return_index=True)
    sets: list[np.ndarray] = []
    for face in faces.X[first].reshape(len(people), 32, 32) / 255.0:
        for _ in range(parts):
            turned = [ndimage.rotate(face, angle, reshape=False, order=1) for angle in rng.uniform(-180, 180, size)]
            images = np.array(turned)[:, 5:27, 5:27].reshape(size, -1)
            sets.append(images / np.linalg.norm(images, axis=1, keepdims=True))
    return sets, np.repeat(people, parts)


def areas(given: list[Sets], runs: Any) -> dict[str, float]:
    """Return the areas, and how much of a set five linear dimensions hold."""
    squares = [np.linalg.svd(one, compute_uv=False) ** 2 for sets, _ in given for one in sets]
    held = float(np.mean([values[:5].sum() / values.sum() for values in squares]))
    found = {name: value for name, value in means(given, runs).items() if name.startswith("area")}
    return {**found, "held by five dimensions, %": 100 * held}


OBJECTIVE = Objective(
    name="mutual_subspace_turning",
    question="does a kernel help where the images of a set turn, and where their light changes?",
    datasets={
        "light, shuffled": partial(drawn, 4, True),
        "turning": lambda: [turning_sets(4, seed) for seed in range(SEEDS)],
    },
    solvers=[
        Solver("linear: mutual subspace method", by(**BATCH, kernel="linear"), peer=True),
        *(Solver(f"mercer, gamma={gamma}", by(**BATCH, gamma=gamma)) for gamma in (0.1, 1, 3)),
    ],
    quality=areas,
    rounds=0,
    default=False,
)
