"""The first use of an estimator in a process of its own: `python -m benchmarks.suite.first_use NAME` prints seconds.

Rows are scikit-learn's digits, and parameters are the defaults. Imports of scikit-learn and of the class are not timed.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Peer

import mercer
from mercer.registry import ESTIMATORS

PEER = "scikit-learn KernelPCA(10, kernel='rbf')"
GAUSSIAN = "KernelPCA(10, kernel='rbf')"  # KernelPCA's default is the linear kernel, which compiles nothing
NAMES = (PEER, GAUSSIAN, *ESTIMATORS)


def on_rows(model: Any, X: np.ndarray) -> None:
    model.fit(X)
    if isinstance(model, OutlierMixin) or not hasattr(model, "transform"):
        model.predict(X)
    else:
        model.transform(X)


def on_frames(tracker: Any, X: np.ndarray) -> None:
    """Follow a digit that moves to the right."""
    frames = np.zeros((20, 40, 80))
    for i, frame in enumerate(frames):
        frame[10:26, 10 + i : 26 + i] = np.kron(X[0].reshape(8, 8), np.ones((2, 2)))
    tracker.track(frames, (10, 10, 16, 16))


def on_image(denoiser: Any, X: np.ndarray) -> None:
    """Clean a picture of 100 digits."""
    denoiser.denoise(X[:100].reshape(10, 10, 8, 8).transpose(0, 2, 1, 3).reshape(80, 80))


def on_sets(model: Any, X: np.ndarray) -> None:
    """Learn ten sets of 50 images, and name them."""
    y = load_digits(return_X_y=True)[1]
    sets = [X[y == label][:50] for label in range(10)]
    model.fit(sets, list(range(10))).predict(sets)


def use_of(name: str) -> Callable[[np.ndarray], None]:
    if name == PEER:
        return lambda X: on_rows(Peer(10, kernel="rbf"), X)
    if name == GAUSSIAN:
        return lambda X: on_rows(mercer.KernelPCA(10, kernel="rbf"), X)
    cls = getattr(mercer, name)
    uses = {"AppearanceTracker": on_frames, "PatchDenoiser": on_image, "KernelMutualSubspace": on_sets}
    return lambda X: uses.get(name, on_rows)(cls(), X)


def main() -> None:
    warnings.simplefilter("ignore")
    use, X = use_of(sys.argv[1]), load_digits(return_X_y=True)[0]
    start, processor = time.perf_counter(), time.process_time()
    use(X)
    print(time.perf_counter() - start, time.process_time() - processor)


if __name__ == "__main__":
    main()
