"""
Kernels, and one of your own
============================

A kernel says how similar two rows are. The same rows look different through different kernels.
"""

# %%
# Two moons, and the first component of eight kernels. Kernels can be named (``kernel="rbf"``) or made, as here.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import KernelPCA, kernels
from mercer.errors import IndefiniteKernelWarning

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
    "Sigmoid(gamma=0.5)": kernels.Sigmoid(gamma=0.5, coef0=0.0),
    "a sum: RBF + Linear": lambda A, B: np.exp(-6 * ((A[:, None] - B[None]) ** 2).sum(axis=2)) + 0.2 * A @ B.T,
    "your own: 1 / (1 + 6 d²)": cauchy,
}
# the sigmoid kernel is not positive semi-definite here: components are valid, distances from them are not
warnings.simplefilter("ignore", IndefiniteKernelWarning)
across, up = np.meshgrid(np.linspace(-1.5, 2.5, 90), np.linspace(-1.0, 1.5, 70))
plane = np.column_stack([across.ravel(), up.ravel()])

figure, panels = plt.subplots(2, 4, figsize=(12, 4.6), layout="constrained", sharex=True, sharey=True)
for axes, (name, kernel) in zip(panels.flat, shown.items(), strict=True):
    model = KernelPCA(2, kernel=kernel).fit(X)
    field = model.transform(plane)[:, 0].reshape(across.shape)
    axes.contourf(across, up, field, 20, cmap="PuOr")
    axes.scatter(*X.T, c=y, s=6, cmap="gray", edgecolors="none")
    axes.set_title(name, loc="left", fontsize=10)
    axes.set(xticks=[], yticks=[])

# %%
# With a function of your own, everything works that needs only kernel values: scores, distances from the model,
# explained variance. A way back from scores to rows needs ``preimage="ridge"``. A class derived from
# :class:`mercer.kernels.Kernel` is faster: it writes blocks of kernel values into an array that exists already.
