"""Models of incremental kernel PCA: a covariance as U Sigma^2 U^T on the points of a library [chin2007, sec. IV]."""

from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.engine.spectrum import clean_eigenvalues, orientation, rounding_noise, thresholds
from mercer.expansion.build import of_components
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.solvers.incremental.reduced_set import Method


@dataclass(frozen=True)
class StreamOptions:
    """Options for a stream: the estimator's parameters; comments give the letters of the paper."""

    rank: int  # r
    size: int  # (r + 1) p, points of the library after a compression
    compression: Method | None = "subset"
    forgetting: float = 1.0
    center: bool = True

    def rank_after(self, seen: int) -> int:
        """Return how many components are kept: all of the first (r + 1) p rows [chin2007, Table I, step 1], then r."""
        return self.size if seen <= self.size else self.rank


@dataclass(frozen=True, eq=False)
class Factors:
    """A weighted sum of squares about its mean, as vectors^T vectors, on the points of a library."""

    points: Points  # (m, d), dense or CSR
    vectors: Array  # (k, m), coefficients on the points
    values: Array  # (k, m), inner products with the points
    nu: Array  # (m,), coefficients of the mean; zeros where nothing is centred
    mean_values: Array  # (m,), inner products of the mean with the points
    diagonal: Array  # (m,), k(x, x) of the points
    gram: Array | None  # (m, m), the library's kernel matrix, if needed
    weight: float  # sum of the weights of the rows
    squares: float  # sum of their squares
    own: float  # sum of w k(x, x)
    seen: int


@dataclass(frozen=True, eq=False)
class IncrementalModel(Factors):
    """The same with orthonormal vectors and separate singular values."""

    singular: Array  # (k,), descending

    @property
    def mean_norm(self) -> float:
        """The squared length of the mean."""
        return float(self.nu @ self.mean_values)

    @property
    def freedom(self) -> float:
        """The divisor of eigenvalues for an unbiased variance: n - 1 if all weights are one."""
        return self.weight - self.squares / self.weight if self.weight > 0 else 0.0

    @property
    def trace(self) -> float:
        """The total variation, including the part outside components and library: sum w k(x, x) - W |mean|^2."""
        return max(self.own - self.weight * self.mean_norm, float(self.singular @ self.singular), 0.0)

    def residual(self, n_components: int) -> float:
        """Return the mean squared distance of the rows seen from the first components."""
        explained = float(self.singular[:n_components] @ self.singular[:n_components])
        return max(self.trace - explained, 0.0) / self.weight if self.weight > 0 else 0.0

    def faded(self, factor: float) -> "IncrementalModel":
        """Return the model with all weights multiplied by a factor."""
        if factor == 1.0:
            return self
        return replace(
            self,
            singular=self.singular * np.sqrt(factor),
            weight=self.weight * factor,
            squares=self.squares * factor**2,
            own=self.own * factor,
        )

    def scaled(self) -> Factors:
        """Return the singular values multiplied into the vectors."""
        fields = {name: getattr(self, name) for name in Factors.__dataclass_fields__}
        scale = self.singular[:, None]
        return Factors(**{**fields, "vectors": scale * self.vectors, "values": scale * self.values})

    def expansion(self, kernel: Kernel, n_components: int, center: bool) -> Expansion:
        """Return the first components as a model to use; those without variance are zero."""
        m, r = n_rows(self.points), min(n_components, self.seen)
        s = min(r, len(self.singular))
        values: Array = np.zeros(r)
        values[:s] = self.singular[:s] ** 2
        weight = max(self.weight, 1e-300)
        noise = rounding_noise(max(1, round(weight)), abs(self.own) / weight, np.float64)
        values = clean_eigenvalues(values, 0.0, noise, thresholds(np.float64))
        offset = self.vectors[:s] @ self.mean_values
        scores = self.values[:s] - offset[:, None]
        # the same signs as exact kernel PCA of the library
        signs = orientation(scores.T) * (values[:s] > 0)
        coef, shift = np.zeros((r, m)), np.zeros(r)
        coef[:s], shift[:s] = signs[:, None] * self.vectors[:s], signs * offset
        return of_components(
            kernel,
            self.points,
            coef,
            shift,
            values,
            n_seen=max(1, round(self.weight)),
            nu=self.nu if center else None,
            mean_norm=self.mean_norm,
            trace=self.trace,
        )
