"""
A model that grows with the stream
==================================

`mercer.IncrementalKernelPCA` needs no landmarks in advance. It updates its components with every few rows, and keeps
a small library of points that represents them.
"""

# %%
# The digits arrive in chunks. `reference` is the exact model of all rows; the distance to it is recorded after each
# update.
from sklearn.datasets import load_digits

from mercer import IncrementalKernelPCA, KernelPCA, plots

X = load_digits().data[:1000]
exact = KernelPCA(5, kernel="rbf", gamma=5e-4).fit(X)
model = IncrementalKernelPCA(5, kernel="rbf", gamma=5e-4)
for first in range(0, len(X), 100):
    model.partial_fit(X[first : first + 100], reference=exact)
figure = plots.stream_history(model)

# %%
# More points, or more components that are carried along, make it more accurate.
runs = {"points_per_component=10 (default)": model}
few = IncrementalKernelPCA(5, kernel="rbf", gamma=5e-4, points_per_component=3)
runs["points_per_component=3"] = few.fit(X, reference=exact)
runs["rank=20"] = IncrementalKernelPCA(5, kernel="rbf", gamma=5e-4, rank=20).fit(X, reference=exact)
figure = plots.distance_curves(runs, title="Distance to exact kernel PCA of all rows")
# sphinx_gallery_thumbnail_number = 2
