"""L1-norm kernel PCA by signs [kim2019, Algorithm 1]: c <- sgn(K~ c), then K~ <- K~ - u u^T, component after component.

At a fixed point the component is w = sum_i c_i phi~_i / sqrt(c^T K~ c), the scores are u = K~ c / sqrt(c^T K~ c), and
the objective of (1), sum_i |u_i|, is sqrt(c^T K~ c). Only columns of flipped signs are read: K~ c changes by
K~[:, F] dc_F. Every earlier sign vector has K~ c = 0, so a new start is reached from the nearest of them, or from its
negative, by flipping at most half of the signs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from mercer.arrays import Array, Points
from mercer.engine.krylov import block_krylov
from mercer.engine.sign_rounding import EXHAUSTED, Mask, first_largest
from mercer.engine.signs import best_flip, measure_step, new_signs
from mercer.errors import IndefiniteKernelWarning, warn_user
from mercer.events import SILENT, Channel
from mercer.expansion.build import on_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.user_given import Precomputed
from mercer.solvers.l1.residuals import Residual, make_residual

_EIGEN_STARTS = 3  # leading eigenvectors whose signs `init="best"` tries
_EIGEN_RESIDUAL = 1e-7  # only their signs are used
_EIGEN_TIE = 1e-6
_DENSE_ROWS = 300  # below this LAPACK needs milliseconds
_NEIGHBOURS = 16  # earlier sign vectors that are searched for the nearest one to a start
_CLEARLY = 10.0  # a length so many times below zero as rounding allows is really negative
_MOST_STEPS = 10_000  # the iteration is finite; this limit protects against endless loops by rounding


@dataclass(frozen=True)
class SignOptions:
    """How to extract: the estimator's parameters of the same names."""

    init: str = "objective"  # "objective", "eigen", "norm" or "best"
    refine: bool = False  # flip single signs until c_i v_i >= K~_ii


_PLAIN = SignOptions()


@dataclass(frozen=True)
class SignFit:
    """Components in order of extraction, as signs and as training scores."""

    signs: Array  # (r, n), -1 and 1
    scores: Array  # (r, n), u_k
    objective: Array  # (r,), sum_i |u_ki|
    n_iter: Array  # (r,), sign iterations of the start that was kept
    histories: list[list[float]]  # c^T K~ c after every iteration, one list per component

    @property
    def coefficients(self) -> Array:
        """Return A with w_k = sum_i A_ki phi_i, from the triangle sum_{l <= k} (u_l^T c_k) w_l = sum_i c_ki phi_i."""
        if len(self.signs) == 0:
            return np.zeros(self.signs.shape)
        return np.asarray(solve_triangular(self.signs @ self.scores.T, self.signs, lower=True))

    @property
    def variation(self) -> Array:
        """Return the sum of squared scores of each component, (r,)."""
        return np.asarray(np.einsum("ij,ij->i", self.scores, self.scores))


@dataclass
class _State:
    """A sign vector and its product during the iteration."""

    c: Array  # (n,)
    v: Array  # (n,), K~ c
    history: list[float]

    @property
    def square(self) -> float:
        return float(self.c @ self.v)


def fit_l1(
    kernel: Kernel,
    X: Points,
    n_components: int,
    *,
    dtype: Any,
    options: SignOptions,
    center: bool = True,
    n_jobs: int | None = None,
    channel: Channel = SILENT,
) -> tuple[Expansion, SignFit]:
    """Extract components of the rows of X by Algorithm 1; a precomputed X is overwritten."""
    points = np.arange(X.shape[0]) if isinstance(kernel, Precomputed) else X
    residual, centring = make_residual(kernel, X, dtype, center, n_jobs)
    found = extract(residual, n_components, options, channel)
    return on_rows(kernel, points, centring, found.coefficients, found.variation, np.eye(len(found.signs))), found


def extract(residual: Residual, n_components: int, options: SignOptions = _PLAIN, channel: Channel = SILENT) -> SignFit:
    """Return up to n_components components; fewer if all residuals are zero."""
    n = len(residual.diagonal)
    signs, scores, states = np.empty((n_components, n)), np.empty((n_components, n)), list[_State]()
    limit = max(EXHAUSTED * float(residual.diagonal.max(initial=0.0)), residual.floor)
    noise = residual.rounding()
    with residual.running():
        for k in range(n_components):
            alive = residual.diagonal > limit
            if not alive.any():
                break
            state = _best_state(residual, alive, np.where(alive, noise, np.inf), signs[:k], options)
            if state.square <= 0.0:
                break
            states.append(state)
            signs[k] = state.c
            scores[k] = residual.deflate(state.c, state.v, state.square)
            channel.emit("L1 components", k + 1, n_components, float(residual.diagonal.max()))
    r = len(states)
    return SignFit(
        signs[:r],
        scores[:r],
        np.sqrt([state.square for state in states]),
        np.array([len(state.history) for state in states], int),
        [state.history for state in states],
    )


