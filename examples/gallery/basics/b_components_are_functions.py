"""
Components are functions
========================

A component of kernel PCA gives every point of the plane a number, its score. The lines below connect points with
equal scores: for PCA they are straight and parallel, for kernel PCA they follow the shape of the data.
"""

# %%
# Three groups of rows with two features each.
from sklearn.datasets import make_blobs

from mercer import KernelPCA, plots

X, _ = make_blobs(150, centers=[(-0.5, -0.2), (0.0, 0.6), (0.5, 0.0)], cluster_std=0.1, random_state=0)

# %%
# `mercer.plots.score_contours` draws one row of pictures per model. The linear kernel is PCA, and it has only two
# components here. With a Gaussian kernel the first two components separate the three groups.
gaussian = KernelPCA(6, kernel="rbf", gamma=10).fit(X)
models = {"linear": KernelPCA(2, kernel="linear").fit(X), "Gaussian": gaussian}
figure = plots.score_contours(models, X, 2)

# %%
# A Gaussian kernel has more components than there are features: nearly as many as there are rows. These are the first
# six. From the third on, a component divides a group: it is positive on one side of the group, and negative on the
# other.
figure = plots.score_contours({"Gaussian": gaussian}, X, 6)
