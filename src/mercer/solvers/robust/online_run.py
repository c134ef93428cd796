"""A stream of rows on landmarks, and the online robust rule that learns from it."""

from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.events import SILENT, Channel
from mercer.expansion.build import in_coordinates
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.landmark_map import LandmarkMap
from mercer.kernels.threads import available_threads, one_blas_thread, row_slices
from mercer.kernels.tiles import PointBlocks
from mercer.solvers.robust.online import DivergedError, OnlineOptions, OnlineState, learn, present, start_from_rows

_LARGEST = 1e70  # fourth powers of larger numbers overflow


@dataclass(frozen=True, eq=False)
class EmpiricalMap:
    """The empirical kernel map x -> h = k(points, x) of [huang2011], with the metric of the vectors h."""

    kernel: Kernel
    points: Points

    @property
    def rank(self) -> int:
        """Return the number of coordinates."""
        return n_rows(self.points)

    def features(self, X: Points) -> Array:
        """Return h of every row, (n, m)."""
        out = np.empty((n_rows(X), self.rank))

        def work(rows: slice, block: Array) -> None:
            out[rows] = block

        PointBlocks(self.kernel, self.points, np.float64).for_each_chunk(X, work, available_threads())
        return out

    def missing(self, X: Points, F: Array) -> Array:
        """Return zeros: in this metric no part of a row is outside."""
        return np.zeros(n_rows(X))

    def coefficients(self, W: Array) -> Array:
        """Return the weights of the kernel values: the vectors themselves."""
        return W


Space = LandmarkMap | EmpiricalMap


@dataclass
class OnlineRun:
    """A state and its feature space."""

    space: Space
    state: OnlineState
    options: OnlineOptions

    def copy(self) -> "OnlineRun":
        """Return a copy that can learn without changing this run: learning replaces arrays."""
        return replace(self, state=replace(self.state))

    def learn(self, X: Points, channel: Channel = SILENT) -> tuple[Array, bool]:
        """Learn from rows of data, one tile at a time; return their weights and whether learning did not diverge.

        If learning diverges, the state before that tile is kept, and all further rows have the weight 0.
        """
        weights = np.zeros(n_rows(X))
        for rows in row_slices(n_rows(X), 8 * (self.space.rank + n_rows(self.space.points))):
            F = _in_range(self.space.features(X[rows]))
            try:
                learn(self.state, F, self.space.missing(X[rows], F), self.options, weights[rows])
            except DivergedError:
                return weights, False
            channel.emit("Online learning", rows.stop, n_rows(X))
        return weights, True

    def expansion(self) -> Expansion:
        """Return the model of the current state, on the landmarks as points."""
        found, n = present(self.state, self.options), self.state.n
        return in_coordinates(
            self.space,
            found.W,
            found.mean,
            found.variances * n,
            n_seen=n,
            trace=found.variation * n,
            empirical=isinstance(self.space, EmpiricalMap),
        )


def _in_range(F: Array) -> Array:
    largest = max(float(F.max(initial=0.0)), -float(F.min(initial=0.0)))
    if not largest < _LARGEST:
        raise ValueError(
            f"Kernel values reach {largest:.1e}, whose powers exceed the range of numbers. Divide X by a constant."
        )
    return F


def start_run(space: Space, X: Points, options: OnlineOptions) -> tuple[OnlineRun, Array]:
    """Return a run after the rows of the warm-up, and their weights."""
    F = _in_range(space.features(X))
    with one_blas_thread():  # the matrices are small: threads would mostly wait for each other
        state, weights = start_from_rows(F, space.missing(X, F), options)
    return OnlineRun(space, state, options), weights
