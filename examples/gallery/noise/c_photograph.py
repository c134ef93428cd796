"""
A photograph, cleaned by its own windows
========================================

`mercer.PatchDenoiser` needs no other images: it learns from the small windows of the noisy picture itself.
"""

# %%
# A part of one of scikit-learn's photographs, with Gaussian noise.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.decomposition import PCA

from mercer import PatchDenoiser
from mercer.metrics import snr

clean = load_sample_image("china.jpg").mean(axis=2)[60:240, 170:410] / 255.0
noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)

# %%
# Windows of 9 x 9 pixels are cut, kernel PCA learns from them, each is replaced by what the model can express of it,
# and overlapping windows are averaged. The same with linear PCA, for comparison.
pictures = {
    "noisy": noisy,
    "PCA of windows": PatchDenoiser(estimator=PCA(12)).denoise(noisy),
    "PatchDenoiser": PatchDenoiser().denoise(noisy),
    "without noise": clean,
}
figure, panels = plt.subplots(2, 2, figsize=(10, 7.8), layout="constrained")
for axes, (name, image) in zip(panels.flat, pictures.items(), strict=True):
    axes.imshow(image, cmap="gray", vmin=0, vmax=1)
    axes.set_title(name if image is clean else f"{name}: {snr(clean, image):.1f} dB", loc="left")
    axes.set_axis_off()

# %%
# For natural images with white noise there are better methods (non-local means, for example). Use this one if you also
# want the model: its components, its errors, or an estimator that is robust or learns from a stream.
