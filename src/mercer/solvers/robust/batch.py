"""Robust kernel PCA: weighted kernel PCA and weights from its residuals, iterated to a fixed point.

[huang2011, eqs. 21, 22], of Huang, Yeh and Eguchi (2009): with z_i half the squared residual and w_i = psi'(z_i), the
mean is sum w_i phi_i / sum w_i, and the components are the leading eigenvectors of the covariance with the same
weights. Since psi is concave, each round minimises an upper bound of sum psi(z_i) that touches it: the objective never
increases.
"""

from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Array
from mercer.engine.psi import Psi, PsiRule, auto_scale, row_weights, strict_scale
from mercer.events import SILENT, Channel
from mercer.solvers.robust.space import RowSpace, Subspace, as_if_left_out, weighted_subspace

_RESCALES = 5  # rounds in which "auto" parameters are computed from the residuals; afterwards they are fixed
_STEADY = 1e-4  # largest change of a weight by rounding of z; more moves eigenvalues by more than 1e-6 of the largest
_SETTLED = 1e-3  # relative change of the parameters below which they are fixed earlier


@dataclass(frozen=True)
class RobustFit:
    """A solved model with its weights."""

    subspace: Subspace
    psi: Psi
    weights: Array  # (n,), those of the last fit, psi'(z) of the one before
    z: Array  # (n,)
    objective: list[float] = field(default_factory=list)  # sum psi(z), from the round in which psi was fixed
    n_iter: int = 1
    converged: bool = True


def fit_robust(
    space: RowSpace,
    r: int,
    start: Array,  # (n,), z for the first weights
    rule: PsiRule,
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
    strict: bool = False,
    channel: Channel = SILENT,
) -> RobustFit:
    """Iterate until no weight changes by more than tol, or max_iter times; tol=0 never stops early.

    `strict` leaves out more rows: "auto" parameters are then those of `strict_scale`, by residuals of the fit itself.
    """
    if rule.name == "none":
        return plain_fit(space, r)
    psi, found, used = _settle(space, r, start, rule, max_iter - 1, strict)
    z = start if found is None else found.z
    objective, weights, change = [_objective(psi, z)], row_weights(psi, z), np.inf
    while used < max_iter:
        found = weighted_subspace(space, weights, r, found)
        used, z = used + 1, found.z
        objective.append(_objective(psi, z))
        fresh = row_weights(psi, z)
        change = float(np.abs(fresh - weights).max())
        channel.emit("robust", used, max_iter, change)
        if change <= tol and tol > 0:
            break
        if used < max_iter:
            weights = fresh
    assert found is not None
    return RobustFit(found, psi, weights, z, objective, used, change <= tol)


def resolved(space: RowSpace, psi: Psi) -> bool:
    """Say whether weights are those of the residuals, rather than of the rounding of kernel values."""
    return psi.steepest * space.noise <= _STEADY


def resolved_by_plain(space: RowSpace, r: int, rule: PsiRule) -> bool:
    """Predict `resolved` from the residuals of plain kernel PCA: one eigenproblem instead of those of the fit."""
    return rule.name == "none" or resolved(space, rule.psi(plain_fit(space, r).z, space.noise))


def _settle(
    space: RowSpace, r: int, z: Array, rule: PsiRule, most: int, strict: bool
) -> tuple[Psi, Subspace | None, int]:
    """Compute "auto" parameters from the residuals for a few rounds; return them and the last subspace.

    Unless it must be strict, the residuals are those as if each row were left out: those of the fit itself are too
    small where many components were fitted to few rows.
    """
    scale = strict_scale if strict else auto_scale
    psi, found, used = rule.psi(z, space.noise, scale), None, 0
    if not isinstance(rule.beta, str) and not isinstance(rule.xi, str):
        return psi, None, 0
    while used < min(_RESCALES, most):
        weights = row_weights(psi, z)
        found = weighted_subspace(space, weights, r, found)
        z, used, last = found.z, used + 1, psi
        psi = rule.psi(z if strict else as_if_left_out(found, weights), space.noise, scale)
        if abs(psi.beta / last.beta - 1.0) < _SETTLED and abs(psi.xi - last.xi) <= _SETTLED * abs(last.xi):
            break
    return psi, found, used


def plain_fit(space: RowSpace, r: int) -> RobustFit:
    """Return plain kernel PCA, in which all rows count the same."""
    weights = np.ones(space.n)
    found = weighted_subspace(space, weights, r)
    return RobustFit(found, Psi(), weights, found.z, [_objective(Psi(), found.z)])


def _objective(psi: Psi, z: Array) -> float:
    return float(psi.value(z).sum())
