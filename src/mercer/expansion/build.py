"""Models from what solvers find: coefficients on the rows, vectors in landmark coordinates, or vectors themselves."""

from typing import Protocol

import numpy as np

from mercer.arrays import Array, Points
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear


class Centred(Protocol):
    """What the model needs to know of rows that were centred: an operator, or a record of what was subtracted."""

    @property
    def center(self) -> bool:
        """Whether the mean was subtracted."""

    @property
    def weights(self) -> Array:
        """The coefficients w of the mean on the rows, (n,)."""

    @property
    def row_means(self) -> Array:
        """K w, (n,); zeros without centring."""

    @property
    def mean_norm(self) -> float:
        """w^T K w; 0 without centring."""

    @property
    def trace(self) -> float:
        """The total variation."""


class Coordinates(Protocol):
    """Points, and what vectors in some coordinates are as combinations of these points."""

    @property
    def kernel(self) -> Kernel:
        """The kernel."""

    @property
    def points(self) -> Points:
        """The points, (m, d)."""

    def coefficients(self, W: Array) -> Array:
        """Return the coefficients of vectors, (r, m)."""


def on_rows(
    kernel: Kernel,
    points: Points,  # (n, d), or (n,) column numbers
    rows: Centred,
    A: Array,  # (r, n)
    eigenvalues: Array,  # (r,)
    gram: Array,  # (r, r)
    n_seen: int | None = None,  # None: the number of rows
) -> Expansion:
    """Return the model of components sum_i A_ki (phi(x_i) - mean)."""
    coef = _centred(A, rows.weights) if rows.center else A
    return Expansion(
        points=points,
        coef=coef,
        offset=coef @ rows.row_means,
        eigenvalues=eigenvalues,
        kernel=kernel,
        n_seen=len(rows.weights) if n_seen is None else n_seen,
        gram=gram,
        nu=rows.weights if rows.center else None,
        mean_norm=rows.mean_norm,
        trace=rows.trace,
    )


def _centred(A: Array, weights: Array) -> Array:
    """Return the coefficients of centred vectors on the points themselves [chin2007, eq. 6].

    A k'(x) = (A - (A 1) w^T) (k(x) - K w).
    """
    coef = np.empty(A.shape)
    np.multiply(A.sum(axis=1)[:, None], weights, out=coef)
    return np.subtract(A, coef, out=coef)


def in_coordinates(
    space: Coordinates,
    W: Array,  # (r, q)
    mean: Array,  # (q,)
    eigenvalues: Array,  # (r,)
    *,
    n_seen: int,
    trace: float,
    center: bool = True,  # False: the mean is zero
    empirical: bool = False,
) -> Expansion:
    """Return the model x -> W (f(x) - mean), where f are coordinates in an orthonormal basis."""
    return Expansion(
        points=space.points,
        coef=space.coefficients(W),
        offset=W @ mean,
        eigenvalues=eigenvalues,
        kernel=space.kernel,
        n_seen=n_seen,
        gram=W @ W.T,
        nu=space.coefficients(mean[None])[0] if center else None,
        mean_norm=float(mean @ mean),
        trace=trace,
        empirical=empirical,
    )


def in_input_space(
    W: Array,  # (r, d)
    mean: Array,  # (d,)
    eigenvalues: Array,  # (r,)
    *,
    n_seen: int,
    trace: float,
    center: bool,  # False: the mean is zero
) -> Expansion:
    """Return the linear model x -> W (x - mean), on the vectors and the mean themselves as points."""
    r = len(W)
    points = np.vstack([W, mean]) if center else W
    return Expansion(
        points=points,
        coef=np.eye(r, len(points)),
        offset=W @ mean,
        eigenvalues=eigenvalues,
        kernel=Linear(),
        n_seen=n_seen,
        gram=W @ W.T,
        nu=np.eye(1, len(points), r)[0] if center else None,
        mean_norm=float(mean @ mean),
        trace=trace,
    )


def of_components(
    kernel: Kernel,
    points: Points,
    coef: Array,  # (r, m), of orthonormal components; zeros where the eigenvalue is zero
    offset: Array,  # (r,)
    eigenvalues: Array,  # (r,)
    *,
    n_seen: int,
    nu: Array | None,  # (m,), coefficients of the mean; None: not centred
    mean_norm: float,
    trace: float,
) -> Expansion:
    """Return the model of components whose coefficients and offset are known."""
    return Expansion(
        points=points,
        coef=coef,
        offset=offset,
        eigenvalues=eigenvalues,
        kernel=kernel,
        n_seen=n_seen,
        gram=unit_gram(eigenvalues),
        nu=nu,
        mean_norm=mean_norm,
        trace=trace,
    )


def unit_gram(eigenvalues: Array) -> Array:
    """Return the gram matrix of orthonormal components, (r, r), that are zero where the eigenvalue is zero."""
    return np.diag((eigenvalues > 0).astype(np.float64))
