"""Where learning on explicit rows starts: the principal components of a few rows, or the state after these rows."""

from typing import Any

import numpy as np

from mercer.arrays import Array, Points
from mercer.engine.gains import Gain
from mercer.engine.row_blocks import DenseRows, Rows, less_mean
from mercer.solvers.hebbian.guard import Guard
from mercer.solvers.hebbian.linear_blocks import LinearState, start_state
from mercer.solvers.hebbian.linear_passes import mean_row

_ABSENT = 1e-12  # share of the largest singular value; rows have no component along smaller ones
_ABSENT_SQUARE = 1e-14  # the same of squares, which are found from inner products of sparse rows


def start_from_rows(X: Points, r: int, gain: Gain, center: bool, rng: np.random.RandomState) -> LinearState:
    """Return the state after the rows of X, learned together: r principal components, then random directions."""
    rows, mean = _less_own_mean(X, center)
    found, squares = _principal_directions(rows, r)
    state = start_state(completed(found, r, rng), gain)
    settle(state, mean, rows.norms, np.concatenate([squares, np.zeros(r - len(squares))]), center)
    return state


def principal_weights(X: Points, r: int, center: bool, rng: np.random.RandomState) -> Array:
    """Return r orthonormal weight vectors: the principal components of the rows of X, then random directions."""
    return completed(_principal_directions(_less_own_mean(X, center)[0], r)[0], r, rng)


def completed(found: Array, r: int, rng: np.random.RandomState) -> Array:
    """Return r orthonormal rows that begin with the given ones; the others are random."""
    k, p = found.shape
    if k == r:
        return found
    more = rng.standard_normal((p, r - k))
    for _ in range(2):  # the second time removes what rounding has left
        more -= found.T @ (found @ more)
        more = np.linalg.qr(more)[0]
    return np.vstack([found, more.T])


def settle(
    state: LinearState,
    mean: Array,
    norms: Array,  # (n,), |x - mean|^2
    squares: Array,  # (r,), sums of squares along the weights, which are uncorrelated
    center: bool,
    *,
    counts: Array | None = None,  # (n,), how often each row has come; None: once
    outside: float = 0.0,  # sum of the squared lengths that the features lack
) -> None:
    """Set the sums of a state to those after rows that were learned together."""
    counts = np.ones(len(norms)) if counts is None else counts
    n = int(counts.sum())
    degrees = max(n - center, 1)
    state.mean, state.n, state.t = mean, n, n
    state.total, state.quartic = float(counts @ norms), float(counts @ norms**2)
    state.squares = squares
    state.lam = state.eigenvalues
    state.weight = float(n) ** 3 / 3.0  # what `learn` gives to n steps: the sum of t^2
    state.second_moment = np.diag(squares / degrees)
    state.energy = (state.total + outside) / degrees * state.weight


def restored_state(saved: dict[str, Any], outside: float = 0.0) -> LinearState:
    """Return the state that a file holds; files of earlier versions lack the energy, and hold `outside` apart."""
    state = LinearState(**{**saved, "guard": Guard(**saved["guard"])})
    if "energy" not in saved:
        state.second_moment = state.moment / max(state.weight, 1.0)  # was that of the outputs
        state.energy = (state.total + outside) / max(state.n - 1, 1) * state.weight
    return state


def _less_own_mean(X: Points, center: bool) -> tuple[Rows, Array]:
    mean = mean_row(X) if center else np.zeros(X.shape[1])
    return less_mean(X, mean), mean


def _principal_directions(rows: Rows, r: int) -> tuple[Array, Array]:
    """Return at most r principal directions of the rows, (k, p), and the sums of squares along them, (k,)."""
    if isinstance(rows, DenseRows):
        _, s, V = np.linalg.svd(rows.F, full_matrices=False)
        k = min(r, int((s > _ABSENT * s.max(initial=0.0)).sum()))
        return V[:k], s[:k] ** 2
    values, vectors = np.linalg.eigh(rows.gram)
    k = min(r, int((values > _ABSENT_SQUARE * values.max(initial=0.0)).sum()))
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    V = rows.combined(np.ascontiguousarray(vectors.T / np.sqrt(values)[:, None]))
    return np.ascontiguousarray(np.linalg.qr(V.T)[0].T), values
