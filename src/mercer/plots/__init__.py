"""Figures of fitted models and of what they do; they need matplotlib and open no window."""

from mercer.plots.convergence import convergence
from mercer.plots.hebbian import mode_decay
from mercer.plots.images import denoising, image_grid
from mercer.plots.incremental import distance_curves, score_contours, stream_history
from mercer.plots.model import scores, spectrum
from mercer.plots.robust import sample_weights
from mercer.plots.robust_online import cosine_paths

__all__ = [
    "convergence",
    "cosine_paths",
    "denoising",
    "distance_curves",
    "image_grid",
    "mode_decay",
    "sample_weights",
    "score_contours",
    "scores",
    "spectrum",
    "stream_history",
]
