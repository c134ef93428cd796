"""Feature space restricted to the span of a few points, with coordinates in which linear algorithms can work.

phi_hat(x) are coordinates of the projection of phi(x) on the span of the mapped landmarks, in an orthonormal basis of
that span. Any such basis can be used; K_mm^(-1/2) k_m(x), the symmetric choice, differs from this one by a rotation.
"""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from mercer.arrays import Array, Points, check_kernel_values, n_rows
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RbfRows
from mercer.kernels.threads import available_threads, one_blas_thread
from mercer.kernels.tiles import PointBlocks, SymmetricTiles, memory_budget
from mercer.kernels.user_given import Precomputed

_EPS = float(np.finfo(np.float64).eps)
_ENTRY = 16.0  # rounding error of a kernel value, in units of the last place of sqrt(k(x, x) k(y, y))
_INDEFINITE = 1e-5  # negative eigenvalues up to this share of the largest are rounding


@dataclass(frozen=True, eq=False)
class LandmarkMap:
    """The map phi_hat(x) = root^T k(points, x) with |phi_hat(x)|^2 <= k(x, x), equal where phi(x) is in the span."""

    kernel: Kernel
    points: Points  # (m, d) dense or CSR
    root: Array  # (m, q), float64; q <= m is the numerical rank of K_mm

    @classmethod
    def of(cls, kernel: Kernel, points: Points) -> "LandmarkMap":
        """Return the map of given landmarks; m^2 kernel values and one eigendecomposition."""
        require_rows(kernel)
        tiles = SymmetricTiles(kernel, points, np.float64, 0, available_threads())
        return cls(kernel, points, _inverse_root(check_kernel_values(tiles.dense(), "the landmarks"), tiles.blocks))

    def __repr__(self) -> str:
        return f"LandmarkMap({n_rows(self.points)} points, rank {self.rank}, kernel={self.kernel!r})"

    def __getstate__(self) -> dict[str, object]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # without what is cached

    @property
    def rank(self) -> int:
        """The number of coordinates."""
        return int(self.root.shape[1])

    @cached_property
    def _blocks(self) -> PointBlocks:
        """The landmarks, prepared for kernel values in float64."""
        # float64 for all data: the root multiplies errors of kernel values by up to 1e7
        return PointBlocks(self.kernel, self.points, np.float64)

    def features(self, X: Points) -> Array:
        """Return phi_hat of every row, (n, q), in float64; peak memory beside it is one tile."""
        out = np.empty((n_rows(X), self.rank))

        def work(rows: slice, block: Array) -> None:
            np.matmul(block, self.root, out=out[rows])

        self._blocks.for_each_chunk(X, work, available_threads())
        return out

    @cached_property
    def own(self) -> Array:
        """The coordinates phi_hat of the landmarks themselves, (m, q)."""
        return self.features(self.points)

    def missing(self, X: Points, F: Array) -> Array:
        """Return k(x, x) - |phi_hat(x)|^2, the squared length outside the span of the landmarks; F is `features(X)`."""
        captured: Array = np.einsum("ij,ij->i", F, F)
        return np.maximum(self.kernel.diagonal(X) - captured, 0.0)

    def coefficients(self, W: Array) -> Array:
        """Return the coefficients on the points, (r, m), of vectors W in these coordinates: W phi_hat(x) = coefficients
        @ k_m(x).
        """
        return np.asarray(W @ self.root.T)

    def carry_from(self, other: "LandmarkMap", W: Array) -> Array:
        """Return vectors given in another map's coordinates, (r, q'), in this map's coordinates, (r, q).

        They are projected on the span of these landmarks. Nothing is lost where the other's landmarks are among them.
        """
        return np.asarray(other.coefficients(W) @ (self.own if other is self else self.features(other.points)))


def feature_rows(space: LandmarkMap, X: Points) -> "Array | LazyFeatures":
    """Return phi_hat of all rows, held if they fit the budget, else made when they are asked for."""
    if 8 * n_rows(X) * space.rank <= memory_budget():
        return space.features(X)
    return LazyFeatures(space, X)


