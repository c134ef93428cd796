"""Follow a face through a video with changing light and pose: python examples/track_face.py track.png

The model of the face's appearance is kernel PCA that learns every five frames and slowly forgets [chin2007]. Without
the David sequence (see `mercer.datasets`) a made-up video is used.
"""

import sys

import numpy as np

from mercer import AppearanceTracker, datasets, plots


def made_up(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Return frames in which a patch moves over a background, and its boxes."""
    rng = np.random.default_rng(0)
    ground, patch = rng.uniform(0, 120, (24, 32)).repeat(5, 0).repeat(5, 1), rng.uniform(80, 255, (10, 10))
    frames, boxes = np.repeat(ground[None], n, axis=0), np.zeros((n, 4))
    for k, frame in enumerate(frames):
        x, y = int(60 + 40 * np.sin(k / 15)), int(40 + 25 * np.sin(k / 11))
        frame[y : y + 30, x : x + 30] = patch.repeat(3, 0).repeat(3, 1) * (0.7 + 0.3 * np.cos(k / 20))
        boxes[k] = x, y, 30, 30
    return frames, boxes


def main(path: str) -> None:
    """Track, and draw some of the frames with the boxes found and the true ones."""
    if datasets.archive("david") is None:
        frames, boxes = made_up()
    else:
        video = datasets.load("david")
        frames, boxes = video.X, video.boxes
    found = AppearanceTracker(random_state=0).track(frames, boxes[0])
    plots.track_strip(frames, found, boxes, count=18).savefig(path, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "track.png")
