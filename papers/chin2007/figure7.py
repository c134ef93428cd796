"""Figure 7: an object followed through a video."""

import time
from functools import partial
from typing import Any

import numpy as np

from mercer import AppearanceTracker, IncrementalKernelPCA, plots
from mercer.images.appearance import default_model
from papers.chin2007._streams import one_blas_thread
from papers.comparison import Comparison, claim, reading
from papers.drawing import lines, panels
from papers.experiment import Drawing, Experiment, Outcome, Run

_PUBLISHED, _MERCER, _LINEAR = "kernel, as published", "kernel, Mercer's settings", "linear, Mercer's settings"
_SPREAD = (0.07, 0.03, 0.02)  # of candidates: position, size, turn
_PACE = 5.0  # frames per second


def tracker(name: str, seed: int) -> AppearanceTracker:
    """Return a tracker: as published, with Mercer's settings, or the latter with linear PCA."""
    if name == _PUBLISHED:
        model = IncrementalKernelPCA(
            5,
            gamma=1.0,
            rank=5,
            points_per_component=10,
            batch_size=5,
            compression="preimage",
            forgetting=0.99,
        )
        return AppearanceTracker(
            model, rounds=1, restraint=0.0, criterion="residual", focus=None, spread=_SPREAD, random_state=seed
        )
    if name == _LINEAR:
        return AppearanceTracker(random_state=seed)
    return AppearanceTracker(default_model(kernel="rbf"), random_state=seed)


def overlap(a: Any, b: Any) -> Any:
    """Return intersection over union of boxes x, y, w, h, row by row."""
    low, high = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    common = np.prod(np.maximum(high - low, 0.0), axis=1)
    return common / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - common)


def centre_error(found: Any, truth: Any) -> Any:
    """Return the distance of the centres, in pixels, row by row."""
    return np.linalg.norm((found - truth)[:, :2] + 0.5 * (found - truth)[:, 2:], axis=1)


def inside(found: Any, truth: Any) -> Any:
    """Return whether the centre of the box lies in the true one, row by row."""
    centre = found[:, :2] + 0.5 * found[:, 2:] - truth[:, :2]
    return np.all((centre > 0) & (centre < truth[:, 2:]), axis=1)


def followed(name: str, frames: Any, first: Any, seed: int) -> dict[str, Any]:
    """Return the boxes and the frames per second."""
    start = time.perf_counter()
    boxes = tracker(name, seed).track(frames, first)
    return {"boxes": boxes, "pace": len(frames) / (time.perf_counter() - start)}


def run(given: Run) -> Outcome:
    """Track the face by three models of appearance."""
    video, n, seeds = given.load("david"), given.settings["frames"], given.settings["seeds"]
    frames, truth = video.X[:n], np.asarray(video.boxes, np.float64)[:n]
    found = {
        name: [given.stage(f"{name} {seed}", partial(followed, name, frames, truth[0], seed)) for seed in range(seeds)]
        for name in (_PUBLISHED, _MERCER, _LINEAR)
    }
    boxes = {name: [one["boxes"] for one in runs] for name, runs in found.items()}
    pace = {name: max(float(one["pace"]) for one in runs) for name, runs in found.items()}
    strips = {
        "figure7": Drawing(plots.track_strip(frames, boxes[_MERCER][0], truth, count=12), _CAPTION.format(_MERCER)),
        "as_published": Drawing(
            plots.track_strip(frames, boxes[_PUBLISHED][0], truth, count=12), _CAPTION.format(_PUBLISHED)
        ),
        "errors": Drawing(
            _draw(boxes, truth), "Distance of the centre of the box from that of the true one; means over seeds."
        ),
    }
    table = [line for name in found for line in _lines(name, boxes[name], truth, pace[name])]
    return Outcome(strips, tuple(table))


def _lines(name: str, runs: Any, truth: Any, pace: float) -> list[Comparison]:
    shares = [overlap(boxes, truth) for boxes in runs]
    held = float(np.mean([np.mean(inside(boxes, truth)) for boxes in runs]))
    errors = float(np.mean([centre_error(boxes, truth).mean() for boxes in runs]))
    checks = []
    if name != _LINEAR:
        checks = [
            claim(
                f"{name}: share of frames with the centre of the box on the face",
                "tracked throughout",
                held,
                held == 1.0,
            ),
            claim(f"{name}: frames per second", "about 5", pace, pace >= _PACE, note="at least; another machine"),
        ]
    return [
        *checks,
        reading(f"{name}: mean error of the centre, pixels", errors),
        reading(f"{name}: mean overlap with the true box", float(np.mean([one.mean() for one in shares]))),
        reading(f"{name}: least overlap of all frames", float(min(one.min() for one in shares))),
    ]


def _draw(boxes: Any, truth: Any) -> Any:
    figure, (axes,) = panels([("Error of the centre", "frame", "pixels")], width=8, height=3.2)
    curves = {
        name: (np.arange(len(truth)), np.mean([centre_error(one, truth) for one in runs], axis=0))
        for name, runs in boxes.items()
    }
    lines(axes, curves)
    return figure


_CAPTION = "Frames from the first to the last; {}. Solid: the box found; dashed: the true one."

EXPERIMENT = Experiment(
    name="figure7",
    title="an object followed through a video",
    items=("Figure 7",),
    run=one_blas_thread(run),
    paper_did="Three videos: a face, a toy, a car at night. 200 candidates per frame from a Gaussian around the last "
    "place; the one nearest to the subspace of recent appearances is taken; IKPCA-RS with r = 5, p = 10, learned every "
    "five frames. All three objects are followed to the end, at about 5 frames per second. No other numbers.",
    we_do="The David indoor sequence: a face that turns to its profile, shrinks and comes back, 471 frames of 160 x "
    "120 pixels with true boxes. 'As published': one round of 200 candidates, r = 5, p = 10, i = 5, pre-images. "
    "Mercer's settings: rounds, restraint, 16 components, scores counted beside the residual; chosen on other videos. "
    "Linear PCA is shown for comparison.",
    open_choices=(
        "Kernel: Gaussian with gamma = 1 on patches of 24 x 24 pixels, without their mean, of unit length.",
        "How the model forgets, which tracking needs and the paper does not describe: 0.99 per patch.",
        "Shape of the Gaussian of candidates: Mercer's.",
        "'Tracked' means that the centre of the box lies in the true box.",
    ),
    differences=(
        "Of the videos on David Ross's page, which the paper used, only this one is available. It may be the paper's "
        "first, a face with large changes of pose; the toy and the car are missing.",
        "As published, the box shrinks after the profile and drifts to the edge of the face, with some seeds off it. "
        "Mercer's settings, chosen on other videos, keep it closer, but not with every seed on the face. "
        "docs/tracking.md compares the kernel with linear PCA on more videos and seeds.",
    ),
    data=("david",),
    scales={
        "full": {"frames": 471, "seeds": 5},
        "quick": {"frames": 471, "seeds": 1},
        "tiny": {"frames": 30, "seeds": 1},
    },
)
