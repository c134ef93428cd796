"""Objects followed through videos [chin2007, sec. V-C3], measured as the benchmark OTB does.

The defaults of `AppearanceTracker` were chosen on the stock `CHOOSING` and on the first half of David, by the rule in
docs/tracking.md; the stock `JUDGING` has other photographs, objects and people. "other starts" adds later first frames
(TRE) and wrong first boxes (SRE), for one video of each kind.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from benchmarks.suite.data import load
from benchmarks.suite.opencv_trackers import OpenCvTracker
from benchmarks.suite.passes import Task, figures, other_starts
from benchmarks.suite.plan import Objective, Solver
from benchmarks.suite.ross import RossTracker
from benchmarks.suite.videos import kinds
from benchmarks.suite.videos.hard import videos
from benchmarks.suite.videos.stock import CHOOSING, JUDGING, Stock
from mercer import AppearanceTracker
from mercer.images.appearance import default_model

_HALF = 236  # frames of David that belong to the choosing set


class Template(BaseEstimator):  # type: ignore[misc]
    """The first patch and nothing else: the distance from it is the residual."""

    def partial_fit(self, X: np.ndarray) -> "Template":
        if not hasattr(self, "patch_"):
            self.patch_ = X[0]
        return self

    def reconstruction_error(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(((X - self.patch_) ** 2).sum(axis=1))


TRACKERS: dict[str, Callable[[int], Any]] = {
    "kernel PCA": lambda seed: AppearanceTracker(default_model(kernel="rbf"), random_state=seed),
    "linear PCA": lambda seed: AppearanceTracker(default_model(kernel="linear"), random_state=seed),
    "Ross et al. 2008": RossTracker,
    "the first patch as a template": lambda seed: AppearanceTracker(Template(), random_state=seed),
    "OpenCV CSRT": lambda seed: OpenCvTracker("CSRT"),
    "OpenCV KCF": lambda seed: OpenCvTracker("KCF"),
}


def hard(stock: Stock, seeds: list[int]) -> list[Task]:
    return [
        Task(video, seed, kind)
        for kind, group in videos(seeds, stock).items()
        for seed, video in zip(seeds, group, strict=True)
    ]


def earlier(seeds: list[int]) -> list[Task]:
    found = kinds.videos(seeds)
    return [Task(video, seed, kind) for kind in found for seed, video in zip(seeds, found[kind], strict=True)]


def started_otherwise(tasks: Callable[[], list[Task]]) -> list[Task]:
    return [one for task in tasks() for one in other_starts(task)]


def david(seeds: int, part: slice = slice(None)) -> list[Task]:
    found = load("david")
    video = (found.X[part], np.asarray(found.boxes, float)[part])
    return [Task(video, seed) for seed in range(seeds)]


def follow(name: str) -> Any:
    def prepare(tasks: list[Task]) -> Any:
        TRACKERS[name](0)  # a peer that is not installed says so
        return lambda: [TRACKERS[name](task.seed).track(task.frames, task.first) for task in tasks]

    return prepare


OBJECTIVE = Objective(
    name="tracking",
    question="how well are objects followed through videos (intersection over union of boxes)?",
    datasets={
        "validation, one pass": partial(hard, JUDGING, [101, 102, 103]),
        "validation, other starts": partial(started_otherwise, partial(hard, JUDGING, [101])),
        "choosing, one pass": partial(hard, CHOOSING, [1, 2, 3]),
        "earlier videos, one pass": partial(earlier, [101, 102, 103]),
        "David, second half": partial(david, 6, slice(_HALF, None)),
        "David, all, six seeds": partial(david, 6),
        "David, other starts": partial(started_otherwise, partial(david, 1)),
    },
    solvers=[
        Solver(name if "PCA" not in name else f"mercer, {name}", follow(name), peer="PCA" not in name)
        for name in TRACKERS
    ],
    quality=figures,
    rounds=0,
    default=False,
)
