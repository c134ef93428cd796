"""The precision that kernel values need: float32 where it keeps 1e-6 of the largest eigenvalue, otherwise float64.

float32 has two problems. The exponent of a Gaussian, a . b - |a|^2 / 2 - |b|^2 / 2, loses digits where rows are long
compared with their distance: `exponent_dtype` decides that per block. And where kernel values differ little from each
other (a wide Gaussian, rows far from the origin under a linear kernel), their rounding errors are as large as what is
left after centring: `enough_precision` measures that on some rows before any tile is computed.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.arrays import Array, Points, n_rows

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

_LONGEST = 8.0  # half squared norms of two rows, added, up to which float32 gives the exponent to 5e-7
_SAMPLE_ROWS = 128
_KEPT = 2e-7  # largest error of the sample's centred kernel matrix, relative to its largest eigenvalue


def exponent_dtype(half_a: Array, half_b: Array, dtype: Any) -> np.dtype[Any]:
    """Return the precision in which the exponents of a Gaussian block of the given precision are computed.

    `half_a` and `half_b` are half the squared norms of the rows, scaled by sqrt(2 gamma).
    """
    longest = float(half_a.max(initial=0.0)) + float(half_b.max(initial=0.0))
    return np.dtype(dtype) if longest <= _LONGEST else np.dtype(np.float64)


def enough_precision(kernel: "Kernel", points: Points, dtype: Any) -> np.dtype[Any]:
    """Return float32 where that was asked for and is enough for the centred kernel matrix of the points, else float64.

    On evenly spread rows the matrix is computed in both precisions. Independent rounding errors grow with the square
    root of the number of rows and eigenvalues with the number itself, so the sample overestimates their ratio.
    """
    asked: np.dtype[Any] = np.dtype(dtype)
    if asked != np.float32 or points.ndim != 2:
        return asked
    if n_rows(points) < 2:
        return np.dtype(np.float64)  # nothing tells whether float32 holds the row
    some = points[:: -(-n_rows(points) // _SAMPLE_ROWS)]
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow here means float64, or is reported by the fit
        wide = _centred(_matrix(kernel, some, np.float64))
        error = _centred(_matrix(kernel, some, np.float32).astype(np.float64)) - wide
    enough = np.isfinite(error).all() and _spectral_norm(error) <= _KEPT * _spectral_norm(wide)
    return np.dtype(np.float32 if enough else np.float64)


def _matrix(kernel: "Kernel", rows: Points, dtype: Any) -> Array:
    """Return the kernel matrix of some rows in a precision."""
    out = np.empty((n_rows(rows), n_rows(rows)), dtype)
    prepared = kernel.prepare(rows, dtype, kernel.origin(rows))
    kernel.block(prepared, prepared, out)
    if kernel.unit_diagonal:
        np.fill_diagonal(out, 1.0)
    return out


def _centred(K: Array) -> Array:
    """Return the centred matrix."""
    means = K.mean(axis=0)
    return np.asarray(K - means - means[:, None] + means.mean())


def _spectral_norm(symmetric: Array) -> float:
    """Return the largest absolute eigenvalue."""
    return float(np.abs(np.linalg.eigvalsh(symmetric)).max(initial=0.0))
