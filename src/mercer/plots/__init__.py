"""Figures of fitted models and of what they do; they need matplotlib and open no window."""

from mercer.plots.images import denoising, image_grid
from mercer.plots.model import scores, spectrum

__all__ = ["denoising", "image_grid", "scores", "spectrum"]
