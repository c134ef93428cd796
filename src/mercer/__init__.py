"""Mercer: kernel PCA to rely on. Public names are resolved on first use; importing this costs nothing."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mercer.registry import MODULES as _MODULES
from mercer.registry import NEEDED as _NEEDED
from mercer.registry import PUBLIC as _PUBLIC
from mercer.version import __version__

__all__ = [  # of the registry; this list and the imports below are written out for type checkers
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
    "ProcessMonitor",
    "R1KernelPCA",
    "RobustKernelPCA",
    "Selection",
    "__version__",
    "denoise",
    "load",
    "select",
]

if TYPE_CHECKING:
    from mercer.clustering.spectral import KernelSpectralClustering
    from mercer.estimators.denoising import denoise
    from mercer.estimators.hebbian_kernel_pca import HebbianKernelPCA
    from mercer.estimators.hebbian_pca import HebbianPCA
    from mercer.estimators.incremental_kernel_pca import IncrementalKernelPCA
    from mercer.estimators.kernel_pca import KernelPCA
    from mercer.estimators.l1_kernel_pca import L1KernelPCA
    from mercer.estimators.landmark_kernel_pca import LandmarkKernelPCA
    from mercer.estimators.online_robust_kernel_pca import OnlineRobustKernelPCA
    from mercer.estimators.r1_kernel_pca import R1KernelPCA
    from mercer.estimators.robust_kernel_pca import RobustKernelPCA
    from mercer.expansion.model import Expansion
    from mercer.images.mutual_subspace import KernelMutualSubspace
    from mercer.images.patches import PatchDenoiser
    from mercer.images.tracker import AppearanceTracker
    from mercer.io.persist import load
    from mercer.monitoring.monitor import ProcessMonitor
    from mercer.outliers.detector import KernelOutlierDetector
    from mercer.selection.result import Selection
    from mercer.selection.select import select


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return import_module(f"mercer.{name}")
    raise AttributeError(f"module 'mercer' has no attribute {name!r}; it offers {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return sorted([*__all__, *filter(_can_be_imported, _MODULES)])  # help() imports all that is listed


def _can_be_imported(module: str) -> bool:
    return all(find_spec(package) for package in _NEEDED.get(module, ()))
