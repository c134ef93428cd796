"""Denoising the camera image, Gaussian noise of 0.1 on [0, 1]: signal-to-noise ratios [guenter2006, sec. 5.2].

    python -m benchmarks.images compare [--png FILE]   the paper's setting, Mercer's default, and others' methods
    python -m benchmarks.images long                   800 passes of plain KHA, as Kim et al. ran it (many minutes)
    python -m benchmarks.images quarters               excess errors of 50 passes in each quarter of the image

The paper's setting: four quarters, windows of 11 x 11 every 4 pixels, 20 components, Gaussian kernel of sigma = 1.
scikit-image's denoisers run where it is installed.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks import kha
from mercer import HebbianKernelPCA, KernelPCA, PatchDenoiser, datasets
from mercer.errors import PreImageWarning
from mercer.metrics import snr

KERNEL = {"kernel": "rbf", "gamma": 0.5}
NOISE = 0.1


def images() -> tuple[np.ndarray, np.ndarray]:
    """The clean and the noisy image; the same noise as in `benchmarks.kha`."""
    clean = datasets.load("camera").X / 255.0
    return clean, clean + NOISE * np.random.default_rng(0).standard_normal(clean.shape)


def paper(estimator: Any) -> PatchDenoiser:
    return PatchDenoiser(window=11, stride=4, estimator=estimator, split=2, remove_mean=False, max_windows=None)


def hebbian(gain: str, passes: int = 50, preimage: str = "kwok", **more: Any) -> HebbianKernelPCA:
    return HebbianKernelPCA(20, gain=gain, max_iter=passes, tol=0, preimage=preimage, random_state=0, **KERNEL, **more)


def methods() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    found = {
        "PCA, 20 components": paper(PCA(20)).denoise,
        "exact, 20, kwok": paper(KernelPCA(20, preimage="kwok", **KERNEL)).denoise,
        "KHA, 50 passes": paper(hebbian("constant")).denoise,
        "KHA/et, 50 passes": paper(hebbian("et")).denoise,
        "KHA-SMD, 50 passes": paper(hebbian("smd")).denoise,
        "exact, 20, mika": paper(KernelPCA(20, preimage="mika", **KERNEL)).denoise,
        "KHA/et, 50, mika": paper(hebbian("et", preimage="mika")).denoise,
        "Mercer's default": PatchDenoiser().denoise,
        "default, split=2": PatchDenoiser(split=2).denoise,
    }
    try:
        from skimage.restoration import denoise_nl_means, denoise_wavelet
    except ImportError:
        return found
    found["non-local means"] = lambda image: denoise_nl_means(
        image, patch_size=5, patch_distance=6, h=0.8 * NOISE, sigma=NOISE, fast_mode=True
    )
    found["wavelets, BayesShrink"] = lambda image: denoise_wavelet(image, sigma=NOISE, rescale_sigma=True)
    return found


def compare(png: str | None) -> None:
    clean, noisy = images()
    print(f"{'noisy':24} {snr(clean, noisy):6.2f} dB", flush=True)
    pictures = {"clean": clean, "noisy": noisy}
    for name, denoise in methods().items():
        start = time.perf_counter()
        pictures[name] = denoise(noisy)
        print(f"{name:24} {snr(clean, pictures[name]):6.2f} dB  {time.perf_counter() - start:6.1f} s", flush=True)
    if png:
        part = np.s_[80:240, 160:320]
        rows = {name: picture[part].reshape(1, -1) for name, picture in pictures.items()}
        draw(rows, (160, 160), png)


def draw(rows: dict[str, np.ndarray], shape: tuple[int, int], png: str, width: int = 5) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * width, 2.8 * -(-len(rows) // width)), layout="constrained")
    for place, (name, picture) in enumerate(rows.items()):
        axes = figure.add_subplot(-(-len(rows) // width), width, place + 1)
        axes.imshow(picture.reshape(shape), cmap="gray", vmin=0, vmax=1)
        axes.set_title(name, fontsize=9)
        axes.set_axis_off()
    figure.savefig(png, dpi=110)


def long() -> None:
    clean, noisy = images()
    for gain, passes, more in (("et", 50, {}), ("constant", 800, {"eta0": 0.05})):
        start = time.perf_counter()
        value = snr(clean, paper(hebbian(gain, passes, **more)).denoise(noisy))
        print(f"{gain:10} {passes:4} passes {value:6.2f} dB  {time.perf_counter() - start:6.1f} s", flush=True)


def quarters() -> None:
    for quarter in range(4):
        print(f"quarter {quarter}", flush=True)
        kha.run("patches", False, X=kha.patches(quarter))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=["compare", "long", "quarters"], default="compare")
    parser.add_argument("--png")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", PreImageWarning)  # narrow kernels: that is what is measured here
    if arguments.what == "compare":
        compare(arguments.png)
    else:
        {"long": long, "quarters": quarters}[arguments.what]()


if __name__ == "__main__":
    main()
