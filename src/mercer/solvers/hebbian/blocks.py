"""Kernel Hebbian algorithms on a fixed set: passes of exact blocks, with a guard against divergence."""

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from mercer.arrays import Array, IntArray
from mercer.engine.gains import Gain, MetaGain, estimated_eigenvalues
from mercer.engine.hebb import gha_block, smd_block
from mercer.solvers.hebbian.guard import Guard
from mercer.solvers.hebbian.visits import Strip, VisitTiles

_GROUP = 512  # visits between two readings of kernel tiles


@dataclass
class KhaState:
    """State of a run: coefficients and their products with K', and the same for the differentials of SMD."""

    A: Array  # (r, l)
    AK: Array  # (r, l), A K'
    t: int = 0  # samples visited
    B: Array | None = None  # (r, l), dA [guenter2006, before eq. 16]
    BK: Array | None = None
    rho: Array | None = None  # (r,), log-gains
    guard: Guard = field(default_factory=Guard)

    @property
    def eigenvalues(self) -> Array:
        """Return the current eigenvalue estimates [guenter2006, eq. 13]."""
        return estimated_eigenvalues(self.A, self.AK)

    def copy(self) -> "KhaState":
        """Return a state whose passes leave this one as it is; they replace arrays and change no entry of them."""
        return replace(self, guard=replace(self.guard))


def start_state(A: Array, AK: Array, gain: Gain) -> KhaState:
    """Return the state before the first sample: B zero, rho ones [guenter2006, Algorithm 1]."""
    if isinstance(gain, MetaGain):
        return KhaState(A, AK, 0, np.zeros_like(A), np.zeros_like(A), np.ones(len(A)))
    return KhaState(A, AK)


