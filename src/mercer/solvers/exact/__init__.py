"""Eigenpairs of the centred kernel matrix."""
