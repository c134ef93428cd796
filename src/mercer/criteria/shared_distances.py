"""Kernel models of one set of rows for many kernels: squared distances and inner products are computed once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer.arrays import Array, check_kernel_values
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.given import GivenKernel
from mercer.kernels.inner_product import Linear, Polynomial
from mercer.kernels.operator import CentredOperator
from mercer.solvers.exact.fit import ExactPlan, fit_exact

_EQUAL = 1e-12  # share of the largest squared distance; smaller ones are rounding errors of equal rows
_ABSENT = 1e-10  # share of the first eigenvalue; components with less are rounding errors


def gamma_of_median(squared: Array, d: int) -> float:
    """Return 1 / (2 m^2), where m is the median distance of two different rows; 1 / d if all rows are equal.

    `squared` are the squared distances of all rows from each other, (n, n), `d` is the number of columns.
    """
    pairs = squared[np.triu_indices(len(squared), 1)]
    different = pairs[pairs > _EQUAL * pairs.max(initial=0.0)]
    return float(0.5 / np.median(different)) if different.size else 1.0 / d


@dataclass(frozen=True, eq=False)
class SharedDistances:
    """Rows with what all kernels on them need."""

    X: Array  # (n, d), float64

    @cached_property
    def _products(self) -> Array:
        return self.X @ self.X.T

    @cached_property
    def _squared(self) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            centred = self.X - self.X.mean(axis=0)
            products = centred @ centred.T
        norms = check_kernel_values(np.diag(products), "the rows")
        return np.asarray(np.maximum(norms[:, None] + norms - 2.0 * products, 0.0))

    @cached_property
    def median_gamma(self) -> float:
        """Return the gamma of the median distance of two different rows."""
        return gamma_of_median(self._squared, self.X.shape[1])

    def model(self, kernel: Kernel, n_components: int) -> Expansion:
        """Return kernel PCA with at most so many components, fewer where eigenvalues are only rounding errors."""
        count = min(n_components, len(self.X) - 1)
        if isinstance(kernel, Linear):
            found = fit_exact(kernel, self.X, ExactPlan(min(count, self.X.shape[1])))
        else:
            values = self._values(kernel)
            operator = CentredOperator(GivenKernel(values), np.diag(values).copy())
            found = fit_exact(kernel, self.X, ExactPlan(count), operator)
        eigenvalues = found.expansion.eigenvalues
        return found.expansion.truncated(max(int((eigenvalues > _ABSENT * eigenvalues[:1]).sum()), 1))

    def _values(self, kernel: Kernel) -> Array:
        if isinstance(kernel, RBF):
            return np.asarray(np.exp(-kernel.gamma * self._squared))
        assert isinstance(kernel, Polynomial)
        return np.asarray((kernel.gamma * self._products + kernel.coef0) ** kernel.degree)
