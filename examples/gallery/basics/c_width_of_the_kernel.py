"""
The width of the kernel decides
===============================

``gamma`` says what counts as near: a large value makes a narrow kernel. This example scans it, and lets
`mercer.select` choose it.
"""

# %%
# Digits with noise. A model of the noisy digits projects them on its components and goes back to pixels; what is left
# of the noise tells how good it is. Here the digits without noise are known, so we can look.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mercer
from mercer import KernelPCA, plots
from mercer.errors import PreImageWarning

clean = np.random.default_rng(1).permutation(load_digits().data / 16.0)[:700]
noisy = clean + 0.25 * np.random.default_rng(0).standard_normal(clean.shape)
train, new, truth = noisy[:500], noisy[500:], clean[500:]
median = KernelPCA(1, kernel="rbf", gamma="median").fit(train).gamma_

errors, cleaned = [], {}
warnings.simplefilter("ignore", PreImageWarning)  # it warns of kernels that are too narrow, which are shown here
widths = 2.0 ** np.arange(-5, 5)
for factor in widths:
    model = KernelPCA(32, kernel="rbf", gamma=factor * median, preimage="auto").fit(train)
    back = model.inverse_transform(model.transform(new))
    errors.append(((back - truth) ** 2).sum() / ((new - truth) ** 2).sum())
    cleaned[factor] = back[:12]

# %%
# If the kernel is too wide, the model is nearly linear, and much of the noise stays. If it is too narrow, every row is
# near to nothing but itself, and the results come close to the mean of all digits.
figure = plots.image_grid(
    {
        "noisy": new[:12],
        "too wide": cleaned[widths[0]],
        "best": cleaned[widths[np.argmin(errors)]],
        "too narrow": cleaned[widths[-1]],
    },
    (8, 8),
    size=0.55,
)

# %%
# Of your own data you do not know the clean rows. `mercer.select` needs none: it hides cells of the table and measures
# how well each candidate predicts them. Its choice, the orange line, lies where the true error is smallest.
found = mercer.select(train, purpose="denoising", random_state=0)
print(found.why)

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.semilogx(widths, np.array(errors) * 100, "o-", base=2, label="32 components")
axes.axvline(found.estimator.gamma / median, color="tab:orange", label="chosen without the clean digits")
axes.set(xlabel="gamma, as a multiple of the gamma of the median distance", ylabel="noise left, %", ylim=(0, None))
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)

# %%
# The result is a :class:`mercer.Selection`. Its `plot` draws all candidates with their scores.
figure = found.plot()
