"""White noise in a photograph: `PatchDenoiser` beside methods that are made for photographs."""

from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from benchmarks.suite.data import load
from benchmarks.suite.measure import on_processors
from benchmarks.suite.peers import need
from benchmarks.suite.plan import Objective, Solver
from mercer import PatchDenoiser
from mercer.metrics import snr

Case = tuple[np.ndarray, np.ndarray, float]  # without and with noise, and its standard deviation


def camera(noise: float) -> Case:
    clean = load("camera").X / 255.0
    return clean, clean + noise * np.random.default_rng(0).standard_normal(clean.shape), noise


def by(denoiser: PatchDenoiser) -> Any:
    return lambda case: partial(on_processors, partial(denoiser.denoise, case[1]))


def non_local_means(case: Case) -> Any:
    denoise = need("skimage.restoration", "scikit-image").denoise_nl_means
    options: dict[str, Any] = {"patch_size": 5, "patch_distance": 6, "h": 0.8 * case[2], "sigma": case[2]}
    return lambda: on_processors(partial(denoise, case[1], fast_mode=True, **options))


def wavelets(case: Case) -> Any:
    denoise = need("skimage.restoration", "scikit-image").denoise_wavelet
    return lambda: on_processors(partial(denoise, case[1], sigma=case[2], rescale_sigma=True))


OBJECTIVE = Objective(
    name="when_not_images",
    question="how much white noise is removed from a photograph of 512 x 512 pixels, in what time?",
    datasets={f"camera, noise {noise}": partial(camera, noise) for noise in (0.05, 0.1, 0.2)},
    solvers=[
        Solver("scikit-image non-local means", non_local_means, peer=True),
        Solver("scikit-image wavelets, BayesShrink", wavelets, peer=True),
        Solver("PatchDenoiser, linear PCA, 20 components", by(PatchDenoiser(estimator=PCA(20)))),
        Solver("PatchDenoiser()", by(PatchDenoiser())),
    ],
    quality=lambda case, found: {"dB": snr(case[0], found), "dB before": snr(case[0], case[1])},
    rounds=1,
    default=False,
)
