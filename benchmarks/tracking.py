"""Objects followed through videos [chin2007, sec. V-C3]: models of appearance against each other.

    python -m benchmarks.tracking [--seeds N] [--frames N] [--only david|made|semi] [--videos 101 ...] [--model NAME]
                                  [--png FOLDER]

Videos: David indoor (471 frames, true boxes); three made-up ones in which a textured patch moves over a textured
ground, grows, turns, is lit from changing sides and slowly becomes another patch; and, "semi", real things pasted into
real photographs (`benchmarks.tracking_videos`). The defaults of `AppearanceTracker` were chosen on the seeds 1 to 4 of
these last; 101, 102 and 103 were kept for validation. All methods get the same candidates and the same parameters; only
the model of appearance differs. Figures are means over seeds: centre error in pixels, overlap (intersection over
union), share of frames with an overlap above 0.5, the worst seed's overlap, frames a second by the clock and of
processor time; for "semi" over videos, with the mean of the worst quarter of them. "residual": criterion="residual".
"as published": one round of candidates, no restraint, the residual alone, five components and no more carried along.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage
from sklearn.base import BaseEstimator

from benchmarks.measure import row
from benchmarks.tracking_videos import Video, videos
from mercer import AppearanceTracker, datasets, plots
from mercer.tasks.appearance import default_model


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


def made_up(seed: int, n: int = 200) -> Video:
    rng = np.random.default_rng(seed)

    def texture(h: int, w: int, *scales: float) -> np.ndarray:
        picture = sum(k * ndimage.gaussian_filter(rng.standard_normal((h, w)), k) for k in scales)
        return np.asarray(30 + 190 * (picture - picture.min()) / np.ptp(picture))

    ground, first, last = texture(120, 160, 2, 5, 10), texture(48, 48, 1.5, 4), texture(48, 48, 1.5, 4)
    t, (a, b, c) = np.arange(n) / n, rng.uniform(0, 2 * np.pi, 3)
    x, y = 80 + 42 * np.sin(8 * t + a), 60 + 26 * np.sin(6 * t + b)
    size, turn, light = 1 + 0.3 * np.sin(5 * t), 0.4 * np.sin(7 * t), 1 + 0.4 * np.sin(9 * t + c)
    down, across = np.mgrid[0:120, 0:160] + 0.5
    frames = np.empty((n, 120, 160))
    for k in range(n):
        dx, dy = across - x[k], down - y[k]
        u = (np.cos(turn[k]) * dx + np.sin(turn[k]) * dy) / size[k]
        v = (np.cos(turn[k]) * dy - np.sin(turn[k]) * dx) / size[k]
        skin = (1 - t[k]) * first + t[k] * last
        painted = ndimage.map_coordinates(skin, [v + 23.5, u + 23.5], order=1) * (1 + 0.8 * np.sin(6 * t[k]) * u / 32)
        inside = (np.abs(u) < 16) & (np.abs(v) < 18)
        frames[k] = np.where(inside, painted, ground) * light[k] + 4 * rng.standard_normal((120, 160))
    boxes = np.column_stack([x - 16 * size, y - 18 * size, 32 * size, 36 * size])
    return np.clip(frames, 0, 255).astype(np.uint8), boxes


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    low, high = np.maximum(a[:, :2], b[:, :2]), np.minimum(a[:, :2] + a[:, 2:], b[:, :2] + b[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    return np.asarray(common / (np.prod(a[:, 2:], axis=1) + np.prod(b[:, 2:], axis=1) - common))


def measured(tracker: AppearanceTracker, video: Video) -> tuple[np.ndarray, list[float]]:
    frames, truth = video
    clock, processor = time.perf_counter(), time.process_time()
    found = tracker.track(frames, truth[0])
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    centres = np.linalg.norm((found - truth)[:, :2] + 0.5 * (found - truth)[:, 2:], axis=1)
    overlap = overlaps(found, truth)
    figures = [centres.mean(), overlap.mean(), np.mean(overlap > 0.5), len(frames) / clock, len(frames) / processor]
    return found, [float(value) for value in figures]


def compare(name: str, video: Video, seeds: int, folder: Path | None, model: str | None = None) -> None:
    print(f"\n{name}, {len(video[0])} frames, {seeds} seeds")
    row("model", "centre error", "overlap", "overlap > 0.5", "worst overlap", "frames/s", "frames/cpu s")
    for method in [model] if model else trackers(0):
        runs: list[Any] = [measured(trackers(seed)[method], video) for seed in range(seeds)]
        figures = np.array([run[1] for run in runs])
        centre, overlap, success, clock, processor = figures.mean(axis=0)
        row(method, centre, overlap, success, figures[:, 1].min(), clock, processor)
        if folder is not None and method == "kernel":
            strip = plots.track_strip(video[0], runs[0][0], video[1], count=18)
            strip.savefig(folder / f"track_{name}.png", dpi=110)


def compare_kinds(seeds: list[int], frames: int, model: str | None = None) -> None:
    """Print means over all kinds of videos, and of each kind; each video has its own seed of the tracker."""
    shown = videos(seeds, frames)
    print(f"\nreal things in photographs: {len(shown)} kinds, seeds {seeds}, {frames} frames")
    row("model", "centre error", "overlap", "overlap > 0.5", "worst quarter", "frames/s", "frames/cpu s", *shown)
    for method in [model] if model else trackers(0):
        runs = [
            [measured(trackers(seed)[method], video)[1] for seed, video in zip(seeds, group, strict=True)]
            for group in shown.values()
        ]
        figures = np.array(runs)  # (kinds, seeds, figures)
        centre, overlap, success, clock, processor = figures.mean(axis=(0, 1))
        worst = np.sort(figures[..., 1].ravel())[: max(figures[..., 1].size // 4, 1)].mean()
        row(method, centre, overlap, success, worst, clock, processor, *figures[..., 1].mean(axis=1))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=None)
    parser.add_argument("--only", choices=["david", "made", "semi"], default=None)
    parser.add_argument("--videos", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--model", choices=list(trackers(0)), default=None)
    parser.add_argument("--png", type=Path, default=None)
    given = parser.parse_args([] if arguments is None else arguments)
    if given.only in (None, "david"):
        david = datasets.load("david")
        compare("david", (david.X[: given.frames], david.boxes[: given.frames]), given.seeds, given.png, given.model)
    if given.only in (None, "made"):
        for seed in (1, 2, 3):
            compare(f"made_up_{seed}", made_up(seed, given.frames or 200), given.seeds, given.png, given.model)
    if given.only in (None, "semi"):
        compare_kinds(given.videos, given.frames or 160, given.model)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
