"""A single neuron on samples with a known correlation matrix: for the experiments on Oja's rule."""

from typing import Any

import numpy as np

from mercer import HebbianPCA

EIGENVALUES = np.array([1.0, 0.6, 0.35, 0.15])


def axes_and_samples(n: int, seed: int) -> tuple[Any, Any]:
    """Return random axes, one per column, and Gaussian samples with `EIGENVALUES` along them."""
    rng = np.random.default_rng(seed)
    p = len(EIGENVALUES)
    axes = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return axes, rng.standard_normal((n, p)) * np.sqrt(EIGENVALUES) @ axes.T


def neuron(start: Any, eta: float, *, gain: str = "constant", **given: Any) -> HebbianPCA:
    """Return one linear neuron that starts from the weights given, as in the notes: no centring, no sorting."""
    return HebbianPCA(
        1, rule="oja", gain=gain, eta0=eta, init=np.asarray(start)[None], center=False, orthonormalize=False, **given
    )


def path(model: HebbianPCA, samples: Any, start: Any, every: int) -> tuple[Any, Any]:
    """Return times and weights, one row per time, of a neuron that reads the samples in order."""
    weights, times = [np.asarray(start)], [0]
    for first in range(0, len(samples), every):
        model.partial_fit(samples[first : first + every])
        weights.append(model.components_[0].copy())
        times.append(min(first + every, len(samples)))
    return np.array(times), np.array(weights)
