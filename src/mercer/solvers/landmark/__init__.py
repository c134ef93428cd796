"""Kernel PCA in the span of landmarks, from moments of kernel values."""
