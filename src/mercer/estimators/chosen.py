"""From the settings of a candidate to an estimator."""

from typing import Any

from mercer.criteria.candidates import DEGREE, Candidate
from mercer.estimators.kernel_pca import KernelPCA
from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA

MANY_ROWS = 10_000  # with more, exact models take long and gigabytes, and their pre-images minutes
LANDMARKS = 512  # for up to 64 components; docs/evidence_settings.md compares them with exact models


def model_of(candidate: Candidate, many: bool = False, seed: int = 0, **options: Any) -> KernelPCA | LandmarkKernelPCA:
    """Return an unfitted model with the settings of a candidate: exact, or on landmarks where there are many rows.

    The linear kernel is exact also for many rows, because it needs no kernel matrix.
    """
    kernel = candidate.family.kernel
    if kernel != "linear":
        options["gamma"] = candidate.gamma
    if kernel == "poly":
        options["degree"] = DEGREE
    if many and kernel != "linear":
        options.update(landmarks=LANDMARKS, random_state=seed)
        return LandmarkKernelPCA(candidate.n_components, kernel=kernel, **options)
    return KernelPCA(candidate.n_components, kernel=kernel, **options)
