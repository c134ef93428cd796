"""Figures of fitted models and of what they do; they need matplotlib and open no window."""

from mercer.plots.convergence import convergence
from mercer.plots.hebbian import mode_decay
from mercer.plots.images import denoising, image_grid
from mercer.plots.model import scores, spectrum

__all__ = ["convergence", "denoising", "image_grid", "mode_decay", "scores", "spectrum"]
