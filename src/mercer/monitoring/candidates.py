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

WIDTHS = (0.01, 0.1, 1.0)  # times the gamma of the median distance
EXACT_ROWS = 1000  # with more rows a Gaussian kernel is taken on landmarks
_LANDMARKS = 400
ROWS_PER_COMPONENT = 5
_COUNTS = (10, 20, 40, 80)  # components of a Gaussian kernel
LEAST_COUNT = _COUNTS[0]
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

    def counts(self, X: Array, most: int) -> list[int]:
        """Return the numbers of components that are tried on rows: as many as allowed of a linear model."""
        most = min(most, max(len(X) // ROWS_PER_COMPONENT, 1))
        if self.gamma is None:
            return [min(X.shape[1], most)]
        return [count for count in _COUNTS if count <= most] or [most]

    def __str__(self) -> str:
        """Return the kernel in words."""
        if self.gamma is None:
            return "linear kernel"
        width = "" if self.relative is None else f", {self.relative:g} times the median's"
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