def run_pass(state: KhaState, tiles: VisitTiles, visits: IntArray, gain: Gain, block_size: int) -> None:
    """Visit the samples in the given order, updating the state; indices may repeat."""
    length = state.A.shape[1]
    times = np.bincount(visits, minlength=length)
    order = np.concatenate([visits, np.flatnonzero(times == 0)])
    size = block_size * max(1, _GROUP // block_size)
    bounds = [*range(0, len(visits), size), *range(len(visits), len(order), size), len(order)]
    groups = [slice(start, stop) for start, stop in pairwise(bounds)]
    strips = tiles.strips(order, groups)
    run = _Pass(state, gain, order, len(visits))
    try:
        for number, group in enumerate(groups):
            strip = strips.strip(number, run.injected[:, : group.start])
            if group.start < len(visits):
                run.group(group.start, group.stop, strip, block_size)
            else:
                run.finish_unvisited(group.start, group.stop, strip)
    finally:
        strips.close()
    run.store(repeated=bool(times.max(initial=0) > 1))


class _Pass:
    """One pass in the coordinates of its visits. `S` stands for the stacked rows [A; B], or A alone.

    The steps of one block of visits are computed together. Blocks form groups; kernel tiles are computed between
    groups. Nothing outside a group changes until the group is finished.
    """

    def __init__(self, state: KhaState, gain: Gain, order: IntArray, n_visits: int) -> None:
        self.state, self.gain, self.order, self.n_visits = state, gain, order, n_visits
        self.length = state.A.shape[1]
        self.base = gain.base(state.eigenvalues)  # [eq. 12]; once per pass
        products = state.AK if state.BK is None else np.vstack([state.AK, state.BK])
        self.SK = products[:, order]  # S K'; entries of later visits do not yet contain the injections of this pass
        self.P: Array = np.eye(len(products))  # the product of all left factors of this pass
        self.left: Array = self.P  # the left factor of the last group
        self.injected = np.zeros((len(products), n_visits))

    def group(self, start: int, stop: int, strip: Strip, block_size: int) -> None:
        """Run the blocks of one group of visits."""
        past, own = slice(0, start), slice(start, stop)
        at_start = self.P @ self.SK[:, own] + strip.gather(self.injected[:, past], self.left)  # before the group
        left, new = self._blocks(at_start, strip.own, block_size)
        self._multiply(left, past)
        strip.spread(new, self.SK[:, past])
        self.SK[:, own] = left @ at_start + new @ strip.own
        self.injected[:, own] = new
        self.P, self.left = left @ self.P, left

    def _multiply(self, left: Array, past: slice) -> None:
        """Multiply everything kept of earlier visits by a left factor, in parts that fit the cache."""
        for rows in (self.SK, self.injected):
            for first in range(past.start, past.stop, _GROUP):
                part = slice(first, min(first + _GROUP, past.stop))
                rows[:, part] = left @ rows[:, part]

    def _blocks(self, at_start: Array, K: Array, block_size: int) -> tuple[Array, Array]:
        """Return the left factor of all steps of a group, and what they inject at its visits."""
        p = len(self.P)
        left, injected = np.eye(p), np.zeros((p, len(K)))
        for first in range(0, len(K), block_size):
            own = slice(first, min(first + block_size, len(K)))
            top = left @ at_start[:, own] + injected[:, :first] @ K[:first, own]  # S K'_S
            H = np.hstack([top.T, K[own, own]])
            Z = self._recursion(H, K[own, own])
            injected[:, :first] = Z[:, :p] @ injected[:, :first]
            injected[:, own] = Z[:, p:]
            left = Z[:, :p] @ left
        return left, injected

    def _recursion(self, H: Array, own: Array) -> Array:
        """Run the compiled steps, with smaller gains where they diverge."""
        b = len(H)
        factor = self.gain.factor(self.state.t + 1.0 + np.arange(b), self.length)

        def block(scale: float) -> Array | None:
            Z, Y = np.eye(len(self.P), H.shape[1]), np.empty((b, len(self.base)))
            done = self._steps(H, own, factor * scale, Z, Y)
            return Z if done == b and np.isfinite(Z).all() else None

        Z = self.state.guard.tried(block)
        self.state.t += b
        return Z

    def _steps(self, H: Array, own: Array, factor: Array, Z: Array, Y: Array) -> int:
        state, gain = self.state, self.gain
        if not isinstance(gain, MetaGain) or state.rho is None:
            return int(gha_block(H, self.base, factor, Z, Y))
        gram_aa, gram_ab = self._grams()
        rho = state.rho.copy()
        k_own = np.ascontiguousarray(np.diag(own))
        done = int(
            smd_block(H, k_own, self.base, factor, gain.rate, gain.decay, gain.lowest, rho, gram_aa, gram_ab, Z, Y)
        )
        if done == len(H):
            state.rho, self._aa, self._ab = rho, gram_aa, gram_ab
        return done

    def _grams(self) -> tuple[Array, Array]:
        """Return copies of A K' A^T and A K' B^T: carried from block to block, computed at the start of a pass."""
        if not hasattr(self, "_aa"):
            assert self.state.B is not None
            self._aa = self.state.AK @ self.state.A.T
            self._ab = self.state.AK @ self.state.B.T
        return self._aa.copy(), self._ab.copy()

    def finish_unvisited(self, start: int, stop: int, strip: Strip) -> None:
        """Update the products of samples that were not visited."""
        padded = np.zeros((len(self.P), start))  # samples before these that were not visited have no injection
        padded[:, : self.n_visits] = self.injected
        self.SK[:, start:stop] = self.P @ self.SK[:, start:stop] + strip.gather(padded, self.left)
        self.left = np.eye(len(self.P))

    def store(self, repeated: bool) -> None:
        """Write the result of the pass back into the state; `repeated`: some samples were visited several times."""
        state, r, visits = self.state, len(self.base), self.order[: self.n_visits]
        S = self.P @ (state.A if state.B is None else np.vstack([state.A, state.B]))
        if repeated:
            np.add.at(S.T, visits, self.injected.T)
        else:
            S[:, visits] += self.injected
        SK = np.empty_like(S)
        SK[:, self.order] = self.SK
        state.A, state.AK = S[:r], SK[:r]
        if state.B is not None:
            state.B, state.BK = S[r:], SK[r:]
