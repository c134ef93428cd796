"""Gains that need no tuning: the step a component takes in a pass, relative to the variation it is to find.

Let c be the eigenvalues of the covariance in feature space, c = lambda / l. A step with gain eta multiplies the error
in row i by about 1 - eta (c_i - c_k), and adds noise in proportion to eta. What is free of any scale is therefore
eta0 |c|, and |c| = ||K'||_F / l is known to some ten per cent from a handful of products of K' with random vectors.

With KHA/et (eq. 12) all rows converge at the rate eta0 |c| a sample, so eta0 |c| l is their number of e-foldings in
the first pass: about 20 were best, or near it, on USPS digits (both kernels, 200 to 7291 rows), image patches,
phonemes and process data; more than 0.06 a sample is never stable. Meta-descent starts at exp(rho) = e times its gain
and finds its own way from there, best from 13. A constant gain has to trade the time that small eigenvalues need
against noise; KHA/t starts high because its gain falls for all rows alike.
"""

import numpy as np

from mercer.arrays import Array
from mercer.engine.gains import ConstantGain, EigenvalueGain, Gain, MetaGain, TimeGain
from mercer.kernels.operator import Operator

GAINS = ("constant", "t", "et", "smd")
_FOLDS = 20.0  # e-foldings in the first pass
_FASTEST = 0.06  # eta0 |c|: beyond it rows overshoot
_META_FOLDS, _META_FASTEST = 13.0, 0.018  # the same for meta-descent, which starts with exp(rho) = e
_CONSTANT, _FALLING = 0.005, 0.12
_META = 0.06  # mu |c|; above 0.15 log-gains collapse now and then
_META_ROWS = 1000  # below so many rows gradients of gains are too noisy for it
_PROBES = 16


def spread(operator: Operator, rng: np.random.RandomState) -> float:
    """Estimate ||K'||_F / l, the norm of the eigenvalues of the covariance, from |K' g|^2 of random vectors."""
    l = operator.shape[0]
    images = operator.matmul(rng.standard_normal((l, _PROBES)))
    return float(np.sqrt(np.mean(np.sum(images**2, axis=0)))) / l


def choose_gain(
    name: str,
    eta0: float | str,
    rate: float | str,
    decay: float,
    *,
    size: float,  # |c|, see above
    length: int,  # samples in a pass
) -> Gain:
    """Return the gain rule of this name; "auto" parameters are taken from the data."""
    unit = size if size > 0 else 1.0
    eta = _strength(name, length) / unit if isinstance(eta0, str) else float(eta0)
    if name == "smd":
        mu = _META * min(1.0, np.sqrt(length / _META_ROWS)) / unit if isinstance(rate, str) else float(rate)
        return MetaGain(eta, float(mu), float(decay))
    rules = {"constant": ConstantGain, "t": TimeGain, "et": EigenvalueGain}
    return rules[name](eta)


def _strength(name: str, length: int) -> float:
    if name == "constant":
        return _CONSTANT
    if name == "t":
        return _FALLING
    return min(_META_FOLDS / length, _META_FASTEST) if name == "smd" else min(_FOLDS / length, _FASTEST)


def random_rows(r: int, l: int, trace: float, rng: np.random.RandomState) -> Array:
    """Return random coefficients whose vectors in feature space have length 1/(2 sqrt r).

    [guenter2006, Algorithm 1] takes the variance 1/(r l), "suitably small" for kernels with k(x, x) = 1 only; with the
    trace of K' in place of l the start is the same for data of any scale.
    """
    return np.asarray(rng.standard_normal((r, l)) * (0.5 / np.sqrt(r * (trace if trace > 0 else l))))
