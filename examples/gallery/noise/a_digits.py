"""
Noisy digits, cleaned
=====================

Noise spreads over all directions, digits use only a few. A projection on these few directions, and the way back to
pixels (the pre-image), removes most of the noise.
"""

# %%
# Noise is added to handwritten digits. The models learn from noisy digits only, and clean others.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import KernelPCA, plots

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(1).permutation(len(X))
clean, y = X[order] / 16.0, y[order]
noisy = clean + 0.3 * np.random.default_rng(0).standard_normal(clean.shape)
train, new, truth = noisy[:1000], noisy[1000:], clean[1000:]

linear = PCA(12).fit(train)
model = KernelPCA(32, kernel="rbf", gamma=0.08, preimage="mika").fit(train)

rows = {"without noise": truth[:14], "noisy": new[:14]}
for name, one in {"PCA": linear, "kernel PCA": model}.items():
    cleaned = one.inverse_transform(one.transform(new))
    left = ((cleaned - truth) ** 2).sum() / ((new - truth) ** 2).sum()
    rows[f"{name}: {left:.0%} left"] = cleaned[:14]

figure = plots.denoising(rows, (8, 8), model, new, y[1000:], title="Noise left, as a share of what was added")

# %%
# Both numbers of components were chosen so that each method does well: with more of them PCA keeps more noise, with
# fewer it loses digits. `mercer.select` makes this choice without knowing the clean digits.
