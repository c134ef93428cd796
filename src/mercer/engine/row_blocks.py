"""Blocks of rows less a mean, dense or sparse: the few products that learning on explicit rows needs of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer.arrays import Array, Points, is_sparse, n_rows

_CANCELLED = 1e4  # |x|^2 over |x - mean|^2 above which differences of inner products lose too many digits


@dataclass(frozen=True)
class DenseRows:
    """Rows that are held as they are."""

    F: Array  # (b, p), float64

    @cached_property
    def gram(self) -> Array:
        """Return the inner products of the rows, (b, b)."""
        return np.asarray(self.F @ self.F.T)

    @cached_property
    def norms(self) -> Array:
        """Return the squared lengths, (b,)."""
        return np.asarray(np.einsum("ij,ij->i", self.F, self.F))

    def against(self, W: Array) -> Array:
        """Return the inner products with other vectors, (b, r)."""
        return np.asarray(self.F @ W.T)

    def combined(self, C: Array) -> Array:
        """Return linear combinations of the rows, C F, (r, p)."""
        return np.asarray(C @ self.F)

    def dense(self) -> Array:
        """Return the rows."""
        return self.F


@dataclass(frozen=True)
class SparseRows:
    """The rows T X + c m^T, never computed explicitly, because a mean is not sparse."""

    X: Points  # (b, p) CSR
    T: Array | None  # (b, b); None: the identity
    c: Array  # (b,)
    m: Array  # (p,)

    def _turned(self, A: Array) -> Array:
        return A if self.T is None else np.asarray(self.T @ A)

    @cached_property
    def gram(self) -> Array:
        """Return the inner products of the rows, (b, b)."""
        cross = np.outer(self._turned(self.X @ self.m), self.c)
        products = self._turned(self._turned((self.X @ self.X.T).toarray()).T)
        return np.asarray(products + cross + cross.T + np.outer(self.c, self.c) * (self.m @ self.m))

    @cached_property
    def norms(self) -> Array:
        """Return the squared lengths, (b,)."""
        if self.T is not None:
            return np.asarray(np.maximum(np.diag(self.gram), 0.0))
        squares = self._squares + 2.0 * self.c * (self.X @ self.m) + self.c**2 * (self.m @ self.m)
        return np.asarray(np.maximum(squares, 0.0))

    @cached_property
    def _squares(self) -> Array:
        return np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()

    @property
    def is_accurate(self) -> bool:
        """Tell whether the centred rows are large enough, relative to rows and mean, for accurate products."""
        whole = self._squares.sum() + (self.m @ self.m) * (self.c @ self.c)
        return bool(whole <= _CANCELLED * self.norms.sum())

    def against(self, W: Array) -> Array:
        """Return the inner products with other vectors, (b, r)."""
        return self._turned(self.X @ W.T) + np.outer(self.c, W @ self.m)

    def combined(self, C: Array) -> Array:
        """Return linear combinations of the rows, (r, p)."""
        turned = C if self.T is None else C @ self.T
        return np.asarray((self.X.T @ turned.T).T + np.outer(C @ self.c, self.m))

    def dense(self) -> Array:
        """Return the rows themselves."""
        return self._turned(self.X.toarray()) + np.outer(self.c, self.m)


Rows = DenseRows | SparseRows


@dataclass(frozen=True)
class Centred:
    """Rows of a stream, each less the mean of all rows up to and including itself."""

    rows: Rows
    mean: Array  # (p,), after the last row
    counts: Array  # (b,), how many rows the mean that was subtracted has seen


def less_mean(X: Points, mean: Array) -> Rows:
    """Return the rows less one mean; X is a block of a few rows."""
    if is_sparse(X):
        sparse = SparseRows(X.astype(np.float64), None, -np.ones(n_rows(X)), mean)
        if sparse.is_accurate:
            return sparse
    return DenseRows(_float64(X) - mean)


def less_running_mean(X: Points, mean: Array, n: int) -> Centred:
    """Return the rows less the running mean, which has seen n rows before.

    mean_j = mean + sum_{i <= j} (x_i - mean) / (n + j): sums of differences, so nothing cancels even if the data
    are far from the origin.
    """
    counts = n + 1.0 + np.arange(n_rows(X))
    if is_sparse(X):
        rows, last = _sparse_running(X.astype(np.float64), mean, n, counts)
        if rows.is_accurate:
            return Centred(rows, last, counts)
    dense = _float64(X)
    origin = dense[0].copy() if n == 0 else mean
    dense -= origin
    shift = np.cumsum(dense, axis=0)
    shift /= counts[:, None]
    last = origin + shift[-1]
    dense -= shift
    return Centred(DenseRows(dense), last, counts)


def _sparse_running(X: Points, mean: Array, n: int, counts: Array) -> tuple[SparseRows, Array]:
    """Return the rows less the running mean, and the mean after the last row."""
    b = len(counts)
    T = np.eye(b) - np.tril(np.ones((b, b))) / counts[:, None]
    change = (np.asarray(X.sum(axis=0)).ravel() - b * mean) / (n + b)
    return SparseRows(X, T, -n / counts, mean), mean + change


def _float64(X: Points) -> Array:
    """Return a dense copy."""
    return np.asarray(X.toarray(), np.float64) if is_sparse(X) else np.array(X, np.float64, order="C")
