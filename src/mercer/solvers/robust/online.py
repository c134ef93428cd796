"""Online robust PCA on rows of features: a state that learns from each row once; outlying rows get small weights.

Three updates: "svd" keeps the 2 r leading directions of the weighted scatter, one eigendecomposition per block;
"ccipca" updates r vectors row by row and needs no gain; "hebbian" is the rule of [huang2011, Algorithm 1].
"""

from dataclasses import dataclass, field, replace

import numpy as np

from mercer.arrays import Array
from mercer.engine.principal_axes import principal_axes
from mercer.engine.psi import Psi, PsiRule, strict_scale
from mercer.engine.robust_block import ccipca_rows, guarded_block, literal_block, merged_root
from mercer.kernels.threads import one_blas_thread
from mercer.solvers.robust.space import FeatureRows
from mercer.solvers.robust.start import fit_from_start

UPDATES = ("svd", "ccipca", "hebbian")
FEATURE_MAPS = ("whitened", "empirical")

_RECENT = 100  # residuals from which parameters of psi are taken
_ROUNDING = 1e-13  # share of the squared length of a row
ENOUGH = 20  # with fewer residuals all weights are one
_GRID = 16  # rows between two estimates of the parameters, for updates without blocks
_RATE = 1.0  # gain of the guarded Hebbian rule, as of an average of the rows; twice as much is noisier on speech
_FAINT = 1e-100  # length of given components: so small that only their direction counts
_DEPENDENT = 1e-12  # share of its length that a given component must have outside of those before it
_SEED = 1e-3  # length of components that the first rows do not determine
_AGE = 1  # row t has weight t to this power in the second moment of Hebbian outputs: early components are inaccurate


@dataclass(frozen=True)
class OnlineOptions:
    """Options of a run."""

    r: int
    update: str = "svd"
    psi: str = "logistic"
    beta: float | str = "auto"
    xi: float | str = "auto"
    safeguard: bool = True
    block_size: int = 32

    @property
    def rule(self) -> PsiRule:
        """Return Psi as it is asked for."""
        return PsiRule(self.psi, self.beta, self.xi)

    @property
    def automatic(self) -> bool:
        """Tell whether a parameter of psi is computed from the residuals."""
        wanted = {"none": (), "exp": (self.beta,), "logistic": (self.beta, self.xi)}.get(self.psi, (self.xi,))
        return any(isinstance(value, str) for value in wanted)

    @property
    def literal(self) -> bool:
        """Tell whether the rule of the paper is used without changes."""
        return self.update == "hebbian" and not self.safeguard


@dataclass
class OnlineState:
    """State of a run: plain data of constant size."""

    mean: Array  # (q,)
    W: Array  # (p, q); "hebbian": V; "ccipca": as long as the variances; "svd": W^T W is the scatter, p <= 2 r
    beta: float = 0.0
    xi: float = 0.0
    settled: bool = True  # False: beta and xi come from too few residuals, and all weights are one
    n: int = 0  # rows seen; t of the gain 1/t
    weight: float = 0.0  # sum of the weights
    floor: float = 0.0  # size of residuals that are rounding
    total: float = 0.0  # weighted variation, including the part outside the features
    squares: Array = field(default_factory=lambda: np.zeros(0))  # (r,), weighted sums of y_i^2, "hebbian"
    moment: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (r, r), weighted sum of w y y^T, "hebbian"
    moment_weight: float = 0.0
    recent: Array = field(default_factory=lambda: np.zeros(0))  # (<= 100,), the last residuals
    rows: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (< block_size, q), of an unfinished block, "svd"
    row_weights: Array = field(default_factory=lambda: np.zeros(0))


class DivergedError(ArithmeticError):
    """Numbers overflowed; the state is the last one without overflow."""


def given_start(mean: Array, V: Array, options: OnlineOptions) -> OnlineState:
    """Return the state before the first row for a mean, (q,), and components, (r, q), of no weight."""
    state = OnlineState(mean.astype(np.float64), np.array(V, np.float64, order="C"), settled=False)
    if options.update != "hebbian":
        state.W = _FAINT * _orthonormal(state.W)
    elif options.safeguard:  # components have length 1 in the end; the gains of much longer ones would be very small
        state.W /= np.maximum(np.linalg.norm(state.W, axis=1), 1.0)[:, None]
    return _completed(state, options)


