"""
A walk through the space of scores
==================================

`inverse_transform` also takes scores that belong to no row. Steps along two components show what these components
mean.
"""

# %%
# A model of handwritten digits with two components. Scores in steps from low to high become pictures.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA

X, y = load_digits(return_X_y=True)
model = KernelPCA(2, kernel="rbf", gamma=5e-4, preimage="kwok").fit(X)
scores = model.transform(X)

steps = 13
low, high = np.quantile(scores, (0.02, 0.98), axis=0)
across, up = np.meshgrid(np.linspace(low[0], high[0], steps), np.linspace(high[1], low[1], steps))
pictures = model.inverse_transform(np.column_stack([across.ravel(), up.ravel()]))

# %%
# On the left the real digits, each a dot at its scores, coloured by digit; a number marks the middle of each digit. On
# the right the pictures that belong to the crosses.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
left.scatter(*scores.T, c=y, s=6, cmap="tab10")
left.scatter(across, up, s=14, color="black", marker="+", linewidths=0.7)
for digit in range(10):
    middle = np.median(scores[y == digit], axis=0)
    left.text(*middle, str(digit), fontsize=14, fontweight="bold", ha="center", va="center")
left.set(xlabel="component 1", ylabel="component 2")
left.spines[["top", "right"]].set_visible(False)
sheet = pictures.reshape(steps, steps, 8, 8).swapaxes(1, 2).reshape(8 * steps, 8 * steps)
right.imshow(-sheet, cmap="gray")
right.set_axis_off()

# %%
# `return_residual=True` tells how far each picture is, in feature space, from what was asked for: two components hold
# little of a digit, so no picture has exactly these scores and nothing else.
_, residual = model.inverse_transform(np.column_stack([across.ravel(), up.ravel()]), return_residual=True)
print(np.array2string(residual.reshape(steps, steps)[::6, ::6], precision=3))
