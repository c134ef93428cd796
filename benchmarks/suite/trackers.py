"""Trackers that are compared, and what they follow."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from benchmarks.suite.data import load
from benchmarks.suite.opencv_trackers import OpenCvTracker
from benchmarks.suite.passes import Run, Task, other_starts
from benchmarks.suite.plan import Solver
from benchmarks.suite.progress import counted
from benchmarks.suite.ross import RossTracker
from benchmarks.suite.videos import kinds
from benchmarks.suite.videos.hard import videos
from benchmarks.suite.videos.stock import Stock
from mercer import AppearanceTracker
from mercer.images.appearance import default_model

HALF = 236  # frames of David that belong to the choosing set


class Template(BaseEstimator):  # type: ignore[misc]
    """The first patch and nothing else: the distance from it is the residual."""

    def partial_fit(self, X: np.ndarray) -> "Template":
        if not hasattr(self, "patch_"):
            self.patch_ = X[0]
        return self

    def reconstruction_error(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(((X - self.patch_) ** 2).sum(axis=1))


LINEAR, KERNEL, ROSS, TEMPLATE = "linear PCA", "kernel PCA", "Ross et al. 2008", "the first patch as a template"
CSRT, KCF = "OpenCV CSRT", "OpenCV KCF"
TRACKERS: dict[str, Callable[[int], Any]] = {
    LINEAR: lambda seed: AppearanceTracker(random_state=seed),
    KERNEL: lambda seed: AppearanceTracker(default_model(kernel="rbf"), random_state=seed),
    ROSS: RossTracker,
    TEMPLATE: lambda seed: AppearanceTracker(Template(), random_state=seed),
    CSRT: lambda seed: OpenCvTracker("CSRT"),
    KCF: lambda seed: OpenCvTracker("KCF"),
}
_SEEDLESS = (CSRT, KCF)


def hard(stock: Stock, seeds: list[int]) -> list[Task]:
    """Return the videos of one difficulty each, started once from their true boxes."""
    return [
        Task(video, seed, kind)
        for kind, group in videos(seeds, stock).items()
        for seed, video in zip(seeds, group, strict=True)
    ]


def earlier(seeds: list[int]) -> list[Task]:
    """Return the videos of the first comparison."""
    found = kinds.videos(seeds)
    return [Task(video, seed, kind) for kind in found for seed, video in zip(seeds, found[kind], strict=True)]


def started_otherwise(tasks: Callable[[], list[Task]]) -> list[Task]:
    """Return each task with all its other starts."""
    return [one for task in tasks() for one in other_starts(task)]


def some_other_starts(tasks: Callable[[], list[Task]]) -> list[Task]:
    """Return each task with all later starts and three of the twelve wrong boxes, in turn: one scale, two shifts."""
    return [one for i, task in enumerate(tasks()) for one in other_starts(task, changes=slice(i % 4, None, 4))]


def david(seeds: int, part: slice = slice(None)) -> list[Task]:
    """Return David, or a part of it, with some seeds."""
    found = load("david")
    video = (found.X[part], np.asarray(found.boxes, float)[part])
    return [Task(video, seed) for seed in range(seeds)]


def with_threads() -> list[Task]:
    """Return the beginning of David for one thread and for two."""
    return [david(1, slice(100))[0]._replace(threads=threads) for threads in (1, 2)]


def follow(name: str) -> Any:
    """Return what prepares a tracker; trackers without a seed follow a video once, whatever the seed."""

    def prepare(tasks: list[Task]) -> Any:
        frames, first = tasks[0].frames[:8], tasks[0].first
        TRACKERS[name](0).track(frames, first)  # it compiles; a peer that is not installed says so
        known: dict[Any, Run] = {}

        def once(task: Task) -> Run:
            key = (id(task.video[0]), task.begin, task.change) if name in _SEEDLESS else id(task)
            if key not in known:
                known[key] = _run(name, task)
            return known[key]

        return lambda: [once(task) for task in counted(tasks, name)]

    return prepare


def _run(name: str, task: Task) -> Run:
    with nullcontext() if task.threads is None else threadpool_limits(task.threads):
        start = time.process_time()
        boxes = TRACKERS[name](task.seed).track(task.frames, task.first)
        return Run(boxes, max(time.process_time() - start, 1e-9))


def solvers(names: list[str]) -> list[Solver]:
    """Return some trackers as solvers."""
    return [
        Solver(f"mercer, {name}" if name in (LINEAR, KERNEL) else name, follow(name), peer=name not in (LINEAR, KERNEL))
        for name in names
    ]
