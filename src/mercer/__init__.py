"""Mercer: kernel PCA to rely on. Public names are resolved on first use; importing this costs nothing."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mercer.version import __version__

_PUBLIC = {
    "HebbianKernelPCA": "mercer.estimators.hebbian_kernel_pca",
    "HebbianPCA": "mercer.estimators.hebbian_pca",
    "IncrementalKernelPCA": "mercer.estimators.incremental_kernel_pca",
    "KernelOutlierDetector": "mercer.tasks.outlier",
    "KernelPCA": "mercer.estimators.kernel_pca",
    "L1KernelPCA": "mercer.estimators.l1_kernel_pca",
    "LandmarkKernelPCA": "mercer.estimators.landmark_kernel_pca",
    "OnlineRobustKernelPCA": "mercer.estimators.online_robust_kernel_pca",
    "R1KernelPCA": "mercer.estimators.r1_kernel_pca",
    "RobustKernelPCA": "mercer.estimators.robust_kernel_pca",
    "AppearanceTracker": "mercer.tasks.tracker",
    "KernelMutualSubspace": "mercer.tasks.mutual_subspace",
    "KernelSpectralClustering": "mercer.tasks.spectral",
    "PatchDenoiser": "mercer.tasks.patches",
    "denoise": "mercer.tasks.rows",
    "Expansion": "mercer.expansion",
    "load": "mercer.io.persist",
}
_MODULES = ("metrics", "kernels", "datasets", "plots", "errors", "events")

__all__ = [
    "AppearanceTracker",
    "Expansion",
    "HebbianKernelPCA",
    "HebbianPCA",
    "IncrementalKernelPCA",
    "KernelMutualSubspace",
    "KernelOutlierDetector",
    "KernelPCA",
    "KernelSpectralClustering",
    "L1KernelPCA",
    "LandmarkKernelPCA",
    "OnlineRobustKernelPCA",
    "PatchDenoiser",
    "R1KernelPCA",
    "RobustKernelPCA",
    "__version__",
    "denoise",
    "load",
]

if TYPE_CHECKING:
    from mercer.estimators.hebbian_kernel_pca import HebbianKernelPCA
    from mercer.estimators.hebbian_pca import HebbianPCA
    from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA
    from mercer.estimators.kernel_pca import KernelPCA
    from mercer.estimators.l1_kernel_pca import L1KernelPCA
    from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
    from mercer.estimators.online_robust_kernel_pca import OnlineRobustKernelPCA
    from mercer.estimators.r1_kernel_pca import R1KernelPCA
    from mercer.estimators.robust_kernel_pca import RobustKernelPCA
    from mercer.expansion import Expansion
    from mercer.io.persist import load
    from mercer.tasks.mutual_subspace import KernelMutualSubspace
    from mercer.tasks.outlier import KernelOutlierDetector
    from mercer.tasks.patches import PatchDenoiser
    from mercer.tasks.rows import denoise
    from mercer.tasks.spectral import KernelSpectralClustering
    from mercer.tasks.tracker import AppearanceTracker


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}; it offers {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
