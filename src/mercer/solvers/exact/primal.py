"""Exact kernel PCA where kernel values are inner products of rows: by the singular values of the rows.

With K' = F F^T for centred rows F of d features, the eigenvectors of K' are the left singular vectors of F, and its
eigenvalues are the squared singular values. That takes n d^2 operations instead of n^3.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dgeqrf, dorgqr

from mercer.arrays import Array, Points, check_kernel_values, is_sparse, n_rows
from mercer.kernels.base import Kernel
from mercer.kernels.threads import one_blas_thread
from mercer.solvers.exact.eigen import Spectrum, shortened

_MOST_FEATURES = 512  # with more features the iteration on kernel values is faster where few pairs are wanted
_ROUNDING = 8.0  # units of the last place by which a centred row may be wrong
_ONE_THREAD = 10**7  # operations below which one thread is faster than several


class CentredRows:
    """Rows whose inner products are the kernel values: what the centred kernel matrix of them would tell."""

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, rows: Array, center: bool) -> None:  # (n, d), float64
        n = len(rows)
        self.center = center
        self.shape = (n, n)
        self.weights = np.full(n, 1.0 / n)
        self._raw = rows
        self._mean = rows.mean(axis=0) if center else np.zeros(rows.shape[1])
        self.rows = rows - self._mean
        self.trace = float(np.einsum("ij,ij->", self.rows, self.rows))
        check_kernel_values(np.array([self.trace, self.largest_entry]))

    @cached_property
    def largest_entry(self) -> float:
        """Return max |k(x, x)|, the scale against which rounding counts."""
        return float(np.einsum("ij,ij->i", self._raw, self._raw).max(initial=0.0))

    @property
    def noise(self) -> float:
        """Return the size of eigenvalues that rounding alone can cause: of the differences of rows and their mean."""
        return rounding_of_rows(self.shape[0], self.largest_entry)

    @property
    def row_means(self) -> Array:
        """Return the inner products of all rows with the mean."""
        return np.asarray(self._raw @ self._mean)

    @property
    def mean_norm(self) -> float:
        """Return the squared norm of the mean."""
        return float(self._mean @ self._mean)


def rounding_of_rows(n: int, largest_entry: float) -> float:
    """Return the size of eigenvalues that come from rounding n differences of a row and the mean of all rows."""
    return float(n * (_ROUNDING * np.finfo(np.float64).eps) ** 2 * largest_entry)


def has_few_features(kernel: Kernel, X: Points) -> bool:
    """Tell whether kernel values are inner products of rows with few features."""
    return kernel.inner_product and not is_sparse(X) and X.shape[1] <= min(_MOST_FEATURES, n_rows(X) // 2)


def solve_rows(centred: CentredRows, n_components: int | float) -> Spectrum:
    """Return the leading eigenpairs of F F^T; zeros and any orthonormal vectors beyond the number of features."""
    rows = centred.rows
    if rows.shape[0] * rows.shape[1] ** 2 <= _ONE_THREAD:
        with one_blas_thread():
            vectors, roots, _ = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
    else:
        vectors, roots, _ = scipy.linalg.svd(rows, full_matrices=False, check_finite=False)
    spectrum = Spectrum(roots**2, vectors, 0.0, "svd", 1)
    if isinstance(n_components, float):
        return shortened(spectrum, n_components, centred.trace) or spectrum
    kept = min(n_components, len(roots))
    padding = n_components - kept
    return Spectrum(
        np.pad(spectrum.values[:kept], (0, padding)),
        _with_orthonormal_columns(vectors[:, :kept], padding),
        0.0,
        "svd",
        1,
    )


def _with_orthonormal_columns(vectors: Array, count: int) -> Array:
    """Return orthonormal columns and `count` more, orthogonal to them."""
    if count == 0:
        return vectors
    n, known = vectors.shape
    reflections, tau, *_ = dgeqrf(vectors)
    wide = np.zeros((n, known + count), order="F")
    wide[:, :known] = reflections
    return np.hstack([vectors, dorgqr(wide, tau, overwrite_a=True)[0][:, known:]])
