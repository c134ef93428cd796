"""Excess reconstruction error of the Hebbian kernel algorithms a pass, on real data [guenter2006, figures 1 to 3].

    python -m benchmarks.kha [usps_dot usps_rbf usps_all patches] [--png FOLDER]

Prints E / Emin - 1 of the rows as they are, and behind the slash of their orthonormal basis.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.suite.data import load
from mercer import HebbianKernelPCA, datasets, plots

GAINS = ("constant", "t", "et", "smd")


def usps_hundred() -> np.ndarray:
    """The first 100 images of each digit."""
    digits = load("usps")
    return digits.X[np.concatenate([np.flatnonzero(digits.y == k)[:100] for k in range(10)])]


def patches(quarter: int = 0) -> np.ndarray:
    """11 x 11 windows, every 4 pixels, of a quarter of the camera image with noise."""
    rng = np.random.default_rng(0)
    image = datasets.load("camera").X / 255.0
    image = image + 0.1 * rng.standard_normal(image.shape)
    i, j = divmod(quarter, 2)
    part = image[256 * i : 256 * (i + 1), 256 * j : 256 * (j + 1)]
    return np.lib.stride_tricks.sliding_window_view(part, (11, 11))[::4, ::4].reshape(-1, 121)


# name: data, r, passes, kernel, what a search over {1, 2, 5} 10^k found: eta0 a gain, and mu
CASES: dict[str, tuple[Callable[[], np.ndarray], int, int, dict[str, Any], dict[str, float]]] = {
    "usps_rbf": (usps_hundred, 16, 50, {"kernel": "rbf", "gamma": 1 / 128},
                 {"constant": 0.05, "t": 1.0, "et": 0.1, "smd": 0.05, "mu": 0.5}),
    "usps_dot": (usps_hundred, 16, 50, {"kernel": "linear"},
                 {"constant": 2e-4, "t": 5e-3, "et": 5e-4, "smd": 5e-4, "mu": 2e-3}),
    "usps_all": (lambda: datasets.load("usps").X, 10, 10, {"kernel": "rbf", "gamma": 1 / 128}, {}),
    "patches": (patches, 20, 50, {"kernel": "rbf", "gamma": 0.5}, {}),
}  # fmt: skip


def run(name: str, tuned: bool, seed: int = 0, X: np.ndarray | None = None) -> dict[str, Any]:
    data, r, passes, kernel, found = CASES[name]
    X = data() if X is None else X
    models = {}
    for gain in GAINS:
        extra = {"eta0": found[gain], "smd_rate": found["mu"]} if tuned else {}
        model = HebbianKernelPCA(
            r, gain=gain, max_iter=passes, tol=0, monitor="excess", random_state=seed, **kernel, **extra
        )
        models[gain] = model.fit(X)
        report(f"{name} {'tuned' if tuned else 'auto'} {gain}", model)
    return models


def report(label: str, model: HebbianKernelPCA) -> None:
    raw, orthonormal = model.history_["excess"], model.history_["excess_orthonormal"]
    at = [k for k in (5, 10, 20, 50) if k <= len(raw)]
    values = "  ".join(f"{k}: {raw[k - 1]:.1e} / {orthonormal[k - 1]:.1e}" for k in at)
    gains = f"eta0 {model.eta0_:.2g} mu {model.smd_rate_:.2g}"
    print(f"{label:26} {gains}  {values}  {model.history_['seconds'][-1]:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--png", type=Path)
    arguments = parser.parse_args()
    for name in arguments.cases:
        for tuned in (False, True):
            if tuned and not CASES[name][4]:
                continue
            models = run(name, tuned)
            if arguments.png:
                plots.convergence(models).savefig(arguments.png / f"{name}_{'tuned' if tuned else 'auto'}.png")


if __name__ == "__main__":
    main()
