"""
Clusters of any shape, with labels for new rows
===============================================

`mercer.KernelSpectralClustering` finds clusters that k-means cannot find. It also has a method `predict`, which gives
labels to new rows: here to every point of the plane.
"""

# %%
# Three data sets. The colours of the background are the labels of new rows.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles, make_moons

from mercer import KernelSpectralClustering

rng = np.random.default_rng(0)
turn = np.sqrt(rng.uniform(0.05, 1, 500)) * 3 * np.pi
arm = rng.integers(0, 2, 500) * np.pi
spirals = np.column_stack([turn * np.cos(turn + arm), turn * np.sin(turn + arm)]) / 8 + 0.03 * rng.standard_normal(
    (500, 2)
)
sets = {
    "circles": (make_circles(500, factor=0.4, noise=0.06, random_state=0)[0], 20),
    "moons": (make_moons(500, noise=0.07, random_state=0)[0], 20),
    "spirals": (spirals, 90),
}
figure, panels = plt.subplots(2, 3, figsize=(10, 6.4), layout="constrained")
for column, (name, (X, gamma)) in zip(panels.T, sets.items(), strict=True):
    models = {
        "k-means": KMeans(2, n_init=5, random_state=0).fit(X),
        "spectral": KernelSpectralClustering(2, gamma=gamma, random_state=0).fit(X),
    }
    low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    across, up = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))
    plane = np.column_stack([across.ravel(), up.ravel()])
    for axes, (method, model) in zip(column, models.items(), strict=True):
        axes.contourf(
            across, up, model.predict(plane).reshape(across.shape), [-1, 0.5, 2], colors=["#cfe2f3", "#fbe5cd"]
        )
        axes.scatter(*X.T, c=np.where(model.labels_, "#d9822b", "#1f77b4"), s=6)
        axes.set_title(f"{name}, {method}", loc="left")
        axes.set(xticks=[], yticks=[])
