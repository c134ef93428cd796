"""Gain rules of the Hebbian algorithms: the factor of a component's step, which depends on time and eigenvalue."""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array

_FLOOR = 1e-6  # of the largest eigenvalue estimate: smaller ones are noise at the start of a run


@dataclass(frozen=True)
class ConstantGain:
    """KHA with eta_t = eta0, as Kim, Franz and Schoelkopf used it; it never converges fully, and always adapts."""

    eta0: float

    def base(self, eigenvalues: Array) -> Array:
        """Return the part of the gains that differs between components, (r,)."""
        return np.full(len(eigenvalues), self.eta0)

    def factor(self, t: Array, length: int) -> Array:
        """Return the part of the gains that changes with time; t counts samples from 1."""
        return np.ones(len(t))


@dataclass(frozen=True)
class TimeGain(ConstantGain):
    """KHA/t with eta_t = eta0 l / (t + l)."""

    def factor(self, t: Array, length: int) -> Array:
        """Return l / (t + l)."""
        return length / (t + length)


@dataclass(frozen=True)
class EigenvalueGain(TimeGain):
    """KHA/et with eta_i = eta0 |lambda| / lambda_i l / (t + l) [guenter2006, eq. 12]."""

    def base(self, eigenvalues: Array) -> Array:
        """Return eta0 |lambda| / lambda_i; very small estimates and zeros are replaced by a lower limit."""
        largest = float(eigenvalues.max(initial=0.0))
        if largest == 0.0:
            return np.full(len(eigenvalues), self.eta0)
        return np.asarray(self.eta0 * np.linalg.norm(eigenvalues) / np.maximum(eigenvalues, _FLOOR * largest))


@dataclass(frozen=True)
class MetaGain(EigenvalueGain):
    """KHA-SMD: the gains of KHA/et times exp(rho), with rho by stochastic meta-descent [guenter2006, eqs. 15-21]."""

    rate: float = 0.05
    decay: float = 0.99
    lowest: float = -np.inf  # log-gain at which a row's meta-descent starts again; never, in the paper


Gain = ConstantGain


def estimated_eigenvalues(A: Array, AK: Array) -> Array:
    """Return |a_i K'| / |a_i| [guenter2006, eq. 13]; zero where a row is zero."""
    norms = np.linalg.norm(A, axis=1)
    return np.asarray(np.linalg.norm(AK, axis=1) / np.where(norms > 0, norms, 1.0))
