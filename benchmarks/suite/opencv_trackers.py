"""OpenCV's trackers CSRT and KCF behind the same call as ours."""

from typing import Any

import numpy as np

from benchmarks.suite.peers import need

_PACKAGE = "opencv-contrib-python-headless"


class OpenCvTracker:
    """One of OpenCV's trackers; frames in which it reports a failure keep the last box."""

    def __init__(self, name: str) -> None:
        self.create: Any = getattr(need("cv2", _PACKAGE), f"Tracker{name}_create")

    def track(self, frames: np.ndarray, box: np.ndarray) -> np.ndarray:
        tracker = self.create()
        x, y, w, h = (round(float(value)) for value in box)
        height, width = frames.shape[1:3]
        x, y = max(x, 0), max(y, 0)
        tracker.init(_colour(frames[0]), (x, y, min(w, width - x), min(h, height - y)))
        boxes = [np.asarray(box, float)]
        for frame in frames[1:]:
            found, place = tracker.update(_colour(frame))
            boxes.append(np.asarray(place, float) if found and min(place[2:]) > 0 else boxes[-1])
        return np.array(boxes)


def _colour(frame: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.repeat(frame[..., None], 3, axis=2)) if frame.ndim == 2 else frame
