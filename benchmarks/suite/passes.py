"""How a tracker is measured, as the benchmark OTB does [Wu, Lim, Yang, Online object tracking, CVPR 2013].

One pass (OPE) starts in the first frame with the true box; TRE starts in later frames; SRE starts with a wrong box,
moved by a tenth of its size in eight directions, or scaled to 0.8, 0.9, 1.1 and 1.2. A tracker that keeps a wrong
box on the object without any error has an overlap of 0.75 with the truth on average over these twelve ("SRE, errors
kept"), so the overlap with the true box *moved and scaled in the same way* is given too ("SRE, own box").
"""

from typing import NamedTuple

import numpy as np

from benchmarks.suite.videos.scenes import Video

OPE, TRE, SRE = "OPE", "TRE", "SRE"
_SHIFTS = [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)]
_CHANGES = [(0.1 * a, 0.1 * b, 1.0) for a, b in _SHIFTS] + [(0.0, 0.0, scale) for scale in (0.8, 0.9, 1.1, 1.2)]
_HELD = 0.3  # mean overlap above which a video counts as held


class Task(NamedTuple):
    """A video from some frame on, the change of its first box, the seed of the tracker, and where it belongs."""

    video: Video
    seed: int
    kind: str = ""
    begin: int = 0
    change: tuple[float, float, float] = (0.0, 0.0, 1.0)  # shift in x and y relative to the size, scale
    way: str = OPE
    threads: int | None = None  # None: as many as there are

    @property
    def frames(self) -> np.ndarray:
        return self.video[0][self.begin :]

    @property
    def truth(self) -> np.ndarray:
        return np.asarray(self.video[1][self.begin :], float)

    @property
    def first(self) -> np.ndarray:
        return changed(self.truth[:1], self.change)[0]


def changed(boxes: np.ndarray, change: tuple[float, float, float]) -> np.ndarray:
    """Return boxes moved and scaled relative to themselves, (n, 4)."""
    size = boxes[:, 2:] * change[2]
    return np.hstack([boxes[:, :2] + 0.5 * boxes[:, 2:] + boxes[:, 2:] * change[:2] - 0.5 * size, size])


def other_starts(task: Task, parts: int = 4, changes: slice = slice(None)) -> list[Task]:
    """Return the task itself, later starts, and wrong first boxes: all twelve, or some of them."""
    n = len(task.frames)
    later = [task._replace(begin=n * i // parts, way=TRE) for i in range(1, parts)]
    return [task, *later, *(task._replace(change=change, way=SRE) for change in _CHANGES[changes])]


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return intersection over union, box by box."""
    low, high = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    return np.asarray(common / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - common))


class Run(NamedTuple):
    """The boxes of a task and the processor time that they took."""

    boxes: np.ndarray
    seconds: float


def figures(tasks: list[Task], runs: list[Run]) -> dict[str, float]:
    """Return mean and worst overlap of each way to start, the mean of each kind, and frames per second."""
    shares = [overlaps(run.boxes, task.truth) for task, run in zip(tasks, runs, strict=True)]
    means, ways = np.array([one.mean() for one in shares]), np.array([task.way for task in tasks])
    once = ways == OPE
    above = [np.mean(one > 0.5) for one, is_once in zip(shares, once, strict=True) if is_once]
    text = {
        "overlap": float(means[once].mean()),
        "overlap > 0.5": float(np.mean(above)),
        "worst quarter": float(np.sort(means[once])[: max(once.sum() // 4, 1)].mean()),
        "worst": float(means[once].min()),
    }
    text |= _other_ways(tasks, runs, means, ways)
    kinds = dict.fromkeys(task.kind for task in tasks if task.kind)
    text |= {kind: float(means[once & np.array([task.kind == kind for task in tasks])].mean()) for kind in kinds}
    if any(task.threads for task in tasks):
        text["same boxes"] = float(all(np.array_equal(run.boxes, runs[0].boxes) for run in runs))
    seconds = sum(run.seconds for run in runs)
    return text | {"frames/s": sum(len(run.boxes) for run in runs) / seconds}


def _other_ways(tasks: list[Task], runs: list[Run], means: np.ndarray, ways: np.ndarray) -> dict[str, float]:
    """Return mean and worst of later starts and of wrong boxes, and how many of them are lost."""
    given = [changed(task.truth, task.change) for task in tasks]
    own = np.array([overlaps(run.boxes, boxes).mean() for run, boxes in zip(runs, given, strict=True)])
    text = {}
    for way in (TRE, SRE):
        if (these := ways == way).any():
            text |= {way: float(means[these].mean()), f"{way}, worst": float(means[these].min())}
            text[f"{way}, share lost"] = float(np.mean(own[these] < _HELD))
    if (these := ways == SRE).any():
        text |= {"SRE, own box": float(own[these].mean()), "SRE, own box, worst": float(own[these].min())}
        kept = [overlaps(b[:1], t.truth[:1])[0] for b, t, one in zip(given, tasks, these, strict=True) if one]
        text["SRE, errors kept"] = float(np.mean(kept))
    return text
