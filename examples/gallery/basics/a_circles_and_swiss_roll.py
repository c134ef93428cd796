"""
What kernel PCA sees and PCA does not
=====================================

PCA finds straight directions. Kernel PCA finds curved ones: its components are functions of a row. Here are two data
sets on which that makes a difference.
"""

# %%
# Two rings. No straight line separates them, so the best that PCA can do is to turn the picture. The first component
# of `mercer.KernelPCA` with a Gaussian kernel (of this width) tells the inner ring from the outer one.
import warnings

import matplotlib.pyplot as plt
from scipy.sparse.csgraph import shortest_path
from sklearn.datasets import make_circles, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph

from mercer import KernelPCA
from mercer.errors import IndefiniteKernelWarning

rings, ring = make_circles(600, factor=0.35, noise=0.06, random_state=0)
ring_scores = KernelPCA(2, kernel="rbf", gamma=4).fit_transform(rings)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.3), layout="constrained")
for axes, rows, title in (
    (left, rings, "the rows"),
    (middle, PCA(2).fit_transform(rings), "PCA"),
    (right, ring_scores, "kernel PCA"),
):
    axes.scatter(*rows.T, c=ring, s=9, cmap="coolwarm")
    axes.set_title(title, loc="left")
    axes.set(xticks=[], yticks=[])
    if rows is not rings:
        axes.set(xlabel="component 1", ylabel="component 2")

# %%
# A swiss roll: a sheet that is rolled up, coloured along the roll. PCA looks at it from the side: layers that lie
# behind each other fall together. Kernel PCA can use any measure of similarity. Here it is made of distances along the
# sheet, from neighbour to neighbour, and passed as a matrix: the sheet becomes flat. (Kernel PCA with this kernel is
# also known as Isomap.)
roll, along = make_swiss_roll(1200, noise=0.1, random_state=0)
distances = shortest_path(kneighbors_graph(roll, 8, mode="distance"), directed=False)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", IndefiniteKernelWarning)  # distances along a sheet are not quite those of a plane
    flat = KernelPCA(2, kernel="precomputed").fit_transform(-0.5 * distances**2)

figure = plt.figure(figsize=(10, 3.3), layout="constrained")
axes = figure.add_subplot(1, 3, 1, projection="3d")
axes.scatter(*roll.T, c=along, s=4, cmap="viridis")
axes.view_init(8, -75)
axes.set(xticklabels=[], yticklabels=[], zticklabels=[])
axes.set_title("the rows", loc="left")
for place, (title, rows) in enumerate({"PCA": PCA(2).fit_transform(roll), "kernel PCA": flat}.items(), start=2):
    axes = figure.add_subplot(1, 3, place)
    axes.scatter(*rows.T, c=along, s=4, cmap="viridis")
    axes.set_title(title, loc="left")
    axes.set(xticks=[], yticks=[], xlabel="component 1", ylabel="component 2")
