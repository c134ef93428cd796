"""The kernel matrix of some rows, centred by their own mean or by that of a model, and its leading eigenpairs."""

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows
from mercer.engine.krylov import block_krylov
from mercer.expansion.model import Expansion
from mercer.kernels.around_point import AroundPoint
from mercer.kernels.base import Kernel
from mercer.kernels.given import GivenKernel
from mercer.kernels.operator import KernelSource, OperatorAroundMean
from mercer.kernels.threads import available_threads
from mercer.kernels.tiles import SymmetricTiles, memory_budget
from mercer.kernels.user_given import Precomputed

_DENSE_ROWS = 1000  # up to here a full eigendecomposition takes less than a second
_OVERSAMPLING = 8


def leading_pairs(operator: OperatorAroundMean, r: int) -> tuple[Array, Array]:
    """Return the r largest eigenvalues, descending, and their eigenvectors, (n, r)."""
    n = operator.shape[0]
    block = r + _OVERSAMPLING
    if n <= _DENSE_ROWS or 4 * block > n:
        values, vectors = np.linalg.eigh(operator.dense())
        return values[::-1][:r], vectors[:, ::-1][:, :r]
    start = np.random.default_rng(0).standard_normal((n, block))
    found = block_krylov(operator.matmul, start, r, tol=1e-10, floor=1e-14, max_iter=100)
    return found.values, found.vectors


def centred_by_rows(kernel: Kernel, X: Points, center: bool) -> OperatorAroundMean:
    """Return the kernel of the rows of X, centred by their own mean if `center` is true; kept if it fits."""
    if center and kernel.inner_product and not is_sparse(X):
        return _around(AroundPoint.mean(kernel, X), X, memory_budget())
    source, n = _source(kernel, X, memory_budget()), n_rows(X)
    means = source.product(np.full((n, 1), 1.0 / n))[:, 0] if center else np.zeros(n)
    return OperatorAroundMean(source, means, float(means.mean()))


def centred_by_model(expansion: Expansion, X: Points, *, keep: bool = False) -> OperatorAroundMean:
    """Return the kernel of the rows of X, centred by the model's mean; `keep` keeps the tiles for further visits."""
    kernel, nu, budget = expansion.kernel, expansion.nu, memory_budget() if keep else 0
    if nu is not None and kernel.inner_product and not is_sparse(X) and not is_sparse(expansion.points):
        return _around(AroundPoint(kernel, nu @ kernel.prepare(expansion.points, np.float64)), X, budget)
    source = _source(kernel, X, budget)
    if nu is None:
        return OperatorAroundMean(source, np.zeros(n_rows(X)), 0.0)
    return OperatorAroundMean(source, expansion.combine(nu[None], X)[:, 0], expansion.mean_norm)


def _around(kernel: AroundPoint, X: Points, budget: int) -> OperatorAroundMean:
    """Return the inner products of rows less a mean: far from the origin they keep the digits that centring loses."""
    source = SymmetricTiles(kernel, X, np.float64, budget, available_threads())
    return OperatorAroundMean(source, np.zeros(n_rows(X)), 0.0)


def _source(kernel: Kernel, X: Points, budget: int) -> KernelSource:
    """Return the tiles of the kernel matrix of X: computed within the budget, or those of the matrix that was given."""
    if not isinstance(kernel, Precomputed):
        return SymmetricTiles(kernel, X, np.float64, budget, available_threads())
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"With a precomputed kernel X must be the square kernel matrix of its rows; got {X.shape}.")
    return GivenKernel(np.asarray(X.toarray() if is_sparse(X) else X))
