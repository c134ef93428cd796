"""Remove the noise from a walk: python examples/denoise_motion.py walk.png

Frames of a motion are rows: `mercer.denoise` fits kernel PCA to them, projects, and finds pre-images.
Without the walk of the CMU motion capture database (see `mercer.datasets`) a made-up one is used.
"""

import sys

import numpy as np

import mercer
from mercer import KernelPCA, datasets, plots


def walk() -> tuple[np.ndarray, np.ndarray]:
    """Return x, y, z of every joint, (frames, joints, 3), and the joint that each is attached to."""
    if datasets.archive("mocap") is None:
        return made_up()
    data = datasets.load("mocap")
    return data.X.astype(float).reshape(len(data.X), -1, 3), data.parents


def made_up(n: int = 358) -> tuple[np.ndarray, np.ndarray]:
    """Return a walk of two legs, a trunk, a head and two arms, whose angles swing."""
    phase = 2 * np.pi * np.arange(n) / 130
    parents = np.array([-1, 0, 1, 0, 3, 0, 5, 5, 7, 5, 9])
    lengths = [0, 8, 8, 8, 8, 10, 4, 5, 5, 5, 5]
    swings = [0, 0.5, 0.6, -0.5, -0.6, 0.05, 0.1, -0.4, -0.6, 0.4, 0.6]
    joints = np.zeros((n, len(parents), 3))
    for joint, parent in enumerate(parents[1:], start=1):
        angle = swings[joint] * np.sin(phase - 0.3 * (joint % 2))
        up = 1 if joint in (5, 6) else -1
        side = 1.5 * np.sign(swings[joint]) * (parent in (0, 5) and up < 0)  # hips and shoulders are apart
        step = [np.full(n, side), up * lengths[joint] * np.cos(angle), lengths[joint] * np.sin(angle)]
        joints[:, joint] = joints[:, parent] + np.column_stack(step)
    return joints, parents


def main(path: str) -> None:
    """Draw noisy and cleaned frames over those that were recorded."""
    joints, parents = walk()
    clean = (joints - joints[:, :1]).reshape(len(joints), -1)  # relative to the root: the pose without its position
    noisy = clean + 0.5 * np.random.default_rng(0).standard_normal(clean.shape)
    better = mercer.denoise(noisy, KernelPCA(25, kernel="rbf"))
    left = ((better - clean) ** 2).mean() / ((noisy - clean) ** 2).mean()
    frames = np.arange(20, 340, 53)
    rows = {"noisy": noisy[frames], f"{100 * (1 - left):.0f} % of the\nerror removed": better[frames]}
    plots.stick_figures(rows, parents, behind=clean[frames]).savefig(path, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "walk.png")