class LazyFeatures:
    """phi_hat of rows, made at each access: rows[index]."""

    def __init__(self, space: LandmarkMap, X: Points) -> None:
        self._space, self._X = space, X
        self.shape = (n_rows(X), space.rank)

    def __getitem__(self, rows: slice | Array) -> Array:
        return self._space.features(self._X[rows])

    def __len__(self) -> int:
        return self.shape[0]


def require_rows(kernel: Kernel) -> None:
    """Fail for a kernel whose values are given: no value can be computed between its points."""
    if isinstance(kernel, Precomputed):
        raise ValueError(
            "Landmarks need the data, not a precomputed kernel matrix. Pass the rows and the kernel itself."
        )


def require_span(space: LandmarkMap) -> LandmarkMap:
    """Return the map, or fail where it has no coordinates because k(x, x) = 0 for all landmarks."""
    if space.rank == 0:
        raise ValueError(
            "All landmarks have k(x, x) = 0 (with kernel='linear' these are rows of zeros), so that nothing can be "
            "learned in their span. Leave out such rows at the start, or pass `landmarks` with k(x, x) > 0."
        )
    return space


def _inverse_root(K: Array, blocks: PointBlocks) -> Array:
    """Return R with R R^T = K^+, (m, q), regularised so that rounding errors cannot make a mapped row longer.

    With C the kernel matrix of rows scaled to k(x, x) = 1, and J a diagonal matrix larger than the rounding errors of
    C, R R^T = S (C + J)^+ S. Together with any further row, C + J is still positive semi-definite, which means
    |phi_hat(x)|^2 <= k(x, x). A simple cut-off at m eps lambda_1 keeps eigenvalues whose relative error is 1: with it
    |phi_hat(x)|^2 exceeded k(x, x) by 3 %. The cost is an error of J in |phi_hat|^2 of the landmarks themselves.
    """
    scale = _row_scale(K)
    C = K * scale[:, None] * scale
    slack = _rounding(C, blocks)
    with one_blas_thread():  # on a busy machine two threads are ten times slower, on an idle one hardly faster
        values, vectors = np.linalg.eigh(C + np.diag(slack))
    values, vectors = values[::-1], vectors[:, ::-1]
    # larger rounding errors than expected, as of a user's function in float32; an indefinite kernel is not meant
    unforeseen = 2.0 * max(0.0, -float(values[-1]))
    unforeseen = unforeseen if unforeseen <= _INDEFINITE * float(values[0]) else 0.0
    keep = values > 2.0 * slack.min() + unforeseen
    return np.ascontiguousarray(scale[:, None] * vectors[:, keep] / np.sqrt(values[keep] + unforeseen))


def _row_scale(K: Array) -> Array:
    """Return 1 / sqrt(k(x, x)), so that small rows keep their digits beside large ones, and 0 for a zero row.

    Kernels that violate the Cauchy-Schwarz inequality are indefinite; their rows all get the same scale.
    """
    lengths = np.sqrt(np.maximum(np.diag(K), 0.0))
    if (np.abs(K) > (1.0 + 1e-6) * np.outer(lengths, lengths)).any():
        return np.full(len(K), 1.0 / np.sqrt(np.abs(K).max()))
    return np.divide(1.0, lengths, out=np.zeros(len(K)), where=lengths > 0)


def _rounding(C: Array, blocks: PointBlocks) -> Array:
    """Return for every row a bound on the sum of its entries' rounding errors, (m,)."""
    slack = np.full(len(C), _ENTRY * len(C) * _EPS)
    if isinstance(blocks.rows, RbfRows):
        half = blocks.rows.half  # distances are computed from inner products, whose errors grow with the squared norms
        sums = half * C.sum(axis=1) + C @ half - 2.0 * half  # the diagonal is exact
        slack += 2.0 * _EPS * np.maximum(sums, 0.0)
    return slack
