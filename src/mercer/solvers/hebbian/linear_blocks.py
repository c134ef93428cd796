"""Hebbian learning on explicit rows, in exact blocks: Oja's rule, the generalised Hebbian algorithm, meta-descent.

The rows are data, or features of data such as those of landmarks. Any number of calls of `learn` can follow
each other. How the stream is cut into chunks and blocks makes no difference beyond rounding, unless the guard acts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.engine.gains import Gain, MetaGain
from mercer.engine.hebb import gha_block, oja_block, smd_block
from mercer.engine.oja_direct import gha_rows, normalised_rows, oja_rows
from mercer.engine.row_blocks import Rows, less_mean, less_running_mean
from mercer.kernels.threads import TILE_BYTES, one_blas_thread
from mercer.solvers.hebbian.guard import Guard

_BLOCKS: dict[str, Callable[..., int]] = {"gha": gha_block, "oja": oja_block}
_SINGLE_STEPS: dict[str, Callable[..., int]] = {"gha": gha_rows, "oja": oja_rows, "normalised": normalised_rows}
_SPREAD = 1e-2  # smallest ratio of an eigenvalue estimate to the largest, for gains with one common limit
_AGE = 2  # step t counts t ** _AGE in `moment`: seven eighths of the weight lie in the last half of a run
_FRAME_STEPS = 64  # after so many steps the frame follows the weights
_ABSENT = 1e-10  # share of the largest eigenvalue of W W^T; smaller directions are not in the span of the weights


@dataclass
class LinearState:
    """State of a run; with W alone the run has not started."""

    W: Array  # (r, p), one weight vector per row
    mean: Array  # (p,)
    n: int = 0  # rows that the mean has seen
    total: float = 0.0  # sum of |x - mean|^2 over these rows
    quartic: float = 0.0  # sum of |x - mean|^4, each with the mean at that step
    t: int = 0  # steps
    squares: Array = field(default_factory=lambda: np.zeros(0))  # (r,), sum of y_i^2 over all steps
    lam: Array = field(default_factory=lambda: np.zeros(0))  # (r,), eigenvalue estimates at the start of the pass
    moment: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (r, r), weighted sum of z z^T, z = frame x
    frame: Array | None = None  # (r, p), `orthonormal_frame` of the weights at a multiple of `_FRAME_STEPS` steps
    weight: float = 0.0  # sum of the weights in `moment`
    energy: float = 0.0  # sum of |x - mean|^2 with these weights, with what lies outside the features
    B: Array | None = None  # (r, p), dW of meta-descent
    rho: Array | None = None  # (r,), its log-gains
    guard: Guard = field(default_factory=Guard)

    def __post_init__(self) -> None:
        r = len(self.W)
        self.squares = self.squares if len(self.squares) else np.zeros(r)
        self.lam = self.lam if len(self.lam) else np.ones(r)
        self.moment = self.moment if len(self.moment) else np.zeros((r, r))

    def copy(self) -> "LinearState":
        """Return a copy that can learn without changing this state: learning replaces arrays."""
        return replace(self, guard=replace(self.guard))

    @property
    def rows_that_count(self) -> float:
        """Return the effective number of rows: n if all are equally long, near 1 if one is far longer than the rest."""
        return self.total * self.total / self.quartic if self.quartic > 0 else float(self.n)

    @property
    def eigenvalues(self) -> Array:
        """Return the running means of y_i^2, (r,); all equal before the first row."""
        return self.squares / self.t if self.t and self.squares.any() else np.ones(len(self.W))

    @property
    def second_moment(self) -> Array:
        """Return the estimate of the covariance of the outputs y, (r, r), in which late steps count more."""
        if not self.weight:
            return np.zeros_like(self.moment)
        root = _power(self.W @ self.W.T, 0.5)  # W = root frame, so y = root z
        return root @ (self.moment / self.weight) @ root

    @second_moment.setter
    def second_moment(self, value: Array) -> None:
        root = _power(self.W @ self.W.T, -0.5)
        self.moment = root @ value @ root * self.weight

    @property
    def variation(self) -> float:
        """Return the estimate of the total variance, in which steps count as in `second_moment`."""
        return self.energy / self.weight if self.weight else 0.0


def orthonormal_frame(W: Array) -> Array:
    """Return the orthonormal rows nearest to W, (W W^T)^(-1/2) W; they have fewer dimensions where W has.

    Variances along them do not depend on the length of the weights and their angles, which change while they learn.
    """
    return np.asarray(_power(W @ W.T, -0.5) @ W)


def _power(gram: Array, exponent: float) -> Array:
    """Return a power of a symmetric matrix, zero in directions in which the matrix is zero."""
    values, vectors = np.linalg.eigh(gram)
    present = values > _ABSENT * max(values.max(initial=0.0), 0.0)
    vectors = vectors[:, present]
    return np.asarray(vectors * values[present] ** exponent @ vectors.T)


def start_state(W: Array, gain: Gain) -> LinearState:
    """Return the state before the first row: mean and B zero, rho ones [guenter2006, Algorithm 1]."""
    state = LinearState(np.array(W, np.float64, order="C"), np.zeros(W.shape[1]))
    _fit_to(state, gain)
    return state


def _fit_to(state: LinearState, gain: Gain) -> None:
    """Set the state to what this gain needs; the gain of a stream may differ from the one before."""
    if not isinstance(gain, MetaGain):
        state.B, state.rho = None, None
    elif state.B is None:
        state.B, state.rho = np.zeros_like(state.W), np.ones(len(state.W))


@dataclass(frozen=True)
class StepOptions:
    """How steps are taken.

    rule: "gha" [guenter2006, eq. 2], "oja" (the subspace rule), or "normalised": Hebb's rule with explicit
    normalisation [lecture_notes]. `clip` limits each weight after each step. Meta-descent is for "gha" only.
    block_size: steps that are computed together, at most.
    length: l of the gain; the part of it that follows eigenvalues is evaluated every `length` steps.
    center: subtract from each row the mean of all rows so far and itself, before its step.
    adaptive: gains are divided by the mean of |x|^2 so far, and none exceeds 1 / |x|^2 of its row. A row x multiplies
    weights along itself by 1 + gain |x|^2, so a gain then has the same effect for data of any scale. lambda_i are then
    at least a hundredth of the largest one, since all components share one limit.
    """

    rule: str = "gha"
    block_size: int = 64
    length: int = 1000
    center: bool = True
    adaptive: bool = False
    clip: float | None = None


def learn(
    state: LinearState,
    rows: Points,  # (n, p), dense or CSR
    gain: Gain,
    options: StepOptions,
    *,
    counted: bool = False,
    outside: Array | None = None,
) -> None:
    """Take one step per row, changing the state.

    counted: the rows are in state.n, mean and total already, which stay: for further passes over a fixed set. Moment
    and energy stay as well.
    outside: (n,), squared lengths of what the rows stand for and the features lack; they count in `state.energy` only.
    """
    _fit_to(state, gain)
    run = _Run(state, gain, options, counted)
    fits = max(1, TILE_BYTES // (8 * state.W.shape[1]))
    start, stop = 0, n_rows(rows)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):  # a block that overflows is undone
        while start < stop:
            left = options.length - state.t % options.length  # a block does not cross the end of a pass
            if not counted:
                left = min(left, _FRAME_STEPS - state.t % _FRAME_STEPS)  # and not a change of the frame
            size = min(options.block_size, fits, left, stop - start)
            run.block(rows[start : start + size], 0.0 if outside is None else outside[start : start + size])
            start += size


@dataclass
class _Run:
    """The steps of one call of `learn`; the state changes once per block, if the block did not diverge."""

    state: LinearState
    gain: Gain
    options: StepOptions
    counted: bool

    def block(self, X: Points, outside: Array | float) -> None:
        """Run the steps of one block."""
        state = self.state
        if state.t % self.options.length == 0:
            state.lam = state.eigenvalues
        base = self._base()
        rows, mean, counts, totals = self._less_mean(X)
        t = state.t + 1.0 + np.arange(len(counts))
        factor = self._factor(t, rows.norms, base, totals, counts)
        frame = state.frame
        if not self.counted and (frame is None or state.t % _FRAME_STEPS == 0):
            frame = orthonormal_frame(state.W)
        Y = state.guard.tried(lambda scale: self._attempt(rows, base, factor * scale))
        state.squares = state.squares + (Y * Y).sum(axis=0)
        state.t += len(Y)
        if frame is None or self.counted:
            state.weight += float((t**_AGE).sum())
            return
        state.mean, state.n, state.total = mean, int(counts[-1]), float(totals[-1])
        state.quartic += float(rows.norms @ rows.norms)
        state.frame = frame
        self._record(rows.against(frame), rows.norms + outside, t, counts)

    def _base(self) -> Array:
        lam = self.state.lam
        return self.gain.base(np.maximum(lam, _SPREAD * lam.max()) if self.options.adaptive else lam)

    def _less_mean(self, X: Points) -> tuple[Rows, Array, Array, Array]:
        """Return the rows that are learned, and the mean after them, n and total after each of them."""
        state, b = self.state, n_rows(X)
        if self.counted:
            return less_mean(X, state.mean), state.mean, np.full(b, float(state.n)), np.full(b, state.total)
        if not self.options.center:
            rows = less_mean(X, state.mean)
            return rows, state.mean, state.n + 1.0 + np.arange(b), state.total + np.cumsum(rows.norms)
        centred = less_running_mean(X, state.mean, state.n)
        added = centred.rows.norms * _freedom(centred.counts)  # |x - mean before| |x - mean after|, Welford's term
        return centred.rows, centred.mean, centred.counts, state.total + np.cumsum(added)

    def _factor(self, t: Array, norms: Array, base: Array, totals: Array, counts: Array) -> Array:
        factor = self.gain.factor(t, self.options.length)
        if not self.options.adaptive:
            return factor
        degrees = np.maximum(counts - self.options.center, 1.0)
        relative = factor * np.divide(degrees, totals, out=np.zeros_like(totals), where=totals > 0)
        top = norms * base.max()
        highest = np.divide(1.0, top, out=np.full_like(top, np.inf), where=top > 0)
        return np.asarray(np.minimum(relative, highest))

    def _attempt(self, rows: Rows, base: Array, factor: Array) -> Array | None:
        """Run the steps and store the weights; return the outputs, (b, r), or None, and no change, if they diverge."""
        Y, rule, clip = np.empty((len(factor), len(base))), self.options.rule, self.options.clip
        if clip is not None or rule == "normalised":
            W, bound = self.state.W.copy(), np.inf if clip is None else float(clip)
            done = _SINGLE_STEPS[rule](np.ascontiguousarray(rows.dense()), base, factor, bound, W, Y)
            return self._store(done, W, Y)
        S = self.state.W if self.state.B is None else np.vstack([self.state.W, self.state.B])
        H = np.hstack([rows.against(S), rows.gram])
        Z = np.eye(len(S), H.shape[1])
        rho = None if self.state.rho is None else self.state.rho.copy()
        done = self._steps(H, rows, base, factor, rho, Z, Y)
        S = Z[:, : len(S)] @ S + rows.combined(Z[:, len(S) :])
        return self._store(done, S, Y, rho)

    def _steps(self, H: Array, rows: Rows, base: Array, factor: Array, rho: Array | None, Z: Array, Y: Array) -> int:
        state, gain = self.state, self.gain
        if rho is None or state.B is None or not isinstance(gain, MetaGain):
            return int(_BLOCKS[self.options.rule](H, base, factor, Z, Y))
        aa, ab = state.W @ state.W.T, state.W @ state.B.T
        return int(smd_block(H, rows.norms, base, factor, gain.rate, gain.decay, gain.lowest, rho, aa, ab, Z, Y))

    def _store(self, done: int, S: Array, Y: Array, rho: Array | None = None) -> Array | None:
        r = len(self.state.W)
        if done < len(Y) or not np.isfinite(S).all():
            return None
        self.state.W = S[:r]
        if rho is not None:
            self.state.B, self.state.rho = S[r:], rho
        return Y

    def _record(self, Z: Array, norms: Array, t: Array, counts: Array) -> None:
        """Add rows to the running moments; the first row of a stream equals the mean and adds nothing."""
        state = self.state
        freedom = _freedom(counts) if self.options.center else np.ones(len(t))
        weights = t**_AGE * (freedom > 0)
        state.moment = state.moment + (Z * (weights * freedom)[:, None]).T @ Z
        state.energy += float((weights * freedom) @ norms)
        state.weight += float(weights.sum())


def _freedom(counts: Array) -> Array:
    """Return n / (n - 1), which makes the mean of |x - mean|^2 unbiased if the mean includes x; 0 for n = 1."""
    return np.asarray(np.divide(counts, counts - 1.0, out=np.zeros_like(counts), where=counts > 1))
