"""
A million rows in one pass
==========================

A kernel matrix of a million rows would need 8 TB. `mercer.LandmarkKernelPCA` reads each row once, in chunks, and
keeps only a few points and sums.
"""

# %%
# The rows are points of a torus knot in space with some noise, and 7 more columns of noise. They are made chunk by
# chunk; a reader of a file larger than memory would look the same.
import time

import matplotlib.pyplot as plt
import numpy as np

from mercer import LandmarkKernelPCA

rng = np.random.default_rng(0)


def chunk(n, noise=0.12):
    """Return rows, and where on the knot they are."""
    t = rng.uniform(0, 2 * np.pi, n)
    radius = 2 + np.cos(3 * t)
    knot = np.column_stack([radius * np.cos(2 * t), radius * np.sin(2 * t), np.sin(3 * t)])
    rows = np.hstack([knot, np.zeros((n, 7))]) + noise * rng.standard_normal((n, 10))
    return rows.astype(np.float32), t


model = LandmarkKernelPCA(4, kernel="rbf", gamma=0.15, landmarks=200, random_state=0)
seconds, rows_seen = [0.0], [0]
for _ in range(20):
    rows, _ = chunk(50_000)
    start = time.perf_counter()
    model.partial_fit(rows)
    seconds.append(seconds[-1] + time.perf_counter() - start)
    rows_seen.append(model.n_samples_seen_)
kept = model.expansion_.points.nbytes + model.expansion_.coef.nbytes
print(f"{model.n_samples_seen_:,} rows; the model keeps {model.expansion_.n_points} points, {kept / 1e3:.0f} kB")

# %%
# The scores of new rows, and the time: it grows with the number of rows, and not with its square.
new, t = chunk(4000)
scores = model.transform(new)
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
left.scatter(new[:, 0], new[:, 1], c=t, s=3, cmap="hsv")
left.set_title("two of ten columns", loc="left")
middle.scatter(scores[:, 2], scores[:, 3], c=t, s=3, cmap="hsv")
middle.set_title("components 3 and 4", loc="left")
for axes in (left, middle):
    axes.set(xticks=[], yticks=[], aspect="equal")
right.plot(np.array(rows_seen) / 1e6, seconds, "o-")
right.set(xlabel="million rows", ylabel="seconds", ylim=(0, None))
right.spines[["top", "right"]].set_visible(False)
