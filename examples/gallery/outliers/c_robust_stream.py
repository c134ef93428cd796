"""
A stream with bursts of wrong rows
==================================

`mercer.OnlineRobustKernelPCA` reads each row once. Rows that lie far from the components so far hardly change them.
"""

# %%
# A stream of 1500 rows with three main directions. Now and then, and for a while in the middle, rows are wrong.
import numpy as np

from mercer import LandmarkKernelPCA, OnlineRobustKernelPCA, plots

rng = np.random.default_rng(0)
X = rng.standard_normal((1500, 12)) * [5, 3.5, 2.4, *[0.4] * 9]
wrong = rng.uniform(size=1500) < 0.03
wrong[700:760] = True
X[wrong] += 25 * rng.standard_normal((wrong.sum(), 12)) * [0, 0, 0, *[1] * 9]

# %%
# The true directions are the first three axes. After each chunk of 25 rows the cosine between each component and its
# axis is noted, for the robust stream and for a plain one.
robust = OnlineRobustKernelPCA(3, kernel="linear", landmarks=60, random_state=0)
plain = LandmarkKernelPCA(3, kernel="linear", landmarks=X[~wrong][:60])
paths = {"plain": [], "robust": []}
for first in range(0, 1500, 25):
    for name, model in (("plain", plain), ("robust", robust)):
        model.partial_fit(X[first : first + 25])
        if model.n_samples_seen_ < 100:
            continue
        axes = model.expansion_.coef @ model.expansion_.points  # components of the linear kernel as directions
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        paths[name].append(np.abs(np.diag(axes)))
times = np.arange(100, 1501, 25)
figure = plots.cosine_paths(paths, times, outliers=np.flatnonzero(wrong))

# %%
# A cosine of 1 means that the component is the true direction. The robust stream keeps all three directions. The plain
# one gives every row the same weight, and loses them.
