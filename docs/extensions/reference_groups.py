"""The groups of the reference: what a user wants to do, and the names for it. Every public name is in one group."""

from dataclasses import dataclass
from importlib.util import find_spec

from mercer import errors


@dataclass(frozen=True)
class Group:
    """One page of the reference."""

    key: str  # the name of the page
    title: str
    text: str  # in reStructuredText
    names: tuple[str, ...]  # full names, as users import them


def _existing(module: str, *names: str) -> tuple[str, ...]:
    """Return the full names of a module that not every version of the package has."""
    return tuple(f"{module}.{name}" for name in names) if find_spec(module) else ()


_ALL = (
    Group(
        "components",
        "Find the components of rows in memory",
        "Start here. The rows are an array of shape (n_samples, n_features), dense or sparse, or a data frame.",
        ("mercer.KernelPCA", "mercer.Expansion"),
    ),
    Group(
        "settings",
        "Choose kernel, width and number of components",
        "Settings are compared without labels: by cells that are hidden, or by outliers that are pretended.",
        ("mercer.select", "mercer.Selection"),
    ),
    Group(
        "streams",
        "Learn from streams and from tables larger than memory",
        "These classes have `partial_fit`, which takes rows in chunks of any size. Memory does not grow with them.",
        ("mercer.LandmarkKernelPCA", "mercer.IncrementalKernelPCA", "mercer.HebbianKernelPCA", "mercer.HebbianPCA"),
    ),
    Group(
        "cluster",
        "Learn on a Dask cluster",
        "The same classes for rows that are spread over many machines. They need the extra `dask`.",
        _existing(
            "mercer.dask", "KernelPCA", "LandmarkKernelPCA", "IncrementalKernelPCA", "OnlineRobustKernelPCA",
            "KernelOutlierDetector",
        ),
    ),
    Group(
        "robust",
        "Find components although some rows are outliers",
        "Outliers among the training rows move these components less than those of `KernelPCA`, or not at all.",
        ("mercer.RobustKernelPCA", "mercer.OnlineRobustKernelPCA", "mercer.L1KernelPCA", "mercer.R1KernelPCA"),
    ),
    Group(
        "alarms",
        "Find outliers and faults",
        "Alarms with a rate of false ones that you choose: for rows without an order, and for the rows of a process.",
        ("mercer.KernelOutlierDetector", "mercer.ProcessMonitor", "mercer.monitoring.verdicts.Verdicts"),
    ),
    Group(
        "denoising",
        "Remove noise",
        "From the rows of a table, and from images.",
        ("mercer.denoise", "mercer.PatchDenoiser"),
    ),
    Group(
        "clusters",
        "Find clusters",
        "Of any shape, with labels for new rows.",
        ("mercer.KernelSpectralClustering",),
    ),
    Group(
        "images",
        "Recognise and follow objects in images",
        "Sets of images of one object, and objects in a video.",
        ("mercer.KernelMutualSubspace", "mercer.AppearanceTracker"),
    ),
    Group(
        "files",
        "Save and load models",
        "Every fitted model has a method `save`. Loading a file never runs code from it.",
        ("mercer.load", "mercer.tables.prepared.PreparedModel"),
    ),
    Group(
        "kernels",
        "Kernels",
        "Every estimator takes the name of a kernel, a function, or one of these objects.",
        (
            "mercer.kernels.Linear", "mercer.kernels.RBF", "mercer.kernels.Polynomial", "mercer.kernels.Cosine",
            "mercer.kernels.Laplacian", "mercer.kernels.Chi2", "mercer.kernels.Sigmoid", "mercer.kernels.Wavelet",
            "mercer.kernels.Precomputed", "mercer.kernels.Kernel",
        ),
    ),
    Group(
        "metrics",
        "Measure quality",
        "How good a model is, how far two models are apart, and how clean a cleaned image is.",
        (
            "mercer.metrics.total_explained_variation", "mercer.metrics.kernel_reconstruction_error",
            "mercer.metrics.minimal_reconstruction_error", "mercer.metrics.excess_reconstruction_error",
            "mercer.metrics.subspace_distance", "mercer.metrics.variation_of_information", "mercer.metrics.snr",
        ),
    ),
    Group(
        "plots",
        "Draw",
        "Each function returns a figure of matplotlib, which `figure.savefig(path)` writes to a file. No window "
        "opens. They need the extra `cli`.",
        (
            "mercer.plots.scores", "mercer.plots.spectrum", "mercer.plots.score_contours", "mercer.plots.selection",
            "mercer.plots.denoising", "mercer.plots.image_grid", "mercer.plots.stick_figures",
            "mercer.plots.control_chart", "mercer.plots.monitor", "mercer.plots.precision_recall",
            "mercer.plots.principal_spaces", "mercer.plots.sample_weights", "mercer.plots.cosine_paths",
            "mercer.plots.convergence", "mercer.plots.mode_decay", "mercer.plots.stream_history",
            "mercer.plots.distance_curves", "mercer.plots.roc_curves", "mercer.plots.track_strip",
        ),
    ),
    Group(
        "datasets",
        "Load example data",
        "Real data sets from files of yours, or similar data that scikit-learn contains.",
        ("mercer.datasets.load", "mercer.datasets.archive", "mercer.datasets.data_home", "mercer.datasets.NAMES"),
    ),
    Group(
        "events",
        "Follow long computations",
        "`verbose=True` shows a progress bar. With these classes a program can follow the steps itself.",
        ("mercer.events.Event", "mercer.events.Channel", "mercer.events.History", "mercer.events.Observer"),
    ),
    Group(
        "errors",
        "Errors and warnings",
        "Their messages say what was passed, what is needed, and what to do. Invalid arguments raise `ValueError` and "
        "`TypeError` as usual.",
        tuple(f"mercer.errors.{name}" for name in errors.__all__),
    ),
)  # fmt: skip
GROUPS = tuple(group for group in _ALL if group.names)
