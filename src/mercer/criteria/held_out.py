"""T2 and SPE of rows that models were not fitted to, for many kernels: distances are computed once.

Without objects of models: a table of 200 rows has some hundred eigenvalue problems of a millisecond each.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from mercer.arrays import Array, check_kernel_values
from mercer.criteria.shared_distances import gamma_of_median
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.inner_product import Linear, Polynomial

_ABSENT = 1e-10  # share of the first eigenvalue; components with less are rounding errors
_LEAST = float(np.finfo(float).tiny)  # eigenvalues are at least this large, so that they can be divided by
_ROUNDING = 1e-13  # share of squared distances from the mean below which SPE is rounding, as in the detector


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows that models learn, and others that they judge; both are scaled."""

    learned: Array  # (n, d)
    others: Array  # (m, d)

    @cached_property
    def _rows(self) -> Array:
        return np.concatenate([self.learned, self.others])

    @cached_property
    def _centred(self) -> tuple[Array, Array]:
        """Return inner products with the learned rows, (n + m, n), and squared lengths, (n + m,), less their mean."""
        with np.errstate(over="ignore", invalid="ignore"):
            rows = self._rows - self.learned.mean(axis=0)
            lengths = check_kernel_values(np.einsum("ij,ij->i", rows, rows), "the rows")
        return rows @ rows[: len(self.learned)].T, lengths

    @cached_property
    def _squared(self) -> Array:
        products, lengths = self._centred
        return np.asarray(np.maximum(lengths[:, None] + lengths[: products.shape[1]] - 2.0 * products, 0.0))

    @cached_property
    def median_gamma(self) -> float:
        """Return the gamma of the median distance of two different learned rows."""
        n, d = self.learned.shape
        return gamma_of_median(self._squared[:n], d)

    @cached_property
    def _equal(self) -> bool:
        """Whether all learned rows are equal."""
        return bool((self.learned == self.learned[0]).all())

    def statistics(self, kernel: Kernel, most: int) -> tuple[Array, Array]:
        """Return T2 and SPE of the others by 1, 2, ... components, (m, r) each, with r at most `most`.

        Where the learned rows do not vary there is no component: T2 is 0, and SPE the distance from the mean.
        """
        values, diagonal = self._values(kernel)
        n = len(self.learned)
        means, grand = values[:n].mean(axis=0), float(values[:n].mean())
        centred = values[:n] - means - means[:, None] + grand
        total = float(np.trace(centred))
        eigenvalues, vectors = _leading(centred, min(most, n - 1))
        if self._equal or eigenvalues[0] <= _LEAST:  # no component: divided by what is rounding, T2 could overflow
            eigenvalues, vectors = np.ones(1), np.zeros((n, 1))
        own = values[n:].mean(axis=1)
        scores = (values[n:] - own[:, None] - means + grand) @ (vectors / np.sqrt(eigenvalues))
        squares = scores**2
        norms = diagonal[n:] - 2.0 * own + grand
        left = norms[:, None] - np.cumsum(squares, axis=1)
        spe = np.where(left > _ROUNDING * (norms[:, None] + total / n), left, 0.0)
        return np.cumsum(squares / eigenvalues, axis=1), spe

    def _values(self, kernel: Kernel) -> tuple[Array, Array]:
        """Return kernel values of all rows with the learned ones, (n + m, n), and of all rows with themselves."""
        if isinstance(kernel, RBF):
            return np.exp(-kernel.gamma * self._squared), np.ones(len(self._rows))
        if isinstance(kernel, Linear):
            return self._centred
        assert isinstance(kernel, Polynomial)
        products, lengths = self._rows @ self.learned.T, np.einsum("ij,ij->i", self._rows, self._rows)
        values = (kernel.gamma * products + kernel.coef0) ** kernel.degree
        return values, (kernel.gamma * lengths + kernel.coef0) ** kernel.degree


def _leading(matrix: Array, count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues, (r,), and their vectors, (n, r), without those that are rounding errors."""
    n = len(matrix)
    found, vectors = eigh(matrix, subset_by_index=[n - count, n - 1], overwrite_a=True, check_finite=False)
    found, vectors = found[::-1], vectors[:, ::-1]
    kept = max(int((found > _ABSENT * found[0]).sum()), 1)
    return np.maximum(found[:kept], _LEAST), vectors[:, :kept]
