"""From the settings of a candidate to an estimator."""

from typing import Any

from mercer.criteria.candidates import DEGREE, Candidate
from mercer.estimators.kernel_pca import KernelPCA


def kernel_pca(candidate: Candidate, **options: Any) -> KernelPCA:
    """Return unfitted kernel PCA with the settings of a candidate."""
    kernel = candidate.family.kernel
    if kernel != "linear":
        options["gamma"] = candidate.gamma
    if kernel == "poly":
        options["degree"] = DEGREE
    return KernelPCA(candidate.n_components, kernel=kernel, **options)
