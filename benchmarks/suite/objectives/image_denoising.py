"""Denoising an image: the setting of [guenter2006, sec. 5.2], Mercer's own, and others' methods."""

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.suite.data import load
from benchmarks.suite.peers import need
from benchmarks.suite.plan import Objective, Solver
from mercer import HebbianKernelPCA, KernelPCA, PatchDenoiser
from mercer.errors import PreImageWarning
from mercer.metrics import snr

KERNEL = {"kernel": "rbf", "gamma": 0.5}
NOISE = 0.1
Images = tuple[np.ndarray, np.ndarray]


def images() -> Images:
    """Return the clean and the noisy image."""
    clean = load("camera").X / 255.0
    return clean, clean + NOISE * np.random.default_rng(0).standard_normal(clean.shape)


def paper(estimator: Any) -> PatchDenoiser:
    """Return the paper's setting: four quarters, windows of 11 x 11 every 4 pixels."""
    return PatchDenoiser(window=11, stride=4, estimator=estimator, split=2, remove_mean=False, max_windows=None)


def hebbian(gain: str, passes: int = 50, preimage: str = "kwok", **more: Any) -> HebbianKernelPCA:
    return HebbianKernelPCA(20, gain=gain, max_iter=passes, tol=0, preimage=preimage, random_state=0, **KERNEL, **more)


def exact(preimage: str) -> KernelPCA:
    return KernelPCA(20, preimage=preimage, **KERNEL)


def by(denoiser: PatchDenoiser) -> Any:
    def call(noisy: np.ndarray) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PreImageWarning)  # warnings about narrow kernels: these are measured here
            return np.asarray(denoiser.denoise(noisy))

    return lambda given: lambda: call(given[1])


def non_local_means(given: Images) -> Any:
    denoise = need("skimage.restoration", "scikit-image").denoise_nl_means
    options: dict[str, Any] = {"patch_size": 5, "patch_distance": 6, "h": 0.8 * NOISE, "sigma": NOISE}
    return lambda: denoise(given[1], fast_mode=True, **options)


def wavelets(given: Images) -> Any:
    denoise = need("skimage.restoration", "scikit-image").denoise_wavelet
    return lambda: denoise(given[1], sigma=NOISE, rescale_sigma=True)


def decibels(given: Images, found: np.ndarray) -> dict[str, float]:
    clean, noisy = given
    return {"dB": snr(clean, found), "dB of the noisy image": snr(clean, noisy)}


OBJECTIVE = Objective(
    name="image_denoising",
    question="how much noise of 0.1 is removed from the camera image, windows of 11 x 11?",
    datasets={"camera 512 x 512": images},
    solvers=[
        Solver("linear PCA, 20 components", by(paper(PCA(20))), peer=True),
        Solver("scikit-image non-local means", non_local_means, peer=True),
        Solver("scikit-image wavelets, BayesShrink", wavelets, peer=True),
        Solver("paper's setting, exact, kwok", by(paper(exact("kwok")))),
        Solver("paper's setting, KHA, 50 passes", by(paper(hebbian("constant")))),
        Solver("paper's setting, KHA/et, 50 passes", by(paper(hebbian("et")))),
        Solver("paper's setting, KHA-SMD, 50 passes", by(paper(hebbian("smd")))),
        Solver("paper's setting, exact, mika", by(paper(exact("mika")))),
        Solver("paper's setting, KHA/et, 50 passes, mika", by(paper(hebbian("et", preimage="mika")))),
        Solver("PatchDenoiser()", by(PatchDenoiser())),
        Solver("PatchDenoiser(split=2)", by(PatchDenoiser(split=2))),
    ],
    quality=decibels,
    rounds=0,
    default=False,
)
