"""Models that a monitor chooses from: linear and Gaussian kernels of several widths, with any number of components."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import svd_flip

from mercer.arrays import Array
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
from mercer.estimators.learning_warnings import fewer_components_are_fine
from mercer.expansion.build import in_input_space
from mercer.expansion.model import Expansion
from mercer.outliers.scores import ScoreModel

WIDTHS = (0.01, 0.1, 1.0)  # times the gamma of the median distance
EXACT_ROWS = 1000  # with more rows a Gaussian kernel is taken on landmarks
_LANDMARKS = 400
_MOST = 80  # components of a Gaussian kernel
_ROWS_PER_COMPONENT = 5
_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 64)
_ABSENT = 1e-10  # share of the first component's variance; components with less are rounding errors


@dataclass(frozen=True)
class Candidate:
    """A kernel: linear where gamma is None, or Gaussian."""

    gamma: float | None
    relative: float | None = None  # gamma in units of the median's

    def fitted(self, X: Array, n_components: int, random_state: Any = None) -> Expansion:
        """Return a model of scaled rows with at most so many orthonormal components."""
        if self.gamma is None:
            return _linear(X, n_components)
        with fewer_components_are_fine():
            return _gaussian(X, n_components, self.gamma, random_state)

    def most(self, X: Array) -> int:
        """Return how many components rows may have; at least one direction of linear models is left for SPE."""
        by_rows = max(len(X) // _ROWS_PER_COMPONENT, 1)
        return min(max(X.shape[1] - 1, 1), by_rows) if self.gamma is None else min(_MOST, by_rows)

    def __str__(self) -> str:
        """Return the kernel in words."""
        if self.gamma is None:
            return "linear kernel"
        width = "" if self.relative is None else f", {self.relative:g} of the median's"
        return f"Gaussian kernel (gamma = {self.gamma:.3g}{width})"


def _linear(X: Array, n_components: int) -> Expansion:
    mean = X.mean(axis=0)
    U, lengths, axes = np.linalg.svd(X - mean, full_matrices=False)
    _, axes = svd_flip(U, axes, u_based_decision=False)
    present = max(int((lengths**2 > _ABSENT * lengths[0] ** 2).sum()), 1)
    kept = min(n_components, present)
    values = np.maximum(lengths**2, 0.0)
    return in_input_space(axes[:kept], mean, values[:kept], n_seen=len(X), trace=float(values.sum()), center=True)


def _gaussian(X: Array, n_components: int, gamma: float, random_state: Any) -> Expansion:
    if len(X) <= EXACT_ROWS:
        solver = "dense" if len(X) <= EXACT_ROWS // 2 else "auto"
        model: Any = KernelPCA(n_components, kernel="rbf", gamma=gamma, eigen_solver=solver)
    else:
        seed = 0 if random_state is None else random_state
        model = LandmarkKernelPCA(n_components, gamma=gamma, landmarks=_LANDMARKS, random_state=seed)
    expansion: Expansion = model.fit(X).expansion_
    values = expansion.eigenvalues
    present = max(int((values > _ABSENT * values[:1]).sum()), 1)
    return expansion.truncated(present)


def counts_to_try(most: int) -> list[int]:
    """Return numbers of components, up to the largest."""
    return [count for count in _COUNTS if count < most] + [most]


def judge_of(expansion: Expansion, n_components: int) -> ScoreModel:
    """Return the model of T2 and SPE with the first components."""
    kept = expansion.truncated(min(n_components, expansion.n_components))
    variances = np.asarray(kept.eigenvalues / max(kept.n_seen - 1, 1), np.float64)
    return ScoreModel(kept, np.zeros(kept.n_components), variances)


def path_of_scores(expansion: Expansion, X: Array, counts: list[int]) -> Array:
    """Return T2 and SPE of each row for several numbers of components, (n, counts, 2)."""
    model = judge_of(expansion, expansion.n_components)
    scores, norms = expansion.project_with_norm(X)
    squares = scores**2
    t2 = np.cumsum(squares * model.inverse_variances, axis=1)
    spe = np.maximum(norms[:, None] - np.cumsum(squares, axis=1), 0.0)
    last = np.minimum(np.array(counts), expansion.n_components) - 1
    return np.stack([t2[:, last], spe[:, last]], axis=-1)
