"""Remove the noise from a picture: python examples/denoise_image.py denoised.png

Gaussian noise is added to the camera image (or to one of scikit-learn's if it is missing). `PatchDenoiser` learns only
from the windows of the noisy picture.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_sample_image
from sklearn.decomposition import PCA

from mercer import PatchDenoiser, datasets
from mercer.metrics import snr


def picture() -> np.ndarray:
    """A grey picture with values from 0 to 1, 256 pixels wide."""
    try:
        return datasets.load("camera").X[40:296, 100:356] / 255.0
    except FileNotFoundError:
        return load_sample_image("china.jpg").mean(axis=2)[:256, 100:356] / 255.0


def main(path: str) -> None:
    """Clean the picture in three ways, and draw them beside each other."""
    clean = picture()
    noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    pictures = {
        "noisy": noisy,
        "PCA of windows": PatchDenoiser(estimator=PCA(12)).denoise(noisy),
        "PatchDenoiser": PatchDenoiser().denoise(noisy),
        "clean": clean,
    }
    figure = Figure(figsize=(12, 3.4), layout="constrained")
    for axes, (name, image) in zip(figure.subplots(1, 4), pictures.items(), strict=True):
        axes.imshow(image, cmap="gray", vmin=0, vmax=1)
        axes.set_title(name if name == "clean" else f"{name}: {snr(clean, image):.1f} dB", fontsize=10)
        axes.set_axis_off()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "denoised.png")
