"""
Saving, loading, and what a file cannot do
==========================================

A model file holds numbers and a few words, and nothing that could be run. A file in which a single byte was changed is
refused.
"""

# %%
# Fit a model, save it, and load it again, as another program on another machine would.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.datasets import load_digits

import mercer
from mercer import KernelPCA

X = load_digits().data
path = Path(tempfile.mkdtemp()) / "digits.mercer"
model = KernelPCA(2, kernel="rbf", gamma="median").fit(X[:1200])
model.save(path)

loaded = mercer.load(path)
print(f"{path.stat().st_size / 1e6:.2f} MB;", "the scores are equal to the last bit:", end=" ")
print(np.array_equal(model.transform(X[1200:]), loaded.transform(X[1200:])))

# %%
# One byte is changed, somewhere in the middle.
content = bytearray(path.read_bytes())
content[len(content) // 2] ^= 1
path.write_bytes(content)
try:
    mercer.load(path)
except mercer.errors.ModelFileError as error:
    print(error)

# %%
# What the loaded model sees: new digits, each at the place of its scores.
figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
scores = loaded.transform(X[1200:])
axes.scatter(*scores.T, s=0)
taken = np.zeros((0, 2))
for image, place in zip(X[1200:], scores, strict=True):
    if len(taken) and np.min(np.abs(taken - place).max(axis=1)) < 0.05:
        continue  # no two digits on top of each other
    taken = np.vstack([taken, place])
    axes.add_artist(AnnotationBbox(OffsetImage(-image.reshape(8, 8), cmap="gray", zoom=2.2), place, frameon=False))
axes.set(xlabel="component 1", ylabel="component 2")
axes.spines[["top", "right"]].set_visible(False)

# %%
# The model itself is a :class:`mercer.Expansion`: points, and the coefficients of the components on them. Every class
# that finds components makes one, so that files, distances and plots are the same for all.
expansion = loaded.expansion_
print(type(expansion).__name__, "with", expansion.n_points, "points; coefficients", expansion.coef.shape)
