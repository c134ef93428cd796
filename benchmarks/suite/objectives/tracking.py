"""Objects followed through videos [chin2007, sec. V-C3]: models of appearance against each other.

All methods get the same candidates and parameters; only the model of appearance differs. "as published": one round of
candidates, no restraint, the residual alone, only five components. The defaults of
`AppearanceTracker` were chosen on the videos of seeds 1 to 4; those of seeds 101 to 103 were kept for validation.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.suite.data import load
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.videos.kinds import videos
from benchmarks.suite.videos.made_up import made_up
from benchmarks.suite.videos.scenes import Video
from mercer import AppearanceTracker
from mercer.images.appearance import default_model


class Task(NamedTuple):
    """A video, the seed of the tracker, and what kind of video it is."""

    video: Video
    seed: int
    kind: str


class Template(BaseEstimator):  # type: ignore[misc]
    """The first patch and nothing else: the distance from it is the residual."""

    def partial_fit(self, X: np.ndarray) -> "Template":
        if not hasattr(self, "patch_"):
            self.patch_ = X[0]
        return self

    def reconstruction_error(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(((X - self.patch_) ** 2).sum(axis=1))


def trackers(seed: int) -> dict[str, AppearanceTracker]:
    linear = default_model(kernel="linear")
    letter = default_model().set_params(n_components=5, rank=5)
    return {
        "kernel": AppearanceTracker(random_state=seed),
        "kernel, residual": AppearanceTracker(criterion="residual", random_state=seed),
        "as published": AppearanceTracker(letter, rounds=1, restraint=0.0, criterion="residual", random_state=seed),
        "linear": AppearanceTracker(linear, random_state=seed),
        "linear, residual": AppearanceTracker(linear, criterion="residual", random_state=seed),
        "template": AppearanceTracker(Template(), random_state=seed),
    }


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    low, high = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    return np.asarray(common / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - common))


def real_things(seeds: list[int]) -> list[Task]:
    return [
        Task(video, seed, kind)
        for kind, group in videos(seeds).items()
        for seed, video in zip(seeds, group, strict=True)
    ]


def david(seeds: int) -> list[Task]:
    found = load("david")
    return [Task((found.X, found.boxes), seed, "") for seed in range(seeds)]


def follow(name: str) -> Any:
    return lambda tasks: lambda: [trackers(task.seed)[name].track(task.video[0], task.video[1][0]) for task in tasks]


def figures(tasks: list[Task], found: list[np.ndarray]) -> dict[str, float]:
    """Return means over videos, the mean overlap of the worst quarter and of the worst video, and that of each kind."""
    truths = [task.video[1] for task in tasks]
    centres = [
        np.linalg.norm((one - true)[:, :2] + 0.5 * (one - true)[:, 2:], axis=1).mean()
        for one, true in zip(found, truths, strict=True)
    ]
    shares = [overlaps(one, true) for one, true in zip(found, truths, strict=True)]
    means = np.array([one.mean() for one in shares])
    kinds = dict.fromkeys(task.kind for task in tasks if task.kind)
    return {
        "centre error": float(np.mean(centres)),
        "overlap": float(means.mean()),
        "overlap > 0.5": float(np.mean([np.mean(one > 0.5) for one in shares])),
        "worst quarter": float(np.sort(means)[: max(len(means) // 4, 1)].mean()),
        "worst": float(means.min()),
        **{kind: float(means[[task.kind == kind for task in tasks]].mean()) for kind in kinds},
    }


OBJECTIVE = Objective(
    name="tracking",
    question="how well are things followed through videos (pixels, intersection over union of boxes)?",
    datasets={
        "real things in photographs, validation": partial(real_things, [101, 102, 103]),
        "real things in photographs, development": partial(real_things, [1, 2, 3, 4]),
        "David indoor, six seeds": partial(david, 6),
        **{f"made up {seed}": (lambda seed=seed: [Task(made_up(seed), 0, "")]) for seed in (1, 2, 3)},
    },
    solvers=[
        Solver("the first patch as a template", follow("template"), peer=True),
        *(Solver(f"mercer, {name}", follow(name)) for name in trackers(0) if name != "template"),
    ],
    quality=figures,
    rounds=0,
    default=False,
)
