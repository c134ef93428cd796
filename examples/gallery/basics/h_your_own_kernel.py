"""
Kernels, and one of your own
============================

A kernel says how similar two rows are. The same rows look different through different kernels.
"""

# %%
# Two moons, and the first component of six kernels. Kernels can be named (``kernel="rbf"``) or made, as here.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import KernelPCA, kernels

X, y = make_moons(300, noise=0.08, random_state=0)


def cauchy(A, B):
    """A kernel of your own: a function of two matrices that returns the matrix of their similarities."""
    squares = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    return 1 / (1 + 6 * squares)


shown = {
    "Linear()": kernels.Linear(),
    "Polynomial(degree=3)": kernels.Polynomial(degree=3, gamma=1.0, coef0=1.0),
    "RBF(gamma=6)": kernels.RBF(gamma=6),
    "Laplacian(gamma=2)": kernels.Laplacian(gamma=2),
    "Cosine()": kernels.Cosine(),
    "your own: 1 / (1 + 6 d²)": cauchy,
}
across, up = np.meshgrid(np.linspace(-1.5, 2.5, 90), np.linspace(-1.0, 1.5, 70))
plane = np.column_stack([across.ravel(), up.ravel()])

figure, panels = plt.subplots(2, 3, figsize=(10, 5), layout="constrained", sharex=True, sharey=True)
for axes, (name, kernel) in zip(panels.flat, shown.items(), strict=True):
    model = KernelPCA(2, kernel=kernel).fit(X)
    field = model.transform(plane)[:, 0].reshape(across.shape)
    axes.contourf(across, up, field, 20, cmap="PuOr")
    axes.scatter(*X.T, c=y, s=6, cmap="gray", edgecolors="none")
    axes.set_title(name, loc="left", fontsize=10)
    axes.set(xticks=[], yticks=[])

# %%
# With a function of your own everything works that needs only kernel values: scores, distances from the model,
# explained variance. A way back from scores to rows needs ``preimage="ridge"``.
