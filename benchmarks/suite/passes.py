"""How a tracker is measured, as the benchmark OTB does [Wu, Lim, Yang, Online object tracking, CVPR 2013].

One pass (OPE) starts in the first frame with the true box; TRE starts in later frames; SRE starts with a wrong box,
moved by a tenth of its size in eight directions, or scaled to 0.8, 0.9, 1.1 and 1.2. A perfect tracker that keeps
a wrong box on the object has an overlap of 0.75 with the truth on average over these twelve, so the overlap with
the true box *moved and scaled in the same way* is given too ("SRE, own box").
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


def other_starts(task: Task, parts: int = 4) -> list[Task]:
    """Return the task itself, later starts, and wrong first boxes."""
    n = len(task.frames)
    later = [task._replace(begin=n * i // parts, way=TRE) for i in range(1, parts)]
    return [task, *later, *(task._replace(change=change, way=SRE) for change in _CHANGES)]


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return intersection over union, box by box."""
    low, high = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    return np.asarray(common / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - common))


def figures(tasks: list[Task], found: list[np.ndarray]) -> dict[str, float]:
    """Return mean and worst overlap of each way to start, the share of frames above 0.5, and the mean of each kind."""
    shares = [overlaps(boxes, task.truth) for task, boxes in zip(tasks, found, strict=True)]
    own = [overlaps(boxes, changed(task.truth, task.change)) for task, boxes in zip(tasks, found, strict=True)]
    means, ways = np.array([one.mean() for one in shares]), np.array([task.way for task in tasks])
    once = ways == OPE
    text = {
        "overlap": float(means[once].mean()),
        "overlap > 0.5": float(
            np.mean([np.mean(one > 0.5) for one, is_once in zip(shares, once, strict=True) if is_once])
        ),
        "worst quarter": float(np.sort(means[once])[: max(once.sum() // 4, 1)].mean()),
        "worst": float(means[once].min()),
    }
    for way in (TRE, SRE):
        if (ways == way).any():
            text |= {way: float(means[ways == way].mean()), f"{way}, worst": float(means[ways == way].min())}
            text[f"{way}, share lost"] = float(
                np.mean([one.mean() < _HELD for one, w in zip(own, ways, strict=True) if w == way])
            )
    if (ways == SRE).any():
        text["SRE, own box"] = float(np.mean([one.mean() for one, way in zip(own, ways, strict=True) if way == SRE]))
    kinds = dict.fromkeys(task.kind for task in tasks if task.kind)
    return text | {kind: float(means[once & np.array([task.kind == kind for task in tasks])].mean()) for kind in kinds}
