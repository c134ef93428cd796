"""Pre-images learned by kernel ridge regression from scores to rows, as scikit-learn's KernelPCA does."""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mercer.arrays import Array, Points, check_kernel_values, is_sparse
from mercer.errors import PreImageWarning, warn_user
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.distance import RBF
from mercer.kernels.resolve import median_gamma
from mercer.kernels.threads import available_threads
from mercer.kernels.tiles import PointBlocks
from mercer.preimage.anchors import Anchors


@dataclass(frozen=True, eq=False)
class RidgeMap:
    """A map from scores to rows: z = k(y, training scores) @ dual_coef."""

    train_scores: Array  # (a, r)
    dual_coef: Array  # (a, d)
    kernel: Kernel

    @classmethod
    def fit(cls, train_scores: Array, X: Points, kernel: Kernel, alpha: float = 1.0) -> "RidgeMap":
        """Learn the map from rows and their scores, with ridge penalty `alpha` [Bakir et al. 2004]."""
        if is_sparse(X):
            raise ValueError(
                "Pre-images by ridge regression need dense rows, and the training data are sparse. "
                "Call X.toarray(), or use kernel='rbf' or 'linear' with preimage='auto'."
            )
        return cls(train_scores, _solve(train_scores, X, kernel, alpha), kernel)

    def __call__(self, scores: Array) -> Array:
        """Return the rows for given scores, (q, d), one tile of kernel values at a time."""
        blocks = PointBlocks(self.kernel, self.train_scores, np.result_type(self.train_scores, scores))
        out = np.empty((len(scores), self.dual_coef.shape[1]), np.result_type(blocks.dtype, self.dual_coef))

        def work(rows: slice, block: Array) -> None:
            out[rows] = block @ self.dual_coef

        blocks.for_each_chunk(scores, work, available_threads())
        return out


def score_kernel(kernel: Kernel, train_scores: Array) -> Kernel:
    """Return what compares scores: the model's own kernel, or a Gaussian where that takes no negative numbers."""
    return gaussian_of(train_scores) if kernel.non_negative else kernel


def gaussian_of(train_scores: Array) -> RBF:
    """Return the Gaussian kernel of median width for scores; without components all scores are the same."""
    return RBF(median_gamma(train_scores)) if train_scores.shape[1] else RBF()


def _penalised(scores: Array, kernel: Kernel, alpha: float) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):  # the check tells it in words
        K = check_kernel_values(kernel(scores), "the scores")
    K.flat[:: len(K) + 1] += alpha
    return K


def _solve(scores: Array, X: Array, kernel: Kernel, alpha: float) -> Array:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
            K = _penalised(scores, kernel, alpha)
            return np.asarray(scipy.linalg.solve(K, X, assume_a="pos", overwrite_a=True))
    except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
        warn_user(
            f"The ridge regression for pre-images is singular with alpha={alpha:g}, so its shortest "
            "least-squares solution is used. Raise alpha to avoid this.",
            PreImageWarning,
        )
    return _least_squares(_penalised(scores, kernel, alpha), X)


def _least_squares(K: Array, X: Array) -> Array:
    """Return the shortest minimiser of |K D - X|; by eigenvectors, which also works for an indefinite kernel."""
    values, vectors = scipy.linalg.eigh(K, overwrite_a=True)
    keep = np.abs(values) > len(K) * np.finfo(values.dtype).eps * np.abs(values).max(initial=0.0)
    basis = vectors[:, keep]
    return np.asarray((basis / values[keep]) @ (basis.T @ X))


def ridge(
    expansion: Expansion, scores: Array, anchors: Anchors, *, alpha: float = 1.0, kernel: Kernel | None = None
) -> Array:
    """Return pre-images regressed on the anchors; `kernel` compares scores; the default is that of `score_kernel`.

    The penalty draws them towards the mean of the anchors. In scikit-learn, and with `RidgeMap` alone, it draws them
    towards zero, which may be far from all rows.
    """
    kernel, points = kernel or score_kernel(expansion.kernel, anchors.scores), anchors.points
    mean = 0.0 if is_sparse(points) else points.mean(axis=0, dtype=np.float64)
    return np.asarray(RidgeMap.fit(anchors.scores, points - mean, kernel, alpha)(scores) + mean)
