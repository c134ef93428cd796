"""Clusters of any shape, by eigenvectors of a scaled kernel matrix."""