def _orthonormal(V: Array) -> Array:
    """Return orthonormal rows with the span of V, by Gram-Schmidt; a row that depends on those above becomes zero.

    The residuals of "svd" and "ccipca" are distances from the span only where components are orthogonal.
    """
    axes = np.zeros(V.shape)
    for i, row in enumerate(V):
        rest = row
        for _ in range(2):  # once loses digits where rows are nearly dependent
            rest = rest - (axes @ rest) @ axes
        length = np.linalg.norm(rest)
        if length > _DEPENDENT * np.linalg.norm(row):
            axes[i] = rest / length
    return axes


def start_from_rows(F: Array, missing: Array, options: OnlineOptions) -> tuple[OnlineState, Array]:
    """Return the state after some rows, learned together by the robust batch start, and their weights."""
    if np.ptp(F, axis=0).any():
        rows, r = FeatureRows(F, missing), min(options.r, *F.shape)
        found = fit_from_start(rows, r, options.rule, strict=True)
        center, z, w, psi = found.subspace.mean, found.z, found.weights, found.psi
    else:  # rows that are all the same are no outliers
        center, z, w = F[0], 0.5 * missing, np.ones(len(F))
        psi = options.rule.psi(z, _rounding(F, missing), strict_scale)
    enough = len(F) >= ENOUGH
    state = OnlineState(center, F[:0], psi.beta, psi.xi, enough, len(F), float(w.sum()), recent=z[-_RECENT:].copy())
    state.mean = center + w @ (F - center) / state.weight
    state.floor = _rounding(F, missing)
    D = np.sqrt(w)[:, None] * (F - state.mean)
    state.total = float((D * D).sum() + w @ missing)
    _, s, V = np.linalg.svd(D, full_matrices=False)
    state.W = np.ascontiguousarray((s[:, None] * V)[: _rank(options)])
    _from_scatter(state, options)
    return _completed(state, options), w


def _rounding(F: Array, missing: Array) -> float:
    return _ROUNDING * float(np.median(np.einsum("ij,ij->i", F, F) + missing))


def _rank(options: OnlineOptions) -> int:
    return 2 * options.r if options.update == "svd" else options.r


def _from_scatter(state: OnlineState, options: OnlineOptions) -> None:
    """Convert a root of the scatter to the form that the update keeps."""
    if options.update == "svd":
        return
    root, lengths = state.W, np.linalg.norm(state.W, axis=1)
    state.W = np.zeros((options.r, root.shape[1]))
    state.W[: len(root)] = root * lengths[:, None] / state.weight
    if options.update == "hebbian":
        seeds = np.eye(options.r, root.shape[1]) * _SEED  # a row of zeros would never change
        seeds[: len(root)][lengths > 0] = root[lengths > 0] / lengths[lengths > 0, None]
        state.W = seeds
        state.squares = np.zeros(options.r)
        state.squares[: len(root)] = lengths**2
        state.moment_weight = state.weight * state.n**_AGE / (_AGE + 1.0)
        state.moment = np.diag(state.squares / state.weight) * state.moment_weight


def _completed(state: OnlineState, options: OnlineOptions) -> OnlineState:
    r, q = len(state.W), len(state.mean)
    state.squares = state.squares if len(state.squares) else np.zeros(r)
    state.moment = state.moment if len(state.moment) else np.zeros((r, r))
    state.rows = state.rows if state.rows.size else np.zeros((0, q))
    if not options.automatic:
        state.beta = 0.0 if isinstance(options.beta, str) else float(options.beta)
        state.xi = 0.0 if isinstance(options.xi, str) else float(options.xi)
    return state


# -- learning ----------------------------------------------------------------------------------------------------------


