"""Two other algorithms for the same L1-norm objective, with which [kim2019] compares its own.

Both iterate c <- sgn(K~ c), so they are short here. They differ in the local maximum that they reach.
"""

from typing import Any

import numpy as np

from mercer.arrays import Array, Points
from mercer.engine.spectrum import rounding_noise, thresholds
from mercer.events import SILENT, Channel
from mercer.expansion.build import on_rows
from mercer.expansion.model import Expansion
from mercer.kernels.base import Kernel
from mercer.kernels.inner_product import Linear
from mercer.kernels.operator import Operator
from mercer.kernels.user_given import Precomputed
from mercer.solvers.exact.fit import make_operator
from mercer.solvers.l1.features import FeatureResidual
from mercer.solvers.l1.fit import SignFit, SignOptions, extract, fit_l1


def fit_projection_trick(
    kernel: Kernel,
    X: Points,
    n_components: int,
    *,
    dtype: Any,
    refine: bool = False,
    center: bool = True,
    n_jobs: int | None = None,
    channel: Channel = SILENT,
) -> tuple[Expansion, SignFit]:
    """KPCA-L1 [Kwak 2013]: PCA-L1 [Kwak 2008] of the features U Lambda^(1/2), from the row of largest norm.

    The eigendecomposition K' = U Lambda U^T is computed once: deflation projects the features and needs no new one. For
    the linear kernel the rows themselves are such features, rotated.
    """
    options = SignOptions("norm", refine)
    if isinstance(kernel, Linear):
        return fit_l1(
            kernel, X, n_components, dtype=dtype, options=options, center=center, n_jobs=n_jobs, channel=channel
        )
    points = np.arange(X.shape[0]) if isinstance(kernel, Precomputed) else X
    operator = make_operator(kernel, X, dtype, n_jobs, center)
    residual = FeatureResidual(_features(operator, dtype))
    found = extract(residual, n_components, options, channel)
    return on_rows(kernel, points, operator, found.coefficients, found.variation, np.eye(len(found.signs))), found


def _features(operator: Operator, dtype: Any) -> Array:
    """Return U Lambda^(1/2) for the eigenvalues of K' that are not zero, (n, rank)."""
    values, vectors = np.linalg.eigh(operator.dense())
    noise = rounding_noise(len(values), operator.largest_entry, dtype)
    kept = values > max(thresholds(dtype).zero * float(values[-1]), noise)
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))


def fit_linear_system(
    kernel: Kernel,
    X: Points,
    n_components: int,
    *,
    dtype: Any,
    refine: bool = False,
    center: bool = True,
    n_jobs: int | None = None,
    channel: Channel = SILENT,
) -> tuple[Expansion, SignFit]:
    """L1-KPCA [Xiao, Wang, Xu, Zhou 2013], from the leading eigenvector of each deflated matrix.

    Its step is c = sgn(K~ alpha), K~ eta = K~ c, alpha = eta / sqrt(eta^T K~ eta). The system is singular [kim2019,
    sec. 4], and c itself solves it; all solutions have the same K~ eta, and only that is used. So no system is
    solved here: the steps are those of the paper, and each reads only the columns whose signs changed.
    """
    options = SignOptions("eigen", refine)
    return fit_l1(kernel, X, n_components, dtype=dtype, options=options, center=center, n_jobs=n_jobs, channel=channel)
