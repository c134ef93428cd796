"""
A noisy walk
============

Frames of a motion are rows: the coordinates of all joints. `mercer.denoise` fits, projects, and comes back, in one
line.
"""

# %%
# A walk of two legs, a trunk, a head and two arms, whose angles swing.
import numpy as np

import mercer
from mercer import KernelPCA, plots

parents = np.array([-1, 0, 1, 0, 3, 0, 5, 5, 7, 5, 9])  # the joint that each joint is attached to
lengths = [0, 8, 8, 8, 8, 10, 4, 5, 5, 5, 5]
swings = [0, 0.5, 0.6, -0.5, -0.6, 0.05, 0.1, -0.4, -0.6, 0.4, 0.6]
phase = 2 * np.pi * np.arange(358) / 130
joints = np.zeros((len(phase), len(parents), 3))
for joint, parent in enumerate(parents[1:], start=1):
    angle = swings[joint] * np.sin(phase - 0.3 * (joint % 2))
    up = 1 if joint in (5, 6) else -1
    side = 1.5 * np.sign(swings[joint]) * (parent in (0, 5) and up < 0)  # hips and shoulders are apart
    step = [np.full(len(phase), side), up * lengths[joint] * np.cos(angle), lengths[joint] * np.sin(angle)]
    joints[:, joint] = joints[:, parent] + np.column_stack(step)
clean = joints.reshape(len(joints), -1)
noisy = clean + 0.8 * np.random.default_rng(0).standard_normal(clean.shape)
noisy[:, :3] = 0  # the root stays where it is

# %%
# All frames lie near a curve in 33 dimensions. Kernel PCA follows it. Grey: the true motion.
better = mercer.denoise(noisy, KernelPCA(12, kernel="rbf", gamma="median"))
removed = 1 - ((better - clean) ** 2).mean() / ((noisy - clean) ** 2).mean()
frames = np.arange(20, 340, 45)
figure = plots.stick_figures(
    {"noisy": noisy[frames], f"{removed:.0%} of the\nerror removed": better[frames]}, parents, behind=clean[frames]
)
