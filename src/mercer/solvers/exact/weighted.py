"""Exact kernel PCA of rows that count differently."""

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.engine.spectrum import clean_eigenvalues, inverse_roots, orient, rounding_noise, thresholds
from mercer.expansion.build import on_rows, unit_gram
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.operator import CentredOperator
from mercer.kernels.threads import available_threads
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.solvers.exact.eigen import EigenOptions, solve
from mercer.solvers.exact.fit import ExactPlan, fit_exact


def fit_weighted(kernel: Kernel, X: Points, weights: Array | None, n_components: int, center: bool) -> Expansion:
    """Return the model of rows with positive weights, (n,), which has seen as many rows as they sum to; None: all 1."""
    if weights is None:
        return fit_exact(kernel, X, ExactPlan(n_components, center=center)).expansion
    total, scale = float(weights.sum()), np.sqrt(weights)
    tiles = SymmetricTiles(kernel, X, np.float64, memory_budget(), available_threads())
    operator = CentredOperator(tiles, kernel.diagonal(X), weights=weights / total, scale=scale, center=center)
    spectrum = solve(operator, n_components, EigenOptions(positive=kernel.positive))
    noise = rounding_noise(n_rows(X), operator.largest_entry, np.float64)
    values = clean_eigenvalues(spectrum.values, spectrum.lowest, noise, thresholds(np.float64))
    coef = (orient(spectrum.vectors) * inverse_roots(values)).T * scale
    return on_rows(kernel, X, operator, coef, values, unit_gram(values), max(1, round(total)))
