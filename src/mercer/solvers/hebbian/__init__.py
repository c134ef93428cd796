"""Hebbian learning: in passes over kernel rows, over explicit features, and on landmarks."""