def learn(state: OnlineState, F: Array, missing: Array, options: OnlineOptions, weights: Array) -> None:
    """Learn from each row once, in order, changing the state and writing the weights, (n,).

    F is (n, q), missing (n,) the squared lengths outside the features. How the stream is cut into chunks makes no
    difference.
    """
    start = 0
    run = {"svd": _svd_rows, "ccipca": _ccipca_rows, "hebbian": _hebbian_rows}[options.update]
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        while start < len(F):
            part = slice(start, min(len(F), start + _room(state, options)))
            z, weights[part] = run(state, F[part], missing[part], options)
            state.n += part.stop - start
            state.recent = np.concatenate([state.recent, z])[-_RECENT:]
            if options.update == "svd":
                _close_block(state, options)
            if options.automatic and _room(state, options) == _period(options):
                _tune(state, options)
            start = part.stop


def _period(options: OnlineOptions) -> int:
    """Return the number of rows between two changes of psi's parameters."""
    return options.block_size if options.update == "svd" or not options.automatic else _GRID


def _room(state: OnlineState, options: OnlineOptions) -> int:
    """Return how many rows the next step may take."""
    if options.update == "svd":
        return options.block_size - len(state.row_weights)
    if options.automatic:
        return _GRID - state.n % _GRID
    return options.block_size


def _tune(state: OnlineState, options: OnlineOptions) -> None:
    if len(state.recent) >= ENOUGH:
        psi = options.rule.psi(state.recent, state.floor)
        state.beta, state.xi, state.settled = psi.beta, psi.xi, True


def _psi(state: OnlineState, options: OnlineOptions) -> Psi:
    unknown = options.automatic and not state.settled
    return Psi("none" if unknown else options.psi, state.beta, state.xi)


def _svd_rows(state: OnlineState, F: Array, missing: Array, options: OnlineOptions) -> tuple[Array, Array]:
    """Compute the weights of rows by the model before their block, then add the rows to the model."""
    U = state.W[: options.r]
    lengths = np.linalg.norm(U, axis=1)
    D = F - state.mean
    Y = (D @ U.T) * np.divide(1.0, lengths, out=np.zeros(len(U)), where=lengths > 0)
    left = np.einsum("ij,ij->i", D, D) - np.einsum("ij,ij->i", Y, Y)
    z = 0.5 * (np.maximum(left, 0.0) + missing)
    w = _psi(state, options).weight(z)
    state.total += float(w @ missing)
    state.rows = np.vstack([state.rows, F])
    state.row_weights = np.concatenate([state.row_weights, w])
    return z, w


def _close_block(state: OnlineState, options: OnlineOptions) -> None:
    if len(state.row_weights) == options.block_size:
        state.W, state.mean, state.weight, raised = _merged(state, options)
        state.total += raised
        state.rows, state.row_weights = state.rows[:0].copy(), np.zeros(0)


def _merged(state: OnlineState, options: OnlineOptions) -> tuple[Array, Array, float, float]:
    return merged_root(state.W, state.mean, state.weight, state.rows, state.row_weights, 2 * options.r)


def _added_scatter(X: Array, w: Array, mean: Array, weight: float) -> float:
    """Return by how much weighted rows raise the trace of the scatter about the common mean."""
    added = float(w.sum())
    if not added > 0:
        return 0.0
    D = X - mean
    shift = w @ D / added
    spread = w @ np.einsum("ij,ij->i", D, D) - added * (shift @ shift)
    return max(float(spread), 0.0) + weight * added / (weight + added) * float(shift @ shift)


def _added_one_by_one(norms: Array, w: Array, weight: float) -> float:
    """Return the same for rows that came one after the other, with squared distances from the mean at their time.

    The mean of a Hebbian rule is not that of the rows, so that the formula for several rows would depend on their cut.
    """
    after = weight + np.cumsum(w)
    return float((w * norms) @ np.divide(after - w, after, out=np.zeros(len(w)), where=after > 0))


def _ccipca_rows(state: OnlineState, F: Array, missing: Array, options: OnlineOptions) -> tuple[Array, Array]:
    psi, z, w = _psi(state, options), np.empty(len(F)), np.empty(len(F))
    mean, before = state.mean, state.weight
    state.mean, state.W = mean.copy(), state.W.copy()
    state.weight = ccipca_rows(
        np.ascontiguousarray(F), missing, psi.kind, psi.beta, psi.xi, state.mean, state.W, before, z, w
    )
    state.total += _added_scatter(F, w, mean, before) + float(w @ missing)
    return z, w


