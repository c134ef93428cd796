"""Robust kernel PCA by weights that follow from residuals: in batch and from a stream."""
