"""Denoising a walk of the CMU motion capture database, Gaussian noise of 0.5 units [guenter2006, sec. 5.4, figure 4].

    python -m benchmarks.motion [--png FOLDER]

Prints by how much the mean squared error falls with 25 components, and the excess errors of Hebbian passes.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

import mercer
from mercer import HebbianKernelPCA, KernelPCA, datasets, plots

RBF = {"kernel": "rbf", "preimage": "auto"}
PASSES = 50


def walk() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The walk relative to its root, the same with noise, and which joint each joint hangs on."""
    data = datasets.load("mocap")
    joints = data.X.astype(np.float64).reshape(len(data.X), -1, 3)
    clean = (joints - joints[:, :1]).reshape(len(data.X), -1)
    return clean, clean + 0.5 * np.random.default_rng(0).standard_normal(clean.shape), data.parents


def hebbian(gain: str) -> HebbianKernelPCA:
    return HebbianKernelPCA(25, gain=gain, max_iter=PASSES, tol=0, monitor="excess", random_state=0, **RBF)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--png", type=Path)
    png = parser.parse_args().png
    warnings.simplefilter("ignore")
    clean, noisy, parents = walk()
    before = ((noisy - clean) ** 2).mean()
    estimators: dict[str, Any] = {
        "PCA, 25": PCA(25),
        "PCA, 5": PCA(5),
        "KernelPCA, 25": KernelPCA(25, **RBF),
        "median width": KernelPCA(25, gamma="median", **RBF),
        "sigma = sqrt(1.5)": KernelPCA(25, gamma=1 / 3, **RBF),
        **{f"KHA {gain}": hebbian(gain) for gain in ("t", "et", "smd")},
    }
    pictures = {"noisy": noisy}
    print(f"mean squared error of the noisy frames: {before:.4f}")
    for name, estimator in estimators.items():
        pictures[name] = mercer.denoise(noisy, estimator)
        print(f"{name:18} error reduced by {100 * (1 - ((pictures[name] - clean) ** 2).mean() / before):6.1f} %")
    models = {gain: hebbian(gain).fit(noisy) for gain in ("t", "et", "smd")}
    for gain, model in models.items():
        values = "  ".join(f"{k}: {model.history_['excess'][k - 1]:.1e}" for k in (1, 5, 10, 20, 50))
        print(f"{gain:4} excess error after passes  {values}")
    if png:
        plots.convergence(models, title="A walk, 25 components").savefig(png / "motion_convergence.png")
        frames = np.arange(20, 340, 53)
        shown = {name: pictures[name][frames] for name in ("noisy", "PCA, 25", "KernelPCA, 25", "KHA smd")}
        plots.stick_figures(shown, parents, behind=clean[frames]).savefig(png / "motion_frames.png", dpi=90)


if __name__ == "__main__":
    main()
