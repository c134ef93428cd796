"""Gains that need no tuning, relative to the variation of the data.

Let c be the eigenvalues of the covariance in feature space, c = lambda / l. A step with gain eta multiplies the error
in row i by about 1 - eta (c_i - c_k), and adds noise in proportion to eta. The quantity that does not depend on the
scale of the data is therefore eta0 |c|. |c| = ||K'||_F / l is estimated to about ten per cent from a few products of
K' with random vectors.

With KHA/et (eq. 12) all rows converge at the rate eta0 |c| per sample, so eta0 |c| l is their number of e-foldings in
the first pass: about 20 were best, or nearly best, on USPS digits (both kernels, 200 to 7291 rows), image patches,
phonemes and process data; more than 0.06 per sample is never stable. Meta-descent starts at exp(rho) = e times its
gain and adapts it; 13 was the best start. A row whose gain falls to almost zero continues as in KHA/et. A constant gain
is a compromise between the time that small eigenvalues need and noise. KHA/t starts with a high gain because the gain
of all its rows falls with time.
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.engine.gains import ConstantGain, EigenvalueGain, Gain, MetaGain, TimeGain
from mercer.kernels.operator import Operator

PLAIN_GAINS: dict[str, type[Gain]] = {"constant": ConstantGain, "t": TimeGain, "et": EigenvalueGain}
GAINS = (*PLAIN_GAINS, "smd")
_FOLDS = 20.0  # e-foldings in the first pass
_FASTEST = 0.06  # eta0 |c|: with larger gains rows overshoot
_META_FOLDS, _META_FASTEST = 13.0, 0.018  # the same for meta-descent, which starts with exp(rho) = e
_CONSTANT, _FALLING = 0.005, 0.12
_META = 0.06  # mu |c|, for a thousand rows; above 0.15 log-gains sometimes fall without limit
_META_ROWS = 1000
_LOWEST = -4.0  # log-gain; good runs stay above -3
_PROBES = 16


def spread(operator: Operator, rng: np.random.RandomState) -> float:
    """Estimate ||K'||_F / l, the norm of the eigenvalues of the covariance, from |K' g|^2 of random vectors."""
    l = operator.shape[0]
    images = operator.matmul(rng.standard_normal((l, _PROBES)))
    return float(np.sqrt(np.mean(np.sum(images**2, axis=0)))) / l


@dataclass(frozen=True)
class GainRule:
    """A gain whose "auto" parameters are still to be taken from the data."""

    name: str
    eta0: float | str
    rate: float | str = "auto"  # mu of meta-descent, and its xi
    decay: float = 0.99

    @property
    def needs_size(self) -> bool:
        """Whether a parameter depends on the size of the covariance."""
        return isinstance(self.eta0, str) or (self.name == "smd" and isinstance(self.rate, str))

    def gain(self, size: float, length: int) -> Gain:
        """Return the gain for data of this size, |c| above, and this number of samples per pass."""
        unit = size if size > 0 else 1.0
        eta = _strength(self.name, length) / unit if isinstance(self.eta0, str) else float(self.eta0)
        if self.name != "smd":
            return PLAIN_GAINS[self.name](eta)
        if not isinstance(self.rate, str):
            return MetaGain(eta, float(self.rate), float(self.decay))
        return MetaGain(eta, _META * _patience(length) / unit, float(self.decay), _LOWEST)


def _strength(name: str, length: int) -> float:
    if name == "constant":
        return _CONSTANT
    if name == "t":
        return _FALLING
    return min(_META_FOLDS / length, _META_FASTEST) if name == "smd" else min(_FOLDS / length, _FASTEST)


def _patience(length: int) -> float:
    """Return the factor of mu: gradients of gains are noisy with few rows, and add up over many."""
    few = float(np.sqrt(length / _META_ROWS))
    return min(few, max(0.5, 1.0 / few))


def random_rows(r: int, l: int, rng: np.random.RandomState) -> Array:
    """Return random coefficients, (r, l), for `whitened`."""
    return np.asarray(rng.standard_normal((r, l)))


def whitened(A: Array, AK: Array) -> tuple[Array, Array]:
    """Return rows of the same span that are orthogonal in feature space and have length 1/2, with their products.

    [guenter2006, Algorithm 1] starts from variance 1/(r l), "suitably small" for kernels with k(x, x) = 1 only. Length
    1/2 is the same start for data of any scale. Orthogonal rows do not all start near the leading component. If the
    kernel matrix has fewer than r dimensions, the last rows are zero.
    """
    gram = AK @ A.T
    values, vectors = np.linalg.eigh(0.5 * (gram + gram.T))
    keep = values > 1e-12 * max(values[-1], 0.0)
    T = np.zeros_like(gram)
    T[: keep.sum()] = 0.5 * (vectors[:, keep] / np.sqrt(values[keep])).T
    return T @ A, T @ AK
