"""Remove the noise from a walk: python examples/denoise_motion.py walk.png

Frames of a motion are rows like any others: `mercer.denoise` fits kernel PCA to them, projects, and finds pre-images.
Needs the walk of the CMU motion capture database (see `mercer.datasets`).
"""

import sys

import numpy as np

import mercer
from mercer import KernelPCA, datasets, plots


def main(path: str) -> None:
    """Draw noisy and cleaned frames over those that were recorded."""
    data = datasets.load("mocap")
    joints = data.X.astype(float).reshape(len(data.X), -1, 3)
    clean = (joints - joints[:, :1]).reshape(len(data.X), -1)  # relative to the root: a pose, wherever it is
    noisy = clean + 0.5 * np.random.default_rng(0).standard_normal(clean.shape)
    better = mercer.denoise(noisy, KernelPCA(25, kernel="rbf"))
    left = ((better - clean) ** 2).mean() / ((noisy - clean) ** 2).mean()
    frames = np.arange(20, 340, 53)
    rows = {"noisy": noisy[frames], f"{100 * (1 - left):.0f} % of the\nerror removed": better[frames]}
    plots.stick_figures(rows, data.parents, behind=clean[frames]).savefig(path, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "walk.png")
