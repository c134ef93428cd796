"""
Recognise by sets of images
===========================

A camera gives many pictures of one object. `mercer.KernelMutualSubspace` describes such a set by the subspace that
its pictures span, and compares sets by the angles between subspaces.
"""

# %%
# The objects are the ten digits; a set has 15 pictures. One set of each digit is learned, one picture at a time, as
# from a camera; ten sets of each digit are unknown.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelMutualSubspace, plots

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
sets = {digit: np.array_split(rng.permutation(X[y == digit])[:165], 11) for digit in range(10)}
unknown = [one for parts in sets.values() for one in parts[1:]]
truth = np.repeat(range(10), 10)

models = {}
for name, kernel in (("Gaussian kernel", "rbf"), ("linear kernel", "linear")):
    models[name] = KernelMutualSubspace(kernel=kernel)
    for digit, parts in sets.items():
        for picture in parts[0]:
            models[name].partial_fit(picture, digit)
    print(f"{name}: {np.mean(models[name].predict(unknown) == truth):.0%} of 100 unknown sets recognised")

# %%
# How similar each unknown set is to each digit. The bright steps are the right answers.
figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
picture = axes.imshow(models["Gaussian kernel"].similarity(unknown).T, aspect="auto", cmap="magma")
axes.set(xlabel="unknown sets, sorted by digit", ylabel="digit", yticks=range(10))
figure.colorbar(picture, ax=axes, label="similarity")

# %%
# Is this set what its label claims? The ROC curves of that question; only their beginning is drawn, because both are
# nearly perfect. On digits the linear kernel is even slightly better.
figure = plots.roc_curves({name: model.roc(unknown, truth) for name, model in models.items()})
figure.axes[0].set(xlim=(-0.002, 0.1), ylim=(0.8, 1.005))