def _best_state(residual: Residual, alive: Mask, negligible: Array, known: Array, options: SignOptions) -> _State:
    """Run from every start that the options name; return the best result, the first one if several are equal."""
    best: _State | None = None
    for start in _starts(residual, alive, options.init):
        c = np.where(start < -negligible / len(start), -1.0, 1.0)  # for one entry; `negligible` is for sums of n
        state = _State(c, _product(residual, c, known), [])
        climb(residual, state, negligible)
        while options.refine and _flip_singly(residual, state, negligible):
            climb(residual, state, negligible)
        if best is None or state.square > best.square * (1.0 + 1e-12):
            best = state
    assert best is not None
    return best


def _starts(residual: Residual, alive: Mask, init: str) -> list[Array]:
    starts = []
    if init == "norm":
        starts.append(residual.column(first_largest(np.where(alive, residual.diagonal, -np.inf))))
    if init in ("objective", "best"):
        starts.append(residual.column(residual.best_column(alive)))
    if init in ("eigen", "best"):
        starts += leading_vectors(residual, _EIGEN_STARTS if init == "best" else 1)
    return starts


def leading_vectors(residual: Residual, count: int) -> list[Array]:
    """Return leading eigenvectors of K~, each with its largest entry positive, the first one if several are equal."""
    n = len(residual.diagonal)
    count = min(n, count)
    if n <= _DENSE_ROWS:
        vectors = np.linalg.eigh(residual.product(np.eye(n)))[1][:, : -count - 1 : -1]
    else:
        start = np.random.default_rng(0).standard_normal((n, max(count, 4)))
        vectors = block_krylov(residual.product, start, count, tol=_EIGEN_RESIDUAL, floor=1e-12, max_iter=200).vectors
    return [vector * np.sign(vector[first_largest(np.abs(vector), _EIGEN_TIE)]) for vector in vectors.T]


def _product(residual: Residual, c: Array, known: Array) -> Array:
    """Return K~ c, from the nearest earlier sign vector s, for which K~ s = 0."""
    if len(known) == 0:
        return residual.product(c[:, None])[:, 0]
    known = known[-_NEIGHBOURS:]
    overlaps = known @ c
    nearest = int(np.abs(overlaps).argmax())
    rows = np.flatnonzero(c * known[nearest] * np.sign(overlaps[nearest] or 1.0) < 0)
    v = np.zeros(len(c))
    residual.add(rows, 2.0 * c[rows], v)
    return v


def climb(residual: Residual, state: _State, negligible: Array) -> None:
    """Iterate c <- sgn(K~ c) until the component does not change [kim2019, Algorithm 1]."""
    n = len(state.c)
    rows, factors, before = np.empty(n, np.int64), np.empty(n), np.empty(n)
    square = state.square
    state.history.append(square)
    for _ in range(_MOST_STEPS):
        count = new_signs(state.v, negligible, state.c, rows, factors, before)
        F, dc = rows[:count], factors[:count]
        residual.add(F, dc, state.v)
        last = square
        square, length, rounding = measure_step(state.v, state.c, negligible, F, dc, before)
        state.history.append(square)
        if length < -_CLEARLY * rounding:
            _warn_indefinite(length)
        if length <= rounding or square <= last:  # else the objective rises [kim2019, Lemma 1], except for rounding
            return


def _flip_singly(residual: Residual, state: _State, negligible: Array) -> bool:
    """Flip the sign that raises the objective most until none does: c_i v_i >= K~_ii; tell whether any was flipped."""
    flipped = False
    for _ in range(_MOST_STEPS):
        i, gain = best_flip(residual.diagonal, state.c, state.v)
        if gain <= min(negligible[i], 1e-9 * abs(state.square)):
            break
        state.c[i] = -state.c[i]
        residual.add(np.array([i]), np.array([2.0 * state.c[i]]), state.v)
        flipped = True
    return flipped


def _warn_indefinite(length: float) -> None:
    warn_user(
        f"A change of signs has the squared length {length:.3g} in feature space, and a positive semi-definite kernel "
        "has no negative ones: the kernel is indefinite on these data. Use a positive definite one, such as 'rbf'.",
        IndefiniteKernelWarning,
    )
