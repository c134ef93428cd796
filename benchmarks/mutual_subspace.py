"""Image sets of 38 faces told apart by kernel subspaces [chin2007, sec. V-C2].

    python -m benchmarks.mutual_subspace [--seeds N] [--png FILE] [--turning]

Extended Yale B, 32 x 32, every person's images cut into sets; the first set of each is the reference, the others are
unknown. "shuffled": at random, so that all sets have all kinds of light. "in order": as the images come, so that sets
differ in light. Subspaces have five dimensions. Batch: one uncentred kernel PCA of each set. Incremental: five images
at a time, with a library of at most 12 points for each subspace (r = 5, p = 2, i = 5). Linear: the mutual subspace
method. --turning: one picture of each person, turned by random angles, four sets of 16; here the pictures of a set lie
on a curve, not near a plane, and kernels of several widths stand beside the linear one.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.base import clone

from benchmarks.measure import best_seconds, row
from mercer import IncrementalKernelPCA, KernelMutualSubspace, datasets, plots

BATCH: dict[str, Any] = {"compression": None, "batch_size": 10_000}
STREAM: dict[str, Any] = {"rank": 5, "preimages": 2, "batch_size": 5}
ANGLES = (1, 3, 5)
GAMMA = 0.1  # the default for images of unit length
METHODS: dict[str, dict[str, Any]] = {
    "batch": {**BATCH, "gamma": GAMMA},
    "incremental": {**STREAM, "gamma": GAMMA},
    "pre-images": {**STREAM, "gamma": GAMMA, "compression": "preimage"},
    "linear": {**BATCH, "kernel": "linear"},
}


def image_sets(parts: int, shuffled: bool, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    faces, rng = datasets.load("yaleb"), np.random.default_rng(seed)
    images = faces.X.reshape(len(faces.X), -1) / 255.0
    images /= np.maximum(np.linalg.norm(images, axis=1, keepdims=True), 1e-9)
    sets: list[np.ndarray] = []
    for person in np.unique(faces.y):
        rows = np.flatnonzero(faces.y == person)
        sets += [images[part] for part in np.array_split(rng.permutation(rows) if shuffled else rows, parts)]
    return sets, np.repeat(np.unique(faces.y), parts)


def turning_sets(parts: int, seed: int, size: int = 16) -> tuple[list[np.ndarray], np.ndarray]:
    """Return sets of one face each, turned by any angle, and cut so that the corners do not show."""
    faces, rng = datasets.load("yaleb"), np.random.default_rng(seed)
    people, first = np.unique(faces.y, return_index=True)
    sets: list[np.ndarray] = []
    for face in faces.X[first].reshape(len(people), 32, 32) / 255.0:
        for _ in range(parts):
            turned = [ndimage.rotate(face, angle, reshape=False, order=1) for angle in rng.uniform(-180, 180, size)]
            images = np.array(turned)[:, 5:27, 5:27].reshape(size, -1)
            sets.append(images / np.linalg.norm(images, axis=1, keepdims=True))
    return sets, np.repeat(people, parts)


def results(method: str, parts: int, shuffled: bool, seed: int) -> dict[int, tuple[Any, float]]:
    """Return ROC curve and accuracy for each number of angles; every subspace is learned once."""
    return verified(*image_sets(parts, shuffled, seed), parts, METHODS[method])


def verified(
    sets: list[np.ndarray], labels: np.ndarray, parts: int, options: dict[str, Any]
) -> dict[int, tuple[Any, float]]:
    """Learn the first set of each person, and verify the others against all."""
    estimator = IncrementalKernelPCA(5, center=False, random_state=0, **options)
    first = np.arange(len(sets)) % parts == 0
    model = KernelMutualSubspace(estimator, normalize=False).fit(sets[::parts], labels[first])
    unknown = [clone(estimator).fit(one) for one, known in zip(sets, first, strict=True) if not known]
    found = {}
    for n_angles in ANGLES:
        model.n_angles = n_angles
        accuracy = float(np.mean(model.predict(unknown) == labels[~first]))
        found[n_angles] = model.roc(unknown, labels[~first]), accuracy
    return found


def table(parts: int, shuffled: bool, seeds: int) -> dict[str, Any]:
    kind, curves = "shuffled" if shuffled else "in order", {}
    for method in METHODS:
        runs = [results(method, parts, shuffled, seed) for seed in range(seeds if shuffled else 1)]
        areas = [float(np.mean([run[k][0].area for run in runs])) for k in ANGLES]
        accuracies = [float(np.mean([run[k][1] for run in runs])) for k in ANGLES]
        row(f"{parts} {kind}", method, *areas, *accuracies)
        curves[method] = runs[0][3][0]
    return curves


def turning(seeds: int) -> None:
    kinds = {"light, shuffled": lambda seed: image_sets(4, True, seed), "turning": lambda seed: turning_sets(4, seed)}
    row("sets", "kernel", *(f"area, {k} angles" for k in ANGLES))
    for kind, make in kinds.items():
        made = [make(seed) for seed in range(seeds)]
        squares = [np.linalg.svd(one, compute_uv=False) ** 2 for sets, _ in made for one in sets]
        held = np.mean([values[:5].sum() / values.sum() for values in squares])
        for name, kernel in {
            "linear": {"kernel": "linear"},
            **{f"gamma={g}": {"gamma": g} for g in (0.1, 1, 3)},
        }.items():
            runs = [verified(*one, 4, {**BATCH, **kernel}) for one in made]
            row(kind, name, *(float(np.mean([run[k][0].area for run in runs])) for k in ANGLES))
        print(f"{kind}: five linear dimensions hold {100 * held:.1f} % of a set")


def speed() -> None:
    sets, labels = image_sets(4, True, 0)
    model = KernelMutualSubspace().fit(sets[::4], labels[::4])
    unknown = sets[1::4]
    seconds, _ = best_seconds(lambda: model.predict(unknown))
    print(f"\nA set of 16 images against 38 references: {1e3 * seconds / len(unknown):.1f} ms")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--png", type=Path, default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--turning", action="store_true")
    given = parser.parse_args([] if arguments is None else arguments)
    if given.turning:
        turning(given.seeds)
        return
    row("sets a person", "method", *(f"area, {k} angles" for k in ANGLES), *(f"right, {k} angles" for k in ANGLES))
    for parts, shuffled in ((4, True), (8, True), (4, False), (8, False)):
        curves = table(parts, shuffled, given.seeds)
    if given.png is not None:
        plots.roc_curves(curves).savefig(given.png, dpi=130)
    speed()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
