"""The one list of public names: each with the module that defines it. Nothing is imported here.

The package's public names, the classes that a model file may hold, and the methods of the command line follow from it.
"""

DECOMPOSITIONS: dict[str, str] = {
    "HebbianKernelPCA": "mercer.estimators.hebbian_kernel_pca",
    "HebbianPCA": "mercer.estimators.hebbian_pca",
    "IncrementalKernelPCA": "mercer.estimators.incremental_kernel_pca",
    "KernelPCA": "mercer.estimators.kernel_pca",
    "L1KernelPCA": "mercer.estimators.l1_kernel_pca",
    "LandmarkKernelPCA": "mercer.estimators.landmark_kernel_pca",
    "OnlineRobustKernelPCA": "mercer.estimators.online_robust_kernel_pca",
    "R1KernelPCA": "mercer.estimators.r1_kernel_pca",
    "RobustKernelPCA": "mercer.estimators.robust_kernel_pca",
}
"""Estimators whose fitted model is an `Expansion`: the methods that `mercer fit` offers."""

ESTIMATORS: dict[str, str] = {
    **DECOMPOSITIONS,
    "AppearanceTracker": "mercer.images.tracker",
    "KernelMutualSubspace": "mercer.images.mutual_subspace",
    "KernelOutlierDetector": "mercer.outliers.detector",
    "KernelSpectralClustering": "mercer.clustering.spectral",
    "PatchDenoiser": "mercer.images.patches",
    "ProcessMonitor": "mercer.monitoring.monitor",
}
"""The classes that a model file may hold."""

PREPARED: dict[str, str] = {"PreparedModel": "mercer.tables.prepared"}
"""What else a model file may hold: a fitted estimator with the preparation of its columns."""

PUBLIC: dict[str, str] = {
    **ESTIMATORS,
    "Expansion": "mercer.expansion.model",
    "Selection": "mercer.selection.result",
    "denoise": "mercer.estimators.denoising",
    "load": "mercer.io.persist",
    "select": "mercer.selection.select",
}
"""What `import mercer` offers, beside its modules and `__version__`."""

MODULES = ("metrics", "kernels", "datasets", "plots", "errors", "events", "dask")
"""The public modules."""

NEEDED: dict[str, tuple[str, ...]] = {"dask": ("dask", "distributed")}
"""Packages without which a public module cannot be imported."""