def _hebbian_rows(state: OnlineState, F: Array, missing: Array, options: OnlineOptions) -> tuple[Array, Array]:
    """Run a block of the paper's rule, exactly; a block that overflows is undone."""
    psi, r, b = _psi(state, options), len(state.W), len(F)
    D = F - state.mean
    R = np.vstack([state.W, D])
    Z, zeta, Y = np.eye(r, r + b), np.zeros(r + b), np.empty((b, r))
    norms, z, w = np.empty(b), np.empty(b), np.empty(b)
    given = (R @ R.T, missing, psi.kind, psi.beta, psi.xi, state.n)
    squares = state.squares.copy()
    if options.safeguard:
        done = guarded_block(*given, _RATE, squares, state.weight, state.W @ state.W.T, Z, zeta, Y, norms, z, w)
    else:
        done = literal_block(*given, Z, zeta, Y, norms, z, w)
    W, mean = Z @ R, state.mean + zeta @ R
    if done < b or not (np.isfinite(W).all() and np.isfinite(mean).all()):
        raise DivergedError
    state.total += _added_one_by_one(norms, w, state.weight) + float(w @ missing)
    state.W, state.mean, state.squares = W, mean, squares
    _record(state, Y, w)
    return z, w


def _record(state: OnlineState, Y: Array, w: Array) -> None:
    age = w * (state.n + 1.0 + np.arange(len(w))) ** _AGE
    state.moment = state.moment + (Y * age[:, None]).T @ Y
    state.moment_weight += float(age.sum())
    state.weight += float(w.sum())


# -- models ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Components:
    """The components of a state."""

    W: Array  # (r, q)
    variances: Array  # (r,)
    mean: Array  # (q,)
    variation: float  # sum of all variances


def present(state: OnlineState, options: OnlineOptions) -> Components:
    """Return orthonormal components by falling variance; components of the literal rule are not changed."""
    state = closed(state, options)
    variation = state.total / state.weight if state.weight > 0 else 0.0
    second = state.moment / state.moment_weight if state.moment_weight else np.zeros_like(state.moment)
    if options.literal:
        return Components(state.W.copy(), np.diag(second).copy(), state.mean, variation)
    if options.update == "hebbian":
        axes = principal_axes(state.W, second)
        W, variances = axes.components, axes.variances
    else:
        W, variances = _principal(state, options)
    if variances.sum() > variation:  # the estimates come from different times
        variances = variances * (variation / variances.sum())
    return Components(W, variances, state.mean, variation)


def closed(state: OnlineState, options: OnlineOptions) -> OnlineState:
    """Return the state after the rows of an unfinished block, which are then in its scatter."""
    if options.update != "svd" or not len(state.row_weights):
        return state
    W, mean, weight, raised = _merged(state, options)
    total = state.total + raised
    return replace(
        state, W=W, mean=mean, weight=weight, total=total, rows=state.rows[:0].copy(), row_weights=np.zeros(0)
    )


def _principal(state: OnlineState, options: OnlineOptions) -> tuple[Array, Array]:
    """Return the principal axes of the scatter W^T W, with signs such that the largest entry is positive."""
    root = state.W / np.sqrt(state.weight) if state.weight > 0 else np.zeros_like(state.W)
    if options.update == "ccipca":
        lengths = np.linalg.norm(state.W, axis=1)[:, None]
        root = np.divide(state.W, np.sqrt(lengths), out=np.zeros_like(state.W), where=lengths > 0)
    _, s, V = np.linalg.svd(root, full_matrices=False)
    W, variances = np.zeros((options.r, root.shape[1])), np.zeros(options.r)
    kept = min(options.r, int((s > 1e-14 * s.max(initial=0.0)).sum()))
    largest = np.abs(V[:kept]).argmax(axis=1)
    W[:kept] = V[:kept] * np.where(V[np.arange(kept), largest] < 0, -1.0, 1.0)[:, None]
    variances[:kept] = s[:kept] ** 2
    return W, variances
