"""
Models of parts, merged
=======================

Two places have learned from different rows. `merge` gives the model that would have seen all of them, without moving
the rows.
"""

# %%
# One place has seen the digits 0 to 4, the other one 5 to 9. Both use the same landmarks; these are points, and need
# not be rows of anybody.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from mercer import LandmarkKernelPCA
from mercer.metrics import subspace_distance

X, y = load_digits(return_X_y=True)
landmarks = KMeans(150, n_init=1, random_state=0).fit(X).cluster_centers_


def learn(rows):
    """Return a model of some rows."""
    return LandmarkKernelPCA(4, kernel="rbf", gamma=5e-4, landmarks=landmarks).partial_fit(rows)


low, high, both = learn(X[y < 5]), learn(X[y >= 5]), learn(X)
merged = low.merge(high)
print(f"rows seen: {low.n_samples_seen_} + {high.n_samples_seen_} = {merged.n_samples_seen_}")
print(f"distance from the model of all rows: {subspace_distance(merged.expansion_, both.expansion_):.1e}")
print(f"before merging: {subspace_distance(low.expansion_, both.expansion_):.2f} and ", end="")
print(f"{subspace_distance(high.expansion_, both.expansion_):.2f}")

# %%
# All digits by the first two components of each model, coloured by digit. The merged model is the one of all rows, up
# to rounding (and the signs of components).
figure, panels = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained")
shown = {"digits 0 to 4": low, "digits 5 to 9": high, "merged": merged, "all rows": both}
for axes, (name, model) in zip(panels, shown.items(), strict=True):
    scores = model.transform(X)[:, :2]
    if model is merged:
        scores *= np.sign((scores * both.transform(X)[:, :2]).sum(axis=0))
    axes.scatter(*scores.T, c=y, s=3, cmap="tab10")
    axes.set_title(name, loc="left")
    axes.set(xticks=[], yticks=[])
