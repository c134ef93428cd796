"""Measures that the examples share: similarity to the components of clean data."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import OnlineRobustKernelPCA, kernels


def cosines(model: Any, truth: Any) -> Any:
    """Return |cos| between the directions of two models in feature space, one per component."""
    return np.abs(np.diag(model.expansion_.inner(truth.expansion_)))


def correlations(model: Any, truth: Any, X: Any) -> Any:
    """Return |correlation| of the scores of clean rows, one per component; independent of the origin."""
    pairs = zip(model.transform(X).T, truth.transform(X).T, strict=True)
    return np.array([abs(np.corrcoef(ours, theirs)[0, 1]) for ours, theirs in pairs])


def to_the_letter(landmarks: Any, start: Any, **given: Any) -> OnlineRobustKernelPCA:
    """Return Algorithm 1 exactly as printed: vectors h, gain 1/t, from mean zero and `start`, without a guard."""
    return OnlineRobustKernelPCA(
        start.shape[1],
        update="hebbian",
        feature_map="empirical",
        safeguard=False,
        landmarks=landmarks,
        init=(np.zeros(len(landmarks)), start),
        **given,
    )


def diverges(model: Any, rows: Any) -> bool:
    """Fit a model, and tell whether its numbers overflowed; it then keeps its last good state."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(rows)
    return any("diverged" in str(one.message) for one in heard)


def literal_cosines(model: Any, H: Any) -> Any:
    """Return |cos| between Gamma and the principal directions of the clean vectors h, in their own coordinates."""
    r = model.expansion_.coef.shape[0]
    true = np.linalg.svd(H - H.mean(axis=0), full_matrices=False)[2][:r]
    gamma = model.expansion_.coef
    return np.abs((gamma * true).sum(axis=1)) / np.linalg.norm(gamma, axis=1)


def followed(model: Any, rows: Any, times: Any, measure: Callable[[Any], Any]) -> Any:
    """Let a model read rows in order, and return the measure at the times given, one row each."""
    found, before = [], 0
    for now in times:
        model.partial_fit(rows[before:now])
        found.append(measure(model))
        before = now
    return np.array(found)


def wavelet(name: str, shape: tuple[int, int]) -> Any:
    """Return the kernel of level-1 wavelet coefficients of pictures; MissingExtraError without PyWavelets."""
    make: Any = kernels.Wavelet
    return make(name, level=1, shape=shape)
