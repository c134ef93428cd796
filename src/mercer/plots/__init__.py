"""Figures of fitted models and of their results. They need matplotlib, and open no window."""

from mercer.plots.convergence import convergence
from mercer.plots.hebbian import mode_decay
from mercer.plots.images import denoising, image_grid
from mercer.plots.incremental import distance_curves, score_contours, stream_history
from mercer.plots.model import scores, spectrum
from mercer.plots.monitoring import monitor
from mercer.plots.motion import stick_figures
from mercer.plots.outlier import control_chart, precision_recall, principal_spaces
from mercer.plots.robust import sample_weights
from mercer.plots.robust_online import cosine_paths
from mercer.plots.selection import selection
from mercer.plots.tracking import roc_curves, track_strip

__all__ = [
    "control_chart",
    "convergence",
    "cosine_paths",
    "denoising",
    "distance_curves",
    "image_grid",
    "mode_decay",
    "monitor",
    "precision_recall",
    "principal_spaces",
    "roc_curves",
    "sample_weights",
    "score_contours",
    "scores",
    "selection",
    "spectrum",
    "stick_figures",
    "stream_history",
    "track_strip",
]


def __dir__() -> list[str]:
    return sorted(__all__)
