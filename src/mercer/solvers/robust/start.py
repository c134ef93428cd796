"""The start of robust kernel PCA: a subspace that fits most rows.

Weighted least squares finds only the nearest minimum. A start from plain kernel PCA would be bad, because outliers
already determine one of its components. Three candidates are improved by concentration. The one with the smallest
residuals, summed over the rows that are least outlying, is taken:

- spherical kernel PCA: around the geometric median, of rows scaled to length 1 (Locantore et al., 1999);
- the half of the rows that is nearest to the geometric median;
- the half of the rows that is least outlying in projections on differences of rows (Hubert et al., 2005): it detects
  outliers that lie close together, which change spherical components.

All of them work if fewer than half of the rows are outliers.
"""

from dataclasses import replace

import numpy as np

from mercer.arrays import Array
from mercer.engine.psi import PsiRule
from mercer.events import SILENT, Channel
from mercer.solvers.robust.batch import RobustFit, fit_robust, plain_fit
from mercer.solvers.robust.space import RowSpace, Subspace, as_if_left_out, weighted_subspace

_MEDIAN_STEPS, _MEDIAN_TOL = 50, 1e-6
_MEDIAN_FALL = 0.5  # of a usual squared distance; a larger fall in one step means that the point still moves far
_CONCENTRATIONS = 20
_DIRECTIONS, _DIRECTIONS_AT_ONCE = 250, 50


# -- candidates ------------------------------------------------------------------------------------


def geometric_median(space: RowSpace) -> Array:
    """Return the weights, (n,), sum 1, of the point with the least sum of distances (Weiszfeld's iteration).

    A row that is far enough away moves the point by a hardly visible weight: so distances must have settled, too.
    """
    weights, usual = np.full(space.n, 1.0 / space.n), np.inf
    for _ in range(_MEDIAN_STEPS):
        squares = space.distances(weights)
        inverse, before = _inverse_lengths(squares), usual
        last, weights, usual = weights, inverse / inverse.sum(), float(np.median(squares))
        if float(np.abs(weights - last).sum()) <= _MEDIAN_TOL and usual >= _MEDIAN_FALL * before:
            break
    return weights


def _inverse_lengths(squares: Array) -> Array:
    """Return 1 / length; a row at the centre counts as a row very near to it."""
    lengths = np.sqrt(squares)
    typical = float(np.median(lengths)) or float(lengths.mean()) or 1.0
    return np.asarray(1.0 / np.maximum(lengths, 1e-6 * typical))


def spherical(space: RowSpace, r: int, centre: Array) -> Array:
    """Return the residuals z from spherical kernel PCA around a weighted mean, (n,)."""
    scale = _inverse_lengths(space.distances(centre))
    # multiplied by a typical length: tiny eigenvalues are compared with k(x, x)
    return space.subspace(centre, scale / float(np.median(scale)), r).z


def outlyingness(space: RowSpace, lengths: Array, rng: np.random.Generator) -> Array:
    """Return the outlyingness of each row, (n,): its largest deviation over many directions.

    `lengths` are distances from a centre. Directions in which most rows deviate only by rounding tell nothing.
    """
    n, worst, usual = space.n, np.zeros(space.n), float(np.median(lengths))
    pairs = rng.integers(n, size=(2, _DIRECTIONS))
    for first in range(0, _DIRECTIONS, _DIRECTIONS_AT_ONCE):
        I, J = pairs[:, first : first + _DIRECTIONS_AT_ONCE]
        P = np.abs(_from_middle(space.along(I, J), space.center))
        deviation = np.median(P, axis=0)
        useful = deviation > 1e-12 * usual * (lengths[I] + lengths[J])
        if useful.any():
            worst = np.maximum(worst, (P[:, useful] / deviation[useful]).max(axis=1))
    return worst


def _from_middle(P: Array, center: bool) -> Array:
    return P - np.median(P, axis=0) if center else P


def concentrated(space: RowSpace, order_by: Array, r: int) -> tuple[Subspace, Array]:
    """Refit on the half of the rows with the least residual until its sum no longer falls.

    Return the subspace, and the weights that it was fitted with: 1 for half of the rows, (n,).
    """
    half = min(space.n, (space.n + r + 1) // 2)
    best, z, last, kept = np.inf, order_by, None, np.ones(space.n)
    for _ in range(_CONCENTRATIONS):
        kept = np.zeros(space.n)
        kept[np.argsort(z, kind="stable")[:half]] = 1.0
        last = weighted_subspace(space, kept, r, last)
        total = float(np.sort(last.z)[:half].sum())
        z = last.z
        if total >= best * (1.0 - 1e-6):
            break
        best = total
    assert last is not None
    return last, kept


def robust_residuals(space: RowSpace, r: int) -> Array:
    """Return z, (n,), for the best of the starts, as if each row were left out; always the same for the same rows.

    Starts are compared by the rows that are least outlying. The sum of the smallest residuals would be wrong: equal
    outliers get a component of their own, and their zero residuals make that sum small.
    """
    centre = geometric_median(space)
    squares = space.distances(centre)
    out = outlyingness(space, np.sqrt(squares), np.random.default_rng(0))
    starts = [spherical(space, r, centre), squares, out]
    judges = np.argsort(out, kind="stable")[: (space.n + 1) // 2]
    found = (as_if_left_out(*concentrated(space, start, r)) for start in starts)
    return min(found, key=lambda z: float(z[judges].sum()))


def fit_from_start(
    space: RowSpace,
    r: int,
    rule: PsiRule,
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
    strict: bool = False,
    channel: Channel = SILENT,
) -> RobustFit:
    """Return robust kernel PCA from the robust start; plain kernel PCA (psi "none") needs no start.

    Where plain kernel PCA holds every row exactly, no row is an outlier, and it is the answer. `strict` leaves out more
    rows (`strict_scale`).
    """
    plain = plain_fit(space, r)
    if rule.name == "none":
        return plain
    if _holds_every_row(plain, space.noise):
        return replace(plain, psi=rule.psi(plain.z, space.noise))
    start = robust_residuals(space, r)
    return fit_robust(space, r, start, rule, max_iter=max_iter, tol=tol, strict=strict, channel=channel)


def _holds_every_row(plain: RobustFit, noise: float) -> bool:
    """Tell whether residuals are rounding, and no row is so long that its rounding hides the residuals of all others.

    Squared distances from a mean that one row has taken far away are equal to all digits, and their residuals are 0.
    """
    rounding = float(np.finfo(np.float64).eps * plain.subspace.norms.max(initial=0.0))
    return float(plain.z.max(initial=0.0)) <= noise and rounding <= noise
