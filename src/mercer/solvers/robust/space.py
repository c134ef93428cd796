"""Weighted kernel PCA of rows that are given by a kernel matrix or by explicit features.

Operations on rows that robust methods need: the mean and the leading subspace under any weights, the residuals of all
rows from it, distances from a mean, and projections on differences of rows. Weights of a mean sum to 1.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mercer.arrays import Array, IntArray, Points
from mercer.engine.krylov import block_krylov
from mercer.engine.spectrum import clean_eigenvalues, inverse_roots, orient, rounding_noise, thresholds
from mercer.expansion.build import in_coordinates, of_components
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel, squared_norms
from mercer.kernels.inner_product import Linear
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.operator import CentredOperator, KernelSource
from mercer.kernels.threads import one_blas_thread, row_slices
from mercer.kernels.tiles import SymmetricTiles
from mercer.solvers.exact.eigen import EigenOptions, choose_solver, solve

_BLOCK = 8  # vectors of the Krylov block, at least
_RESIDUAL = 1e-9  # relative residual of eigenvectors; eigenvalues are then exact to rounding
_STEPS = 200
_ROUNDING = 100.0  # residuals below this many units of the last place of k(x, x) count as zero
_LEAST_REST = 0.05  # where a row determines a direction alone, rounding must not be divided by zero
_GIVEN = 8.0  # units of the last place by which rows may be wrong when they are shifted
_FAR = 1e4  # times the median of k(x, x): rows with more are outliers, whose rounding does not matter


@dataclass(frozen=True)
class Subspace:
    """A mean and the leading directions around it, with the scores and distances of every row."""

    values: Array  # (r,), n times the eigenvalues of the weighted covariance, descending; exact zeros beyond the rank
    basis: Array  # (r, n) coefficients on the rows, or (r, q) vectors: orthonormal where values > 0, else 0
    mean: Array  # (n,) coefficients or (q,) vector
    mean_norm: float  # its squared length
    offset: Array  # (r,), its inner products with the directions
    scores: Array  # (n, r)
    norms: Array  # (n,), squared distances from the mean
    trace: float  # n times the trace of the weighted covariance

    @cached_property
    def z(self) -> Array:
        """Return half the squared distance of every row from the subspace [huang2011, eq. 2], never negative."""
        return half_residual(self.norms, (self.scores**2).sum(axis=1))


def as_if_left_out(found: Subspace, w: Array) -> Array:
    """Return z of every row, (n,), from about the subspace that the other rows have; w are the weights of the fit.

    Directions adapt to the rows that they were found on, so that rows with weight have smaller residuals than others.
    As in regression the residual without the row is 1 / (1 - h) times as large, where h is its share in its own
    projection. No residual is larger than the distance from the mean.
    """
    shares = w / w.mean() * ((found.scores * inverse_roots(found.values)) ** 2).sum(axis=1) + w / w.sum()
    z = found.z / np.maximum(1.0 - shares, _LEAST_REST) ** 2
    return np.asarray(np.minimum(z, np.maximum(found.z, 0.5 * found.norms)))


def half_residual(norms: Array, explained: Array) -> Array:
    """Return 1/2 (|phi - mean|^2 - |projection|^2); a negative difference is an error, and counts by its size."""
    return np.asarray(0.5 * np.abs(norms - explained))


class RowSpace(Protocol):
    """Rows in feature space, with the operations that robust methods need."""

    n: int
    center: bool

    @property
    def noise(self) -> float:
        """Return the size of residuals that are rounding."""

    def distances(self, weights: Array) -> Array:
        """Return |phi(x_i) - sum_j w_j phi(x_j)|^2 for every row; without centring |phi(x_i)|^2."""

    def along(self, I: IntArray, J: IntArray) -> Array:
        """Return the inner products of all rows with phi(x_i) - phi(x_j), (n, len(I)); J unused without centring."""

    def subspace(self, weights: Array, scale: Array, r: int, last: Subspace | None = None) -> Subspace:
        """Return the r leading directions of sum_i s_i^2 (phi_i - m)(phi_i - m)^T around m = sum_i w_i phi_i."""

    def span(self, coefficients: Array) -> Array:
        """Return z of every row, (n,), for directions sum_i a_ki (phi(p_i) - m): p the points, m the plain mean."""

    def expansion(self, found: Subspace) -> Expansion:
        """Return the model."""


class KernelRows:
    """All rows, by their kernel matrix."""

    def __init__(
        self,
        kernel: Kernel,
        points: Points,  # (n, d), or (n,) column numbers
        source: KernelSource,
        diagonal: Array,  # (n,)
        center: bool = True,
        blur: float = 0.0,  # squared size of the rounding errors of the rows themselves
    ) -> None:
        self.kernel, self.points, self.source, self.center = kernel, points, source, center
        self.n = len(diagonal)
        self._diagonal, self._blur = diagonal, blur

    @property
    def noise(self) -> float:
        """Return the size of residuals that are rounding."""
        values = _ROUNDING * float(np.finfo(self.source.dtype).eps) * _usual_largest(np.abs(self._diagonal))
        return max(values, self._blur)

    def _operator(self, weights: Array, scale: Array | None = None) -> CentredOperator:
        return CentredOperator(self.source, self._diagonal, weights=weights, scale=scale, center=self.center)

    def distances(self, weights: Array) -> Array:
        """Return the squared distances of all rows from a weighted mean."""
        return np.maximum(self._operator(weights).diagonal(), 0.0)

    def along(self, I: IntArray, J: IntArray) -> Array:
        """Return projections on differences of rows, up to a constant."""
        columns = self.source.columns(I).astype(np.float64)
        return columns - self.source.columns(J) if self.center else columns

    def span(self, coefficients: Array) -> Array:
        """Return z of every row for directions given by coefficients, (r, n), around the plain mean."""
        operator = self._operator(np.full(self.n, 1.0 / self.n))
        scores = operator.matmul(np.ascontiguousarray(coefficients.T))
        gram = coefficients @ scores
        return _given_residual(operator.diagonal(), scores, gram)

    def subspace(self, weights: Array, scale: Array, r: int, last: Subspace | None = None) -> Subspace:
        """Return the leading directions: eigenvectors of diag(s) K'_w diag(s), and one product with K'_w."""
        scaled, plain = self._operator(weights, scale), self._operator(weights)
        values, vectors, lowest = self._pairs(scaled, r, None if last is None else scale[:, None] * last.scores)
        noise = max(rounding_noise(self.n, scaled.largest_entry, scaled.dtype), self.n * self._blur)
        values = clean_eigenvalues(values, lowest, noise, thresholds(scaled.dtype))
        coef = np.ascontiguousarray((scale[:, None] * orient(vectors) * inverse_roots(values)).T)
        if self.center:
            coef -= np.outer(coef.sum(axis=1), weights)
        scores = plain.matmul(np.ascontiguousarray(coef.T))
        return Subspace(
            values,
            coef,
            weights,
            scaled.mean_norm,
            coef @ scaled.row_means,
            scores,
            np.maximum(plain.diagonal(), 0.0),
            scaled.trace,
        )

    def _pairs(self, operator: CentredOperator, r: int, start: Array | None) -> tuple[Array, Array, float]:
        """Return eigenvalues, vectors and the lowest value seen; a start near them saves most of the steps."""
        if start is None or choose_solver("auto", self.n, r) == "dense":
            found = solve(operator, r, EigenOptions(positive=self.kernel.positive))
            return found.values, found.vectors, found.lowest
        fill = np.random.default_rng(0).standard_normal((self.n, max(_BLOCK - r, 0) + r))
        size, eps = float(np.abs(start).max()) or 1.0, float(np.finfo(operator.dtype).eps)
        empty = ~start.any(axis=0)
        block = np.column_stack([np.where(empty, fill[:, :r], start / size), fill[:, r:]])
        with one_blas_thread():
            run = block_krylov(
                operator.matmul,
                block,
                r,
                tol=_RESIDUAL,
                floor=eps * np.sqrt(self.n),
                noise=eps * operator.largest_entry * np.sqrt(self.n),
                max_iter=_STEPS,
            )
        order = np.argsort(-run.values, kind="stable")
        return run.values[order], run.vectors[:, order], run.lowest

    def expansion(self, found: Subspace) -> Expansion:
        """Return the model on all rows."""
        return of_components(
            self.kernel,
            self.points,
            found.basis,
            found.offset,
            found.values,
            n_seen=self.n,
            nu=found.mean if self.center else None,
            mean_norm=found.mean_norm,
            trace=found.trace,
        )


class ShiftedRows(KernelRows):
    """Dense rows of the linear kernel, less their medians: far from the origin kernel values lose the digits.

    A centred model does not depend on the shift. Means would not do: one enormous cell makes them useless.
    """

    def __init__(self, rows: Array, dtype: Any, budget: int, threads: int) -> None:
        shifted = (rows - np.median(rows, axis=0).astype(np.float64)).astype(rows.dtype, copy=False)
        source, kernel = SymmetricTiles(Linear(), shifted, dtype, budget, threads), Linear()
        blur = (_GIVEN * float(np.finfo(np.float64).eps)) ** 2 * _usual_largest(squared_norms(rows))
        super().__init__(kernel, shifted, source, squared_norms(shifted), blur=blur)
        self._rows = rows

    def expansion(self, found: Subspace) -> Expansion:
        """Return the model on the rows as they were given."""
        rows = self._rows.astype(np.float64, copy=False)
        mean, axes = found.mean @ rows, found.basis @ self.points
        return replace(super().expansion(found), points=self._rows, offset=axes @ mean, mean_norm=float(mean @ mean))


class FeatureRows:
    """Explicit rows F, read in chunks: an array, or anything that gives an array for a slice of rows."""

    def __init__(
        self,
        F: Any,  # (n, q)
        missing: Array | None = None,  # (n,), squared length of each row outside these features
        center: bool = True,
        space: LandmarkMap | None = None,  # the map that made the features; needed for `expansion`
    ) -> None:
        self.F, self.center, self._space = F, center, space
        self.n, self.q = F.shape
        self._missing = np.zeros(self.n) if missing is None else missing

    def _chunks(self) -> list[slice]:
        return row_slices(self.n, 8 * max(self.q, 1))

    @cached_property
    def _squares(self) -> Array:
        """Return the squared lengths of all rows, (n,)."""
        return np.concatenate([(self.F[rows] ** 2).sum(axis=1) for rows in self._chunks()] or [np.zeros(0)])

    @property
    def noise(self) -> float:
        """Return the size of residuals that are rounding."""
        return _ROUNDING * float(np.finfo(np.float64).eps) * _usual_largest(self._squares)

    def _mean(self, weights: Array) -> Array:
        if not self.center:
            return np.zeros(self.q)
        return np.asarray(sum((weights[rows] @ self.F[rows] for rows in self._chunks()), np.zeros(self.q)))

    def _norms(self, mean: Array) -> Array:
        parts = [((self.F[rows] - mean) ** 2).sum(axis=1) for rows in self._chunks()]
        return np.asarray(np.concatenate(parts) + self._missing)

    def _scores(self, mean: Array, W: Array) -> Array:
        return np.concatenate([(self.F[rows] - mean) @ W.T for rows in self._chunks()])

    def distances(self, weights: Array) -> Array:
        """Return the squared distances of all rows from a weighted mean."""
        return self._norms(self._mean(weights))

    def along(self, I: IntArray, J: IntArray) -> Array:
        """Return projections on differences of rows, up to a constant."""
        directions = self.F[I] - self.F[J] if self.center else self.F[I]
        return self._scores(np.zeros(self.q), directions)

    def span(self, coefficients: Array) -> Array:
        """Return z of every row for directions given by coefficients on the landmarks, (r, m)."""
        assert self._space is not None
        mean = self._mean(np.full(self.n, 1.0 / self.n))
        W = coefficients @ (self._space.features(self._space.points) - mean)
        return _given_residual(self._norms(mean), self._scores(mean, W), W @ W.T)

    def subspace(self, weights: Array, scale: Array, r: int, last: Subspace | None = None) -> Subspace:
        """Return the leading directions: eigenvectors of the weighted covariance, (q, q)."""
        mean = self._mean(weights)
        covariance = np.zeros((self.q, self.q))
        for rows in self._chunks():
            part = scale[rows, None] * (self.F[rows] - mean)
            covariance += part.T @ part
        with one_blas_thread():
            values, vectors = np.linalg.eigh(covariance)
        values, vectors = values[::-1][:r], orient(vectors[:, ::-1][:, :r])
        limit = rounding_noise(self.n, float((scale**2 * self._squares).max(initial=0.0)), np.float64)
        values = clean_eigenvalues(values, 0.0, limit, thresholds(np.float64))
        W = np.ascontiguousarray(np.where(values > 0, vectors, 0.0).T)
        norms = self._norms(mean)
        scores, trace = self._scores(mean, W), float(scale**2 @ norms)
        return Subspace(values, W, mean, float(mean @ mean), W @ mean, scores, norms, trace)

    def expansion(self, found: Subspace) -> Expansion:
        """Return the model on the landmarks."""
        assert self._space is not None
        return in_coordinates(
            self._space, found.basis, found.mean, found.values, n_seen=self.n, trace=found.trace, center=self.center
        )


def weighted_subspace(space: RowSpace, w: Array, r: int, last: Subspace | None = None) -> Subspace:
    """Return weighted kernel PCA [huang2011, eqs. 21, 22]; only the ratios of the weights w >= 0 count."""
    return space.subspace(w / w.sum(), np.sqrt(w / w.mean()), r, last)


def _usual_largest(squares: Array) -> float:
    """Return the largest squared length of a row; rows that are far longer than most do not count."""
    largest = float(squares.max(initial=0.0))
    typical = float(np.median(squares)) if len(squares) else 0.0
    return min(largest, _FAR * typical) if typical > 0 else largest


def _given_residual(norms: Array, scores: Array, gram: Array) -> Array:
    inverse = np.linalg.pinv(gram, rcond=1e-12, hermitian=True)
    return half_residual(norms, np.einsum("ij,ij->i", scores @ inverse, scores))
