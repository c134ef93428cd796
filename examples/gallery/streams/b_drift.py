"""
Drift: a window, or forgetting
==============================

If the source of the rows changes, old rows are a burden. A model can look at the last rows only (`window`), or let
the weight of rows fade (`forgetting`).
"""

# %%
# The rows lie near an ellipse that turns slowly, and jumps once. The error of each new chunk, before it is learned,
# tells how well a model is up to date.
import matplotlib.pyplot as plt
import numpy as np

from mercer import LandmarkKernelPCA

rng = np.random.default_rng(0)


def chunk(step, n=100):
    """Return rows of one moment."""
    t, turn = rng.uniform(0, 2 * np.pi, n), 0.02 * step + (1.2 if step >= 60 else 0)
    ellipse = np.column_stack([3 * np.cos(t), 0.8 * np.sin(t)]) + 0.1 * rng.standard_normal((n, 2))
    return ellipse @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])


points = np.stack(np.meshgrid(*[np.linspace(-3.6, 3.6, 9)] * 2), -1).reshape(-1, 2)
common = {"kernel": "rbf", "gamma": 0.6, "landmarks": points}
models = {
    "remembers all": LandmarkKernelPCA(8, **common),
    "window=1000": LandmarkKernelPCA(8, window=1000, **common),
    "forgetting=0.998": LandmarkKernelPCA(8, forgetting=0.998, **common),
}
errors = {name: [] for name in models}
for step in range(120):
    rows = chunk(step)
    for name, model in models.items():
        if step:
            errors[name].append(model.reconstruction_error(rows).mean())
        model.partial_fit(rows)

# %%
# Above: where each model expects rows at the end (dark), and the last rows (orange). Below: the errors over time. The
# jump surprises all models. Those that forget recover within ten chunks; the one that remembers all does not.
across, up = np.meshgrid(np.linspace(-3.8, 3.8, 100), np.linspace(-3.8, 3.8, 100))
plane = np.column_stack([across.ravel(), up.ravel()])
figure = plt.figure(figsize=(10, 6.4), layout="constrained")
top, bottom = figure.subfigures(2, 1, height_ratios=(1.3, 1))
for axes, (name, model) in zip(top.subplots(1, 3, sharey=True), models.items(), strict=True):
    axes.contourf(across, up, model.reconstruction_error(plane).reshape(across.shape), 16, cmap="Blues_r")
    axes.scatter(*rows.T, s=6, color="tab:orange")
    axes.set_title(name, loc="left")
    axes.set(xticks=[], yticks=[], aspect="equal")
axes = bottom.subplots()
for name, values in errors.items():
    axes.plot(range(1, 120), values, label=name)
axes.set(xlabel="chunk of 100 rows", ylabel="error before learning", ylim=(0, None))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
