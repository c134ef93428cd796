"""Image sets of 38 faces distinguished by kernel subspaces [chin2007, sec. V-C2].

Every person's images are cut into sets; the first set of each is the reference, the others are unknown. "shuffled": at
random, so that all sets have all kinds of light. "in order": in the order of the files, so that sets differ in light.
Subspaces have five dimensions. Incremental: five images at a time, a library of at most 12 points for each subspace.
"""

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from mercer import IncrementalKernelPCA, KernelMutualSubspace

BATCH: dict[str, Any] = {"compression": None, "batch_size": 10_000}
STREAM: dict[str, Any] = {"rank": 5, "points_per_component": 2, "batch_size": 5}
ANGLES = (1, 3, 5)
GAMMA = 0.1  # the default for images of unit length
SEEDS = 3
Sets = tuple[list[np.ndarray], np.ndarray]


def image_sets(parts: int, shuffled: bool, seed: int) -> Sets:
    faces, rng = load("yaleb"), np.random.default_rng(seed)
    images = faces.X.reshape(len(faces.X), -1) / 255.0
    images /= np.maximum(np.linalg.norm(images, axis=1, keepdims=True), 1e-9)
    sets: list[np.ndarray] = []
    for person in np.unique(faces.y):
        rows = np.flatnonzero(faces.y == person)
        sets += [images[part] for part in np.array_split(rng.permutation(rows) if shuffled else rows, parts)]
    return sets, np.repeat(np.unique(faces.y), parts)


def drawn(parts: int, shuffled: bool) -> list[Sets]:
    return [image_sets(parts, shuffled, seed) for seed in range(SEEDS if shuffled else 1)]


def verified(given: Sets, options: dict[str, Any]) -> dict[str, float]:
    """Learn the first set of each person, and verify the others against all, with some numbers of angles."""
    sets, labels = given
    estimator = IncrementalKernelPCA(5, center=False, **options)
    first = np.append(True, labels[1:] != labels[:-1])
    model = KernelMutualSubspace(estimator, normalize=False)
    model.fit([one for one, known in zip(sets, first, strict=True) if known], labels[first])
    unknown = [clone(estimator).fit(one) for one, known in zip(sets, first, strict=True) if not known]
    found = {}
    for n_angles in ANGLES:
        model.n_angles = n_angles
        found[f"area, {n_angles} angles"] = model.roc(unknown, labels[~first]).area
        found[f"right, {n_angles} angles"] = float(np.mean(model.predict(unknown) == labels[~first]))
    return found


def by(**options: Any) -> Any:
    return lambda given: lambda: [verified(one, options) for one in given]


def means(_: Any, runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([run[name] for run in runs])) for name in sorted(runs[0])}


OBJECTIVE = Objective(
    name="mutual_subspace",
    question="how well are sets of images of 38 people distinguished (areas under ROC curves, share of right names)?",
    datasets={
        f"{parts} sets per person, {'shuffled' if shuffled else 'in order'}": partial(drawn, parts, shuffled)
        for shuffled in (True, False)
        for parts in (4, 8)
    },
    solvers=[
        Solver("linear: mutual subspace method", by(**BATCH, kernel="linear"), peer=True),
        Solver("mercer, batch", by(**BATCH, gamma=GAMMA)),
        Solver("mercer, incremental", by(**STREAM, gamma=GAMMA)),
        Solver("mercer, incremental with pre-images", by(**STREAM, gamma=GAMMA, compression="preimage")),
    ],
    quality=means,
    rounds=0,
    default=False,
)
