"""Incremental kernel PCA in its simplest form, to get libraries to compress [chin2007, IV-B]."""

from typing import Any

import numpy as np
from scipy.linalg import eigh

from mercer.kernels import Kernel
from mercer.solvers.incremental.reduced_set import ReducedSet, compress

Library = tuple[np.ndarray, ...]  # points, kernel matrix, coefficients of the vectors, their weights


class Chain:
    """Incremental kernel PCA in its simplest form [chin2007, Table I]: an exact update, then a compression."""

    def __init__(self, kernel: Kernel, r: int, p: int, options: dict[str, Any]) -> None:
        self.kernel, self.r, self.size, self.options = kernel, r, (r + 1) * p, options
        self.library: Library = ()  # arguments of the last compression

    def feed(self, X: np.ndarray, i: int) -> "Chain":
        first = X[: self.size]
        n = len(first)
        self.points, self.gram, self.nu, self.n = first, self.kernel(first), np.full(n, 1.0 / n), n
        self.coef, self.sigma = self._leading(np.eye(n) - 1.0 / n)
        for start in range(n, len(X), i):
            self._update(X[start : start + i])
        return self

    def _update(self, C: np.ndarray) -> None:
        m, i = len(self.points), len(C)
        cross = self.kernel(self.points, C)
        self.gram = np.block([[self.gram, cross], [cross.T, self.kernel(C)]])
        self.points = np.vstack([self.points, C])
        old = np.pad(self.coef * self.sigma[:, None], ((0, 0), (0, i)))
        nu, omega = np.pad(self.nu, (0, i)), np.pad(np.full(i, 1.0 / i), (m, 0))
        new = np.eye(i, m + i, m) - omega  # (10)
        jump = np.sqrt(self.n * i / (self.n + i)) * (nu - omega)
        self.nu = (self.n * nu + i * omega) / (self.n + i)  # (9)
        self.n += i
        self.coef, self.sigma = self._leading(np.vstack([old, new, jump]))  # (11)
        self.library = (self.points, self.gram, np.vstack([self.coef, self.nu]), np.append(self.sigma, np.sqrt(self.n)))
        made = compress(*self.library, self.kernel, self.size, **self.options)
        self.points, self.gram, self.nu = made.points, made.gram, made.coef[-1]
        self.coef, self.sigma = self._leading(made.coef[:-1] * self.sigma[:, None])

    def _leading(self, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The leading left singular vectors of rows B of coefficients, and the singular values."""
        values, V = eigh(B @ self.gram @ B.T)
        values, V = values[::-1][: self.r], V[:, ::-1][:, : self.r]
        kept = values > 1e-13 * values[0]
        sigma = np.sqrt(values[kept])
        return (V[:, kept].T @ B) / sigma[:, None], sigma


def batch(kernel: Kernel, X: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the components of batch kernel PCA, and the singular values."""
    n = len(X)
    K = kernel(X)
    means = K.mean(axis=0)
    values, V = eigh(K - means - means[:, None] + means.mean(), subset_by_index=(n - r, n - 1))
    coef = (V / np.sqrt(values)).T[::-1]
    return coef - coef.mean(axis=1, keepdims=True), np.sqrt(values[::-1])


def share_lost(library: Library, made: ReducedSet) -> float:
    """The weighted sum of squared distances between vectors and their replacements, as a share of their squares."""
    _, gram, coef, weights = library
    own = np.einsum("ij,ij->i", coef @ gram, coef)
    lost = own - 2.0 * np.einsum("ij,ij->i", made.coef @ made.cross, coef)
    lost += np.einsum("ij,ij->i", made.coef @ made.gram, made.coef)
    return float(weights**2 @ lost / (weights**2 @ own))
