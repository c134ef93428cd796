"""
L1 against L2 components
========================

Ordinary components maximise the sum of squared scores, so that one far row counts as much as many near ones.
`mercer.L1KernelPCA` maximises the sum of absolute scores; `mercer.R1KernelPCA` minimises the sum of distances that
are not squared.
"""

# %%
# Rows near a line, with more and more wrong rows far above and below it. How far is the first component turned away
# from the line?
import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA, L1KernelPCA, R1KernelPCA, RobustKernelPCA

rng = np.random.default_rng(0)
line = np.array([1.0, 0.0])
good = rng.standard_normal((200, 2)) * [3, 0.4]
far = rng.standard_normal((40, 2)) * [2, 9]
kinds = {"L2: KernelPCA": KernelPCA, "L1: L1KernelPCA": L1KernelPCA, "R1: R1KernelPCA": R1KernelPCA}
kinds["weights: RobustKernelPCA"] = RobustKernelPCA


def direction(model):
    """Return the first component of a linear kernel as a direction of unit length."""
    axis = model.expansion_.coef[0] @ model.expansion_.points
    return axis / np.linalg.norm(axis)


counts = np.arange(0, 41, 4)
angles = {name: [] for name in kinds}
for count in counts:
    X = np.vstack([good, far[:count]])
    for name, kind in kinds.items():
        axis = direction(kind(1, kernel="linear").fit(X))
        angles[name].append(np.degrees(np.arccos(min(1.0, abs(axis @ line)))))

# %%
# The components with 12 wrong rows, and the angles for all numbers of them.
X = np.vstack([good, far[:12]])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
left.scatter(*good.T, s=8, color="0.6")
left.scatter(*far[:12].T, s=14, color="tab:red")
for colour, (name, kind) in zip(("C0", "C1", "C2", "C4"), kinds.items(), strict=True):
    axis = direction(kind(1, kernel="linear").fit(X))
    left.axline(X.mean(axis=0), slope=axis[1] / axis[0] if abs(axis[0]) > 1e-6 else 1e6, color=colour)
    right.plot(counts, angles[name], "o-", color=colour, label=name)
left.set(xlim=(-10, 10), ylim=(-22, 22), xticks=[], yticks=[])
left.set_title("grey: good rows, red: 12 wrong ones", loc="left", fontsize=10)
right.set(xlabel="wrong rows beside 200 good ones", ylabel="angle to the line, degrees")
right.spines[["top", "right"]].set_visible(False)
figure.legend(*right.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4)

# %%
# L2 turns with the first wrong rows. R1 stays until they are one in ten, and then turns at once; L1 turns slowly.
# Weights that can become zero do not let the component turn at all here. The same classes take any other kernel.
