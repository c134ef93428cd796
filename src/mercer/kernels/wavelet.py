"""The level-J wavelet kernel of [huang2011]: the inner product of approximation coefficients."""

from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array, Points, is_sparse
from mercer.errors import MissingExtraError
from mercer.kernels.functions import Kernel

try:
    import pywt
except ImportError as missing:  # pragma: no cover - depends on the installation
    raise MissingExtraError("PyWavelets", "wavelet", "The wavelet kernel") from missing

_MODE = "periodization"  # keeps an orthogonal transform orthogonal, and halves every even length exactly


@dataclass(frozen=True)
class Wavelet(Kernel):
    """k(x, y) = <a_J(x), a_J(y)>, where a_J are the approximation coefficients of level J.

    `wavelet` is any orthogonal or biorthogonal PyWavelets name ("haar", "sym4", ...). A row is a signal, or an image
    when `shape=(height, width)` is given. The map is linear, so it is offered as explicit features, and the
    inverse puts zeros where the details were: the smooth part of the row.
    """

    name: ClassVar[str] = "wavelet"
    wavelet: str = "haar"
    level: int = 1
    shape: tuple[int, ...] | None = None

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Any:
        """Replace rows by their approximation coefficients."""
        return np.ascontiguousarray(self.features(X).astype(dtype, copy=False))

    def block(self, A: Any, B: Any, out: Array) -> None:
        """Write the inner products of the coefficients."""
        np.dot(A, B.T, out=out)

    def diagonal(self, X: Points) -> Array:
        """Return the squared norms of the coefficients."""
        F = self.features(X)
        squares: Array = np.einsum("ij,ij->i", F, F, dtype=np.float64)
        return squares

    def bind(self, n_features: int) -> "Wavelet":
        """Fix the shape of a row: a signal of all its features unless an image shape was given."""
        bound = self if self.shape is not None else replace(self, shape=(n_features,))
        if prod(bound.shape or ()) != n_features:
            raise ValueError(f"Wavelet shape {bound.shape} does not fit rows of {n_features} features.")
        return bound

    def features(self, X: Points) -> Array:
        """Return the approximation coefficients, flattened."""
        rows = np.asarray(X.toarray() if is_sparse(X) else X)
        coefficients = rows.reshape(len(rows), *self._lengths(rows.shape[1])[0])
        axes = tuple(range(1, coefficients.ndim))
        for _ in range(self.level):
            coefficients = pywt.dwtn(coefficients, self.wavelet, _MODE, axes)["a" * len(axes)]
        return coefficients.reshape(len(rows), -1)

    def inverse_features(self, F: Array) -> Array:
        """Return the rows with these approximation coefficients and no details; the kernel must be bound."""
        lengths = self._lengths(F.shape[1])
        rows: Array = F.reshape(len(F), *lengths[-1])
        axes = tuple(range(1, rows.ndim))
        for shape in reversed(lengths[:-1]):
            rows = pywt.idwtn({"a" * len(axes): rows}, self.wavelet, _MODE, axes)
            rows = rows[(slice(None), *map(slice, shape))]  # an odd length was padded by one on the way down
        return rows.reshape(len(F), -1)

    def _lengths(self, n_features: int) -> list[tuple[int, ...]]:
        """Return the shape of one row at every level, from the data down."""
        lengths = [self.shape or (n_features,)]
        for _ in range(self.level):
            lengths.append(tuple(-(-n // 2) for n in lengths[-1]))
        return lengths
