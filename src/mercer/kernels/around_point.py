"""Inner products of rows less a point: the centred matrix is the same, but far from the origin it keeps its digits."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.kernels.base import Kernel, dot_into, squared_norms
from mercer.kernels.threads import row_slices


@dataclass(frozen=True, eq=False)
class AroundPoint(Kernel):
    """The inner products of a kernel's features less a point, which are its kernel values after centring."""

    name: ClassVar[str] = "inner products around a point"
    inner_product: ClassVar[bool] = True
    kernel: Kernel  # its values are inner products of the rows that it prepares
    point: Array  # (q,)

    @classmethod
    def mean(cls, kernel: Kernel, X: Points) -> "AroundPoint":
        """Return the kernel around the mean of dense rows."""
        sums = [kernel.prepare(X[rows], np.float64).sum(axis=0) for rows in _chunks(X)]
        return cls(kernel, np.sum(sums, axis=0) / n_rows(X))

    def prepare(self, X: Points, dtype: Any, origin: Array | None = None) -> Array:
        """Return the features less the point, which are subtracted in float64."""
        return np.asarray(self.kernel.prepare(X, np.float64) - self.point).astype(dtype, copy=False)

    def block(self, A: Array, B: Array, out: Array) -> None:
        """Write the inner products of all rows of A with all rows of B into `out`."""
        dot_into(A, B, out)

    def diagonal(self, X: Points) -> Array:
        """Return the squared distance of every row from the point."""
        return np.concatenate([squared_norms(self.prepare(X[rows], np.float64)) for rows in _chunks(X)])

    def along(self, vector: Array, X: Points) -> Array:
        """Return the inner products of all rows, less the point, with a vector, (q,)."""
        return np.concatenate([self.prepare(X[rows], np.float64) @ vector for rows in _chunks(X)])


def _chunks(X: Points) -> list[slice]:
    """Return slices of rows that are few enough for copies of them; rows may be those of a file."""
    return row_slices(n_rows(X), 8 * X.shape[1])
