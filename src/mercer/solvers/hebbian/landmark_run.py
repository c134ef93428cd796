"""Hebbian kernel PCA on landmarks: the generalised Hebbian algorithm on phi_hat, for streams and for passes."""

from dataclasses import asdict, dataclass, replace

import numpy as np

from mercer.arrays import Array, Points, n_rows
from mercer.engine.gains import Gain
from mercer.engine.spectrum import orientation
from mercer.events import SILENT, Channel
from mercer.expansion.build import in_coordinates
from mercer.expansion.model import Expansion
from mercer.kernels.landmark_map import LandmarkMap, feature_rows
from mercer.kernels.threads import row_slices
from mercer.solvers.hebbian.linear_blocks import LinearState, StepOptions, learn, start_state
from mercer.solvers.hebbian.linear_passes import Outcome, presented, run_passes
from mercer.solvers.hebbian.linear_start import settle


@dataclass
class LandmarkRun:
    """State of learning on landmarks."""

    space: LandmarkMap
    state: LinearState  # its energy includes what lies outside the span of the landmarks

    def copy(self) -> "LandmarkRun":
        """Return a copy that can learn without changing this run."""
        return replace(self, state=self.state.copy())

    def stream(self, X: Points, gain: Gain, options: StepOptions) -> None:
        """Learn from each row once, in order."""
        for rows in row_slices(n_rows(X), 8 * self.space.rank):
            F = self.space.features(X[rows])
            learn(self.state, F, gain, options, outside=self.space.missing(X[rows], F))

    def passes(
        self,
        X: Points,
        gain: Gain,
        options: StepOptions,
        *,
        max_iter: int,
        tol: float,
        rng: np.random.RandomState | None,
        channel: Channel = SILENT,
    ) -> Outcome:
        """Learn in passes over a fixed set."""
        rows = feature_rows(self.space, X)
        missing = sum(
            float(self.space.missing(X[part], np.asarray(rows[part])).sum())
            for part in row_slices(n_rows(X), 8 * self.space.rank)
        )
        return run_passes(
            self.state, rows, gain, options, max_iter=max_iter, tol=tol, rng=rng, channel=channel, outside=missing
        )

    def saved(self) -> dict[str, object]:
        """Return everything as plain data except the landmarks, which are the model's points."""
        return {"root": self.space.root, "state": asdict(self.state)}

    def expansion(self, *, center: bool, orthonormal: bool) -> Expansion:
        """Return the model of the current state, on the landmarks as points."""
        state, space = self.state, self.space
        model = presented(state, center, orthonormal)
        W = model.components
        if orthonormal:  # signs as in `KernelPCA`, from scores of the landmarks, since the rows are not kept
            scores = (space.own - (state.mean if center else 0.0)) @ W.T
            W = W * orientation(scores)[:, None]
        mean = state.mean if center else np.zeros_like(state.mean)
        return in_coordinates(space, W, mean, model.eigenvalues, n_seen=state.n, trace=model.trace, center=center)


def given_start(space: LandmarkMap, coefficients: Array, gain: Gain) -> LandmarkRun:
    """Return the state before the first row for coefficients on the landmarks, (r, m)."""
    return LandmarkRun(space, start_state(coefficients @ space.own, gain))


def random_start(space: LandmarkMap, r: int, gain: Gain, rng: np.random.RandomState) -> LandmarkRun:
    """Return the state before the first row for r random vectors of length about 1/(2 sqrt r)."""
    W = rng.standard_normal((r, space.rank)) * (0.5 / np.sqrt(r * max(space.rank, 1)))
    return LandmarkRun(space, start_state(W, gain))


def warm_start(
    space: LandmarkMap, r: int, X: Points, gain: Gain, center: bool, counts: Array | None = None
) -> LandmarkRun:
    """Return the state after the rows of X, learned together: the components of their covariance.

    counts, (n,), tells how often each row has come; None: once.
    """
    F = space.features(X)
    counts = np.ones(len(F)) if counts is None else counts
    mean = np.average(F, axis=0, weights=counts) if center else np.zeros(space.rank)
    centred = F - mean
    _, s, V = np.linalg.svd(centred * np.sqrt(counts)[:, None], full_matrices=False)
    W, squares, found = np.zeros((r, space.rank)), np.zeros(r), min(r, len(s))
    W[:found], squares[:found] = V[:found], s[:found] ** 2
    state = start_state(W, gain)
    norms = np.einsum("ij,ij->i", centred, centred)
    missing = float(counts @ space.missing(X, F))
    settle(state, mean, norms, squares, center, counts=counts, outside=missing)
    return LandmarkRun(space, state)


def covariance_size(space: LandmarkMap, X: Points, center: bool) -> float:
    """Return the Frobenius norm of the covariance of phi_hat over rows of X."""
    F = space.features(X)
    if center:
        F -= F.mean(axis=0)
    gram = F.T @ F if F.shape[1] <= len(F) else F @ F.T
    return float(np.linalg.norm(gram)) / max(len(F), 1)
