"""Kernel PCA on a Dask cluster: the classes of `mercer` for rows that are too many for one machine."""

from mercer.errors import MissingExtraError

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise MissingExtraError("dask[array,distributed]", "dask", "mercer.dask") from error

from mercer.dask.incremental_kernel_pca import IncrementalKernelPCA
from mercer.dask.kernel_pca import KernelPCA
from mercer.dask.landmark_kernel_pca import LandmarkKernelPCA
from mercer.dask.online_robust_kernel_pca import OnlineRobustKernelPCA
from mercer.dask.outlier_detector import KernelOutlierDetector

__all__ = ["IncrementalKernelPCA", "KernelOutlierDetector", "KernelPCA", "LandmarkKernelPCA", "OnlineRobustKernelPCA"]


def __dir__() -> list[str]:
    return sorted(__all__)
