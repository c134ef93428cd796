"""
Kinds of digits, found without labels
=====================================

`mercer.KernelSpectralClustering` sorts handwritten digits into ten clusters. It knows no labels; new digits get the
cluster of those that they resemble.
"""

# %%
# 1200 digits are clustered, and 597 others are labelled by `predict`. The variation of information tells how far the
# clusters are from the true digits: 0 if they are the same.
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelSpectralClustering, plots
from mercer.metrics import variation_of_information

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y, new, y_new = X[order[:1200]], y[order[:1200]], X[order[1200:]], y[order[1200:]]

model = KernelSpectralClustering(10, gamma=0.003, random_state=0).fit(X)
labels = model.predict(new)
at_random = variation_of_information(np.random.default_rng(1).permutation(y_new), y_new)
print(f"learned {variation_of_information(model.labels_, y):.2f}, ", end="")
print(f"new {variation_of_information(labels, y_new):.2f}, labels at random {at_random:.2f}")

# %%
# New digits of each cluster. The name of a line is the digit that is most frequent among the learned rows of the
# cluster, and its share of the new ones. Eights and nines have no cluster of their own: they are found among threes and
# ones, and the ones are divided into three clusters.
rows = {}
for cluster in range(10):
    most = np.bincount(y[model.labels_ == cluster]).argmax()
    share = np.mean(y_new[labels == cluster] == most)
    rows[f"cluster {cluster}: {share:.0%} are {most}"] = new[labels == cluster][:16]
figure = plots.image_grid(rows, (8, 8), size=0.42)
